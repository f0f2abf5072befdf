"""The `@tool` decorator: the signature and docstring of an annotated function become a tool's schema.

Cassettes match schemas and descriptions byte for byte. Pydantic generates different schemas and takes 75 ms to
import; a docstring parser from a library may change its results with a release.
"""

import base64
import collections.abc
import enum
import functools
import importlib
import inspect
import json
import re
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Any, Literal, overload

from agent_nb._base.secrets import is_secret_name
from agent_nb._base.threads import in_thread
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.core.messages import Image, ToolSpec
from agent_nb.files.contents import is_a
from agent_nb.images.convert import to_image
from agent_nb.tools.base import Approval, Tool, ToolContext, ToolOutput
from agent_nb.tools.schema import compile_schema, object_schema, types_only

MAX_REPR = 10_000
MAX_HTML = 500_000
MAX_ROWS = 60
_IMAGE_CLASSES = (
    ("PIL.Image", "Image"),
    ("matplotlib.figure", "FigureBase"),
    ("matplotlib.axes", "Axes"),
    ("IPython.core.display", "Image"),
)
_LISTS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)
_DICTS = (dict, collections.abc.Mapping)
_SECTIONS = (
    "Args|Arguments|Parameters|Params|Other Parameters|Returns?|Yields?|Raises|Examples?|Notes?|See Also"
    "|References|Warnings?|Warns|Attributes"
)
_HEADING = re.compile(
    rf"^(?P<name>{_SECTIONS})[ \t]*(?::[ \t]*$|\n(?P<underline>-{{3,}})[ \t]*$)", re.MULTILINE
)
_PARAMETER_SECTIONS = ("Args", "Arguments", "Parameters", "Params", "Other Parameters")
_SPHINX_FIELD = re.compile(r"^:\w[^:\n]*+:(?!`)", re.MULTILINE)  # a role such as :class:`Tool` is not a field
_SPHINX_PARAMETER = re.compile(r"^:param\s++(?:[^:\n]*\s)?(\w+):(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)


def to_output(value: Any) -> ToolOutput:
    if isinstance(value, ToolOutput):
        return value
    if value is None:
        return ToolOutput(text="done")
    if isinstance(value, list | tuple) and any(_is_image(item) for item in value):
        parts = [to_output(item) for item in value]
        return ToolOutput(
            text="\n".join(part.text for part in parts),
            images=tuple(image for part in parts for image in part.images),
            outputs=tuple(bundle for part in parts for bundle in part.outputs),
        )
    if _is_image(value):
        image = to_image(value)
        text, outputs = f"[{image.name or 'image'}]", ({image.media_type: image.base64},)
        return ToolOutput(text=text, images=(image,), outputs=outputs)
    if (markup := _html(value)) is not None:
        text = _repr(value)
        if is_a(value, "pandas", "DataFrame"):
            rows, columns = value.shape
            text = f"{rows} rows x {columns} columns\n{value.to_string(max_rows=MAX_ROWS, max_cols=MAX_ROWS)}"
        return ToolOutput(
            text=text, summary=type(value).__name__, outputs=({"text/html": markup, "text/plain": text},)
        )
    return ToolOutput(text=value if isinstance(value, str) else _json(value))


def checked(tool: str, output: Any) -> ToolOutput:
    """Validate the output for the model, the page and saved runs, and convert its MIME bundles to JSON values."""
    if not isinstance(output, ToolOutput):
        raise ToolError(f"`{tool}` returned a {type(output).__name__} instead of a ToolOutput.")
    for field in ("text", "summary"):
        if not isinstance(content := getattr(output, field), str):
            raise ToolError(f"`{tool}` returned a {type(content).__name__} as `{field}` instead of a str.")
    for image in output.images:
        if not isinstance(image, Image) or not isinstance(image.data, bytes):
            raise ToolError(f"`{tool}` returned a {type(image).__name__} in `images` instead of an Image.")
    bundles = [_as_json(bundle) for bundle in output.outputs]
    if not all(isinstance(bundle, dict) for bundle in bundles):
        raise ToolError(f"`{tool}` returned `outputs` that are not all dicts from media types to data.")
    return replace(output, images=tuple(output.images), outputs=tuple(bundles))


def _as_json(value: Any) -> Any:
    """Convert to a JSON value: bytes become base64, NaN its name, and objects such as dates their `repr`."""
    if isinstance(value, dict) and all(isinstance(text, str) for item in value.items() for text in item):
        return value  # most bundles: images and pages, which may be large
    return json.loads(json.dumps(value, default=_in_json), parse_constant=str)


def _in_json(value: Any) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else _repr(value)


def _is_image(value: Any) -> bool:
    return isinstance(value, Image) or any(is_a(value, module, name) for module, name in _IMAGE_CLASSES)


def _html(value: Any) -> str | None:
    if isinstance(value, type) or not hasattr(value, "_repr_html_"):
        return None
    try:
        markup = value._repr_html_()
    except Exception:  # the value's own code; its plain text is used instead
        return None
    return markup if isinstance(markup, str) and len(markup) <= MAX_HTML else None


def _json(value: Any) -> str:
    if not isinstance(value, dict | list | tuple | set | frozenset | int | float) and not _is_record(value):
        return _repr(value)
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return _repr(value)


def _plain(value: Any) -> Any:
    """Convert a value inside a list or a dict that JSON cannot represent."""
    if isinstance(value, set | frozenset):
        return list(value)
    if _is_record(value):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    if callable(to_list := getattr(value, "tolist", None)) and not isinstance(value, type):
        return to_list()  # numpy and pandas
    return _repr(value)


def _is_record(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def _repr(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # the value's own code
        return f"<{type(value).__name__} whose repr fails>"
    return text if len(text) <= MAX_REPR else f"{text[:MAX_REPR]}… [{len(text):,} characters]"


@dataclass(frozen=True, slots=True)
class Reader:
    schema: Json
    read: Callable[[Any], Any]
    """Converts a valid JSON value."""


def reader(annotation: Any) -> Reader:
    """Return the reader for an annotation. Raises a TypeError whose message continues "The parameter ..."."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    result = None
    if origin is typing.Annotated:
        result = _annotated(*arguments)
    elif origin is not None:
        result = _generic(origin, arguments)
    elif isinstance(annotation, collections.abc.Hashable) and annotation in _SIMPLE:
        result = _SIMPLE[annotation]
    elif isinstance(annotation, type):
        result = _class(annotation)
    if result is None:
        name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        raise TypeError(
            f"is annotated {name}, which has no JSON schema: use str, int, float, bool, list, dict, Literal,"
            " an Enum, a dataclass, a TypedDict or a pydantic model of those."
        )
    return result


def _same(value: Any) -> Any:
    return value


_SIMPLE: dict[Any, Reader] = {
    Any: Reader({}, _same),
    object: Reader({}, _same),
    str: Reader({"type": "string"}, _same),
    bool: Reader({"type": "boolean"}, _same),
    int: Reader({"type": "integer"}, int),  # 3.0 is an integer in JSON Schema
    float: Reader({"type": "number"}, float),
    type(None): Reader({"type": "null"}, _same),
    list: Reader({"type": "array"}, _same),
    dict: Reader({"type": "object"}, _same),
}


def _annotated(annotation: Any, *notes: Any) -> Reader:
    inner = reader(annotation)
    description = " ".join(note for note in notes if isinstance(note, str))
    return Reader({**inner.schema, "description": description}, inner.read) if description else inner


def _generic(origin: Any, arguments: tuple[Any, ...]) -> Reader | None:
    if origin in (typing.Required, typing.NotRequired):
        return reader(arguments[0])
    if origin is Literal:
        return Reader(_enum(arguments), _same)
    if origin in (typing.Union, types.UnionType):
        return _union([reader(option) for option in arguments])
    if origin in _LISTS and (origin is not tuple or arguments[1:] == (Ellipsis,)):
        build = origin if origin in (tuple, set, frozenset) else list
        item = reader(arguments[0])
        schema = {"type": "array", "items": item.schema}
        return Reader(schema, lambda value: build(item.read(entry) for entry in value))
    if origin in _DICTS and len(arguments) == 2 and arguments[0] is str:
        item = reader(arguments[1])
        schema = {"type": "object", "additionalProperties": item.schema}
        return Reader(schema, lambda value: {key: item.read(entry) for key, entry in value.items()})
    return None


def _class(kind: type) -> Reader | None:
    if issubclass(kind, enum.Enum):
        return Reader(_enum([member.value for member in kind]), kind)
    if is_dataclass(kind):
        init_fields = [item for item in fields(kind) if item.init]
        required = [
            item.name for item in init_fields if item.default is MISSING and item.default_factory is MISSING
        ]
        hints = typing.get_type_hints(kind, include_extras=True)
        return object_reader(kind, {item.name: hints[item.name] for item in init_fields}, required)
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        required = [name for name in hints if name in getattr(kind, "__required_keys__", ())]
        return object_reader(kind, hints, required)
    if hasattr(kind, "model_json_schema"):
        return _pydantic(kind)
    return None


def _pydantic(kind: Any) -> Reader:
    """Return the reader of a pydantic model, without importing pydantic."""
    try:
        schema = kind.model_json_schema()
    except Exception as error:  # one class for each version of pydantic
        why = str(error).partition("\n")[0]
        raise TypeError(f"is annotated {kind.__name__}, which has no JSON schema: {why}") from None
    return Reader(_without_refs(schema, schema.get("$defs", {})), kind.model_validate)


def _without_refs(schema: Any, definitions: Json, inside: tuple[str, ...] = ()) -> Any:
    """Replace references by their definitions: they hold only at the root, and this schema may be part of another."""
    if isinstance(schema, list):
        return [_without_refs(item, definitions, inside) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if not isinstance(path := schema.get("$ref"), str):
        items = ((key, item) for key, item in schema.items() if key != "$defs")
        return {key: _without_refs(item, definitions, inside) for key, item in items}
    name = path.removeprefix("#/$defs/")
    if name in inside:
        raise TypeError(f"is annotated {name}, which contains itself: it has no finite schema.")
    return _without_refs(definitions[name], definitions, (*inside, name))


def object_reader(kind: Callable[..., Any], hints: Mapping[str, Any], required: list[str]) -> Reader:
    """Return the reader of an object that `kind` builds from its fields."""
    readers = {name: reader(hint) for name, hint in hints.items()}
    schema = object_schema({name: entry.schema for name, entry in readers.items()}, required)
    return Reader(
        schema, lambda value: kind(**{name: readers[name].read(item) for name, item in value.items()})
    )


def _union(options: list[Reader]) -> Reader:
    @functools.cache
    def checks() -> list[Callable[[Any], None]]:
        return [compile_schema(option.schema) for option in options]

    def read(value: Any) -> Any:
        for option, check in zip(options, checks(), strict=True):
            try:
                check(value)
            except ToolError:
                continue
            return option.read(value)
        return value

    return Reader({"anyOf": [option.schema for option in options]}, read)


def _enum(values: typing.Iterable[Any]) -> Json:
    values = list(values)
    kinds = {type(value) for value in values}
    if not values:
        raise TypeError("has no choices: give at least one.")
    if not kinds <= {str, int, bool, float, type(None)}:
        raise TypeError("has choices that are not JSON values: use strings or numbers.")
    names = {str: "string", int: "integer", bool: "boolean", float: "number"}
    kind = names.get(next(iter(kinds))) if len(kinds) == 1 else None
    return {"type": kind, "enum": values} if kind else {"enum": values}


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    approval: Approval = "never",
    identical_only: bool = False,
    cache: bool = False,
    timeout: float | None = 60.0,
    title: str | Callable[[Json], str] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function: Callable[..., Any] | None = None, /, **settings: Any) -> Any:
    """Make a tool from an annotated function, which stays callable.

    A parameter annotated with `ToolContext` receives the context of the call and is hidden from the model.
    """
    if function is None:
        return lambda function: _make(function, **settings)
    return _make(function, **settings)


def _make(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    title: str | Callable[[Json], str] | None = None,
    **settings: Any,
) -> Tool:
    if not callable(function):
        raise ConfigError(f"{function!r} is not a tool: pass a Tool or an annotated function.")
    source = _as_written(function)
    name = str(name or source.__name__)
    description, parameters = parse_docstring(inspect.getdoc(source) or "")
    schema, arguments = _read_signature(function, name, parameters)
    spoken_name = name.replace("_", " ").strip()
    is_async = inspect.iscoroutinefunction(function)

    async def run(args: Json, context: ToolContext) -> ToolOutput:
        call = functools.partial(function, **arguments(args, context))
        value = call() if is_async else await in_thread(call)
        value = await value if inspect.isawaitable(value) else value
        # Off the event loop, because rendering a figure is slow.
        return ToolOutput(text=value) if isinstance(value, str) else await in_thread(lambda: to_output(value))

    return Tool(
        spec=ToolSpec(name=name, description=description or spoken_name, schema=schema),
        run=run,
        title=title if callable(title) else functools.partial(_fixed_title, title or spoken_name),
        function=function,
        **settings,
    )


def _fixed_title(title: str, args: Json) -> str:
    return title


def spec_of_types(tool: Tool) -> ToolSpec:
    """Return the spec without values: argument names and types, and the docstring if it is a literal in the source."""
    function = inspect.unwrap(_as_written(tool.function)) if tool.function else None
    text = getattr(function, "__doc__", None) or ""
    # A docstring assigned at run time may contain values.
    is_written = text in getattr(getattr(function, "__code__", None), "co_consts", ())
    description, parameters = parse_docstring(inspect.cleandoc(text) if is_written else "")
    schema = types_only(tool.spec.schema)
    for name, meaning in parameters.items():
        if name in schema.get("properties", {}):
            schema["properties"][name]["description"] = meaning
    description = description or tool.name.replace("_", " ").strip()
    return ToolSpec(name=tool.name, description=description, schema=schema)


def _as_written(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the annotated function: unwraps partials, and returns `__call__` for an object."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def read_signature(function: Callable[..., Any], name: str) -> tuple[Json, Callable[[Json], Json]]:
    """Return the schema and argument converter of a plain function. A parameter without annotation accepts anything."""
    schema, arguments = _read_signature(function, name, {}, unannotated=Any)
    return schema, functools.partial(arguments, context=None)


def _read_signature(
    function: Callable[..., Any], name: str, descriptions: dict[str, str], *, unannotated: Any = None
) -> tuple[Json, Callable[..., Json]]:
    """Return the schema of a function's arguments and the function that converts JSON arguments to its own."""
    try:
        hints = typing.get_type_hints(_as_written(function), include_extras=True)
        parameters = inspect.signature(function).parameters.values()
    except Exception as error:  # no signature, as of some built-in functions, or annotations that fail
        raise ConfigError(f"The signature of {name!r} cannot be read: {error}.") from None
    if unannotated is not None:
        hints = {parameter.name: unannotated for parameter in parameters} | hints
    properties: Json = {}
    readers: dict[str, Reader] = {}
    required: list[str] = []
    context_name = None
    for parameter in parameters:
        if (hint := hints.get(parameter.name)) is ToolContext or ToolContext in typing.get_args(hint):
            context_name = parameter.name
            continue
        argument = readers[parameter.name] = _read_parameter(parameter, hints, name)
        properties[parameter.name] = dict(argument.schema)
        if text := descriptions.get(parameter.name):
            properties[parameter.name].setdefault("description", text)
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
        elif isinstance(parameter.default, str | int | float) and not is_secret_name(parameter.name):
            properties[parameter.name]["default"] = parameter.default

    def arguments(args: Json, context: ToolContext | None) -> Json:
        values = {name: readers[name].read(value) for name, value in args.items()}
        return {**values, context_name: context} if context_name else values

    return object_schema(properties, required), arguments


def _read_parameter(parameter: inspect.Parameter, hints: dict[str, Any], name: str) -> Reader:
    place = f"The parameter {parameter.name!r} of {name!r}"
    if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        raise ConfigError(f"{place} cannot be passed by name: write it without '*', '**' or '/'.")
    if parameter.name not in hints:
        raise ConfigError(f"{place} has no annotation: write, for example, `{parameter.name}: str`.")
    try:
        return reader(hints[parameter.name])
    except TypeError as error:
        raise ConfigError(f"{place} {error}") from None


def reduce_tool(tool: Tool) -> Any:
    """Return the `__reduce__` value of a tool: a reference if it is a module global, else its function."""
    module = getattr(tool.function or tool.run, "__module__", None) or ""
    if (name := _global_name(module, tool)) is not None:
        return _global, (module, name)
    if tool.function is not None and getattr(tool.run, "__module__", "") == __name__:
        settings = {item.name: getattr(tool, item.name) for item in fields(tool)}
        del settings["run"], settings["function"]
        return _from_function, (tool.function, settings)
    return object.__reduce_ex__(tool, 2)


def _global_name(module: str, tool: Tool) -> str | None:
    """Return the tool's name in its module, or None in `__main__`, which differs between processes."""
    if module == "__main__" or module not in sys.modules:
        return None
    return next((name for name, value in vars(sys.modules[module]).items() if value is tool), None)


def _global(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def _from_function(function: Callable[..., Any], settings: dict[str, Any]) -> Tool:
    return replace(_make(function, name=settings["spec"].name), **settings)


def parse_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description and the parameters in a docstring that was dedented by `inspect.getdoc`."""
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    parameters = {
        name: " ".join(description.split()) for name, description in _SPHINX_PARAMETER.findall(text)
    }
    for heading, end in zip(headings, ends, strict=False):
        if heading["name"] in _PARAMETER_SECTIONS:
            parameters |= _entries(text[heading.end() : end], typed=bool(heading["underline"]))
    starts = [match.start() for match in (*headings[:1], _SPHINX_FIELD.search(text)) if match]
    return text[: min(starts, default=None)].strip(), parameters


def _entries(section: str, *, typed: bool) -> dict[str, str]:
    """Return the parameters of a section with their descriptions.

    An entry starts unindented: `name (type): description`, or if `typed`, `name, name : type` followed by an
    indented description.
    """
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in textwrap.dedent(section).split("\n"):
        description = line
        if line[:1].strip():
            head, _, description = line.partition(":")
            names = head.partition("(")[0].replace(",", " ").replace("*", "").split()
            description = "" if typed else description
        for name in names:
            entries[name] = f"{entries.get(name, '')} {description.strip()}".strip()
    return entries
