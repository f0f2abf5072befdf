"""An answer with a type (`--as`): its schema, and the tool with which the model ends the run."""

import ast
import json
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from agent_nb._base.secrets import shortened
from agent_nb._base.wire import Json, WireError, from_wire
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.core.messages import ToolSpec
from agent_nb.core.run_settings import ANSWER_TOOL
from agent_nb.tools.base import Tool, ToolContext, ToolOutput
from agent_nb.tools.function import Reader, object_reader, reader
from agent_nb.tools.schema import compile_schema, object_schema

MAX_ANSWER = 100_000
"""Maximum characters of an answer as JSON."""
_VALUE = "value"
"""The argument that contains an answer other than an object."""
_KINDS = {kind.__name__: kind for kind in (str, int, float, bool, list, dict, tuple, set)}
_REMEDY = (
    'Write fields such as "slope: float, p: float", or name a type such as a dataclass or a pydantic model.'
)


@dataclass(frozen=True)
class AnswerType:
    kind: Any
    """A type, or a dict of field names and their types."""

    @cached_property
    def _reader(self) -> Reader:
        is_type = not isinstance(self.kind, dict)
        return reader(self.kind) if is_type else object_reader(dict, self.kind, list(self.kind))

    @property
    def schema(self) -> Json:
        return self._reader.schema

    def read(self, value: Any) -> Any:
        """Convert the JSON form of an answer to the type. A class may refuse values that its schema allows."""
        return self._reader.read(value)

    def value_of(self, args: Json) -> Any:
        """The JSON form of the answer in the arguments of a call."""
        return args if "properties" in self.schema else args[_VALUE]

    def tool(self) -> Tool:
        is_object = "properties" in self.schema
        schema = self.schema if is_object else object_schema({_VALUE: self.schema}, [_VALUE])
        description = "Gives the final answer, whose fields are the arguments, and ends the task."
        spec = ToolSpec(name=ANSWER_TOOL, description=description, schema=schema)
        return Tool(spec=spec, run=self._accept, title=lambda args: "answer", in_settings=True)

    def checked(self, value: Any) -> Any:
        """The JSON form of an answer that code has computed; raises `ToolError` if it has another type."""
        args = value if "properties" in self.schema else {_VALUE: value}
        compile_schema(self.tool().spec.schema)(args)
        self._accept(args)
        return value

    def _accept(self, args: Json, context: ToolContext | None = None) -> ToolOutput:
        value = self.value_of(args)
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > MAX_ANSWER:
            raise ToolError(f"The answer has {len(text):,} characters; at most {MAX_ANSWER:,} are allowed.")
        try:
            self.read(from_wire(Any, value))
        except WireError as error:
            raise ToolError(f"The answer {error.why}.") from None
        return ToolOutput(text="The answer was accepted.", summary=shortened(text, 160))

    def __getstate__(self) -> Json:
        return {"kind": self.kind}  # a reader cannot be pickled


def answer_type(answer: Any, names: Mapping[str, Any] | None = None) -> AnswerType:
    """Read a type, or the text of `--as`, which may refer to types in `names`. The text is never evaluated."""
    if isinstance(answer, AnswerType):
        return answer
    kind = _parse(answer, names or {}) if isinstance(answer, str) else _type(answer, repr(answer)[:40])
    result = AnswerType(kind)
    try:
        compile_schema(result.tool().spec.schema)
    except RecursionError:
        raise ConfigError("The type of the answer contains itself, so it has no finite schema.") from None
    except ToolError:
        raise ConfigError("The type of the answer is nested too deeply: use fewer levels.") from None
    except TypeError as error:
        raise ConfigError(f"The answer {shortened(str(error), 300).rstrip('.')}.") from None
    except Exception as error:  # the annotations of a class are the user's code
        why = shortened(f"{type(error).__name__}: {error}".rstrip("."), 300)
        raise ConfigError(f"The type of the answer cannot be read: {why}.") from None
    return result


def _parse(text: str, names: Mapping[str, Any]) -> Any:
    """Parse one type, or `name: type, ...`, which has the syntax of a dict's entries."""
    for source in (text.strip(), f"{{{text}\n}}"):
        try:
            tree = ast.parse(source, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if not isinstance(tree, ast.Dict):
            return _resolve(tree, names)
        fields = {
            key.id: kind
            for key, kind in zip(tree.keys, tree.values, strict=True)
            if isinstance(key, ast.Name)
        }
        if 0 < len(fields) == len(tree.keys):
            return {name: _resolve(kind, names) for name, kind in fields.items()}
    raise ConfigError(f"The type of the answer, {shortened(text, 60)!r}, cannot be read. {_REMEDY}")


def _resolve(tree: ast.expr, names: Mapping[str, Any]) -> Any:
    match tree:
        case ast.Constant(value=None | types.EllipsisType() as value):
            return value
        case ast.Name(id=name) if name in _KINDS:
            return _KINDS[name]
        case ast.Name(id=name) if name in names:
            return _type(names[name], f"`{name}`")
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return typing.Union[_resolve(left, names), _resolve(right, names)]  # noqa: UP007 - from two values
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            return typing.Optional[_resolve(inner, names)]  # noqa: UP045 - from a value
        case ast.Subscript(value=ast.Name(id="Literal"), slice=choices):
            try:
                return Literal[ast.literal_eval(choices)]
            except (ValueError, TypeError):
                raise ConfigError(f"The choices of `Literal` must be texts and numbers. {_REMEDY}") from None
        case ast.Subscript(value=ast.Name(id=name), slice=inner) if name in _KINDS:
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return types.GenericAlias(_KINDS[name], tuple(_resolve(part, names) for part in parts))
    raise ConfigError(f"`{shortened(ast.unparse(tree), 40)}` is not a type. {_REMEDY}")


def _type(value: Any, name: str) -> Any:
    if isinstance(value, type | types.UnionType) or typing.get_origin(value) is not None:
        return value
    raise ConfigError(f"{name} is of type {type(value).__name__}, not a type. {_REMEDY}")
