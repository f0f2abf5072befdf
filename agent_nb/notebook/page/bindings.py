"""Bindings between a cell and its page: values, functions, and names that the page fills."""

import asyncio
import inspect
import keyword
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pydantic_core  # noqa: F401 - makes the encoding fast

from agent_nb._base.secrets import is_secret_name, shortened
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError
from agent_nb.core.run_settings import FILLED, FUNCTION, BoundKind
from agent_nb.engine.description import Description, joined
from agent_nb.notebook.page.encoding import MAX_CHARACTERS, EncodingError, json_pieces
from agent_nb.notebook.values.cells import mask_named
from agent_nb.notebook.values.classes import class_name
from agent_nb.tools.base import Tool
from agent_nb.tools.function import read_signature
from agent_nb.tools.schema import types_only

SLICE = 0.01
"""Seconds of encoding that may block the event loop."""
_MAX_DOCSTRING = 1_000
_OWN = frozenset({"export"})
"""Attributes that the page's widget adds."""
_LISTED = "The page is bound to these names of the notebook:"


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that a page may use."""

    name: str
    kind: BoundKind
    value: Any = None
    """For `filled`, the value that an earlier page has set."""
    schema: Json = field(default_factory=dict)
    """JSON Schema of a function's arguments."""
    read: Callable[[Json], Json] | None = None
    """Converts validated arguments to those of the function."""

    @property
    def type_name(self) -> str:
        """The type name, as listed in `run.settings`."""
        value_type = class_name(type(self.value)) or type(self.value).__name__
        return {"value": value_type, "function": FUNCTION, "filled": FILLED}[self.kind]

    def signature(self, *, schema_only: bool) -> str:
        """A function's signature for the model; with `schema_only`, just the names and types of its arguments."""
        if schema_only:
            properties = types_only(self.schema)["properties"].items()
            return f"{self.name}({', '.join(f'{name}: {_type_of(part)}' for name, part in properties)})"
        text = inspect.getdoc(self.value) or ""
        documented = f": {shortened(' '.join(text.split()), _MAX_DOCSTRING)}" if text else ""
        return f"{self.name}{inspect.signature(self.value)}{documented}"


def _type_of(schema: Json) -> str:
    kind = schema.get("type", "any")
    return kind if isinstance(kind, str) else " or ".join(kind)


class Bindings(dict[str, Binding]):
    """The names that a page is bound to, each with its value or function."""

    def __init__(self, rows: Iterable[Binding], variables: Mapping[str, Any] | None = None) -> None:
        super().__init__((row.name, row) for row in rows)
        self.variables = {} if variables is None else variables
        """The notebook's variables, which the page follows; empty if it is bound to values."""
        self.encoded: dict[str, str] = {}
        """The JSON of the values."""

    @property
    def types(self) -> dict[str, str]:
        """Names and types, as stored in `run.settings` and saved runs."""
        return {name: row.type_name for name, row in self.items()}

    @property
    def note(self) -> str:
        """A note on the names that the page fills, to expose typos; empty if there are none."""
        names = [f"`{name}`" for name, row in self.items() if row.kind == "filled"]
        return f"The page fills {', '.join(names)}, which the notebook does not define." if names else ""

    async def encode(self) -> None:
        """Encode the values without blocking the loop; raises `ConfigError` if one cannot be encoded."""
        for name, row in self.items():
            if row.kind != "function":
                self.encoded[name] = await encoded(name, row.value)

    def describe(
        self,
        describe: Callable[..., Description],
        secrets: Collection[str] | None = None,
        *,
        schema_only: bool,
    ) -> Description:
        """The description of all names for the model; `describe` returns that of a value in a namespace."""
        values, lines = {name: row.value for name, row in self.items() if row.kind == "value"}, [_LISTED]
        parts = {name: describe(name, values) for name in values}
        for name, row in self.items():
            match row.kind:
                case "value":
                    lines.append(f"- `{name}`, a value:\n{parts[name].text}")
                case "function":
                    signature = mask_named(row.signature(schema_only=schema_only), secrets)
                    lines.append(f"- `{signature}`, a function to call")
                case "filled":
                    lines.append(f"- `{name}`, which the page fills: null until it sets it")
        return joined("\n".join(lines), list(parts.values()))


async def encoded(name: str, value: Any) -> str:
    """The JSON of a value, encoded without blocking the loop."""
    texts = encoding(name, value)
    while not (text := next(texts)):  # noqa: ASYNC110 - yields to the loop
        await asyncio.sleep(0)
    return text


def encoding(name: str, value: Any, limit: int = MAX_CHARACTERS) -> Iterator[str]:
    """Encode a value: an empty text after each slice of time, and the JSON at the end; raises `ConfigError`."""
    pieces, end = list[str](), time.monotonic() + SLICE
    try:
        for piece in json_pieces(name, value, limit):
            pieces.append(piece)
            if time.monotonic() > end:
                yield ""
                end = time.monotonic() + SLICE
    except EncodingError as error:
        raise ConfigError(str(error)) from None
    yield "".join(pieces)


def read_names(text: str) -> list[str]:
    """The names of `--bind reviews,labels`."""
    return [name for name in text.replace(",", " ").split() if name]


def bind(names: Iterable[str], namespace: Mapping[str, Any], earlier: Mapping[str, Binding]) -> Bindings:
    """Bind these names and those of an `earlier` page, keeping the values that it has filled."""
    rows = dict[str, Binding]()
    for name in (*names, *earlier):
        _check_name(name)
        if name in namespace:
            rows[name] = _row(name, namespace[name])
        elif name not in rows:
            rows[name] = earlier.get(name) or Binding(name, "filled")
    return Bindings(rows.values(), namespace)


def bind_values(values: Mapping[str, Any]) -> Bindings:
    """Bind these names to these values; the page fills those that are None."""
    for name in values:
        _check_name(name)
    rows = (Binding(name, "filled") if value is None else _row(name, value) for name, value in values.items())
    return Bindings(rows)


def _row(name: str, value: Any) -> Binding:
    from agent_nb.notebook.page.exported import approval_problem  # slow to import

    if not callable(value):
        return Binding(name, "value", value)
    if problem := approval_problem(name, value):
        raise ConfigError(problem)
    function = value.function if isinstance(value, Tool) and value.function else value
    schema, convert = read_signature(function, name)
    return Binding(name, "function", function, schema, convert)


def _check_name(name: str) -> None:
    from anywidget import AnyWidget  # slow to import

    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise ConfigError(f"`--bind` takes names of variables, separated by commas, not {name!r}.")
    if is_secret_name(name):
        raise ConfigError(
            f"`{name}` has the name of a secret, so no page may use it. Bind it under another name."
        )
    if hasattr(AnyWidget, name) or name in _OWN:
        raise ConfigError(f"Every widget has an attribute `{name}`. Bind it under another name.")
