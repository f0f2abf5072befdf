"""Parses the bound names in a prompt, and chooses the fields of a page for them."""

import ast
import contextlib
import re
from dataclasses import dataclass
from typing import Any

from agent_nb._base.text import listed
from agent_nb._base.wire import Json

_LIST = "\n\nThe page is bound to these names of the notebook:\n"
_NAME = re.compile(
    r"^- `(?:(\w+)`, (?:(a value):|(which the page fills):)|(\w+\(.*)`, a function to call$)", re.MULTILINE
)
_LABELS = re.compile(
    r"\b(?:label|mark|sort|rate|tag)\w*\b[^.\n]{0,80}?\b([a-z]+), ([a-z]+),? (?:(?:or|and) )?([a-z]+)\b", re.I
)
_DEFAULT_LABELS = ("good", "bad", "unclear")
_MAX_PROMPT = 600
_STEPS = {"int": 1, "integer": 1, "float": "any", "number": "any"}
"""The `step` of a slider for each type."""


@dataclass(frozen=True, slots=True)
class DemoBindings:
    values: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    functions: tuple[tuple[str, list[Json]], ...] = ()
    """Name and form fields of each function."""

    def __bool__(self) -> bool:
        return bool(self.values or self.filled or self.functions)

    @property
    def title(self) -> str:
        if self.values:
            return f"Label {self.values[0]}" if self.filled else self.values[0].capitalize()
        return f"Try {self.functions[0][0]}" if self.functions else f"Fill {self.filled[0]}"

    @property
    def phrase(self) -> str:
        return listed([f"`{name}`" for name in (*self.values, *self.filled, *dict(self.functions))])

    def spec(self, prompt: str) -> Json:
        """The data for the page's script."""
        labels = _LABELS.search(prompt[:_MAX_PROMPT])
        return {
            "values": self.values,
            "filled": self.filled,
            "functions": [{"name": name, "fields": fields} for name, fields in self.functions],
            "labels": labels.groups() if labels else _DEFAULT_LABELS,
        }


def split_prompt(text: str) -> tuple[str, DemoBindings]:
    """The prompt without the list of bound names, and the bound names."""
    prompt, _, rows = text.partition(_LIST)
    values, filled, functions = list[str](), list[str](), list[tuple[str, list[Json]]]()
    for name, is_value, _, signature in _NAME.findall(rows):
        if signature:
            functions.append((signature.partition("(")[0], _fields(signature)))
        else:
            (values if is_value else filled).append(name)
    return prompt.strip(), DemoBindings(tuple(values), tuple(filled), tuple(functions))


def _fields(signature: str) -> list[Json]:
    """A field for each parameter of `score(text: str, level: float = 0.5) -> float: The docstring`."""
    for end in re.finditer(r"\)", signature):
        with contextlib.suppress(SyntaxError):  # a parenthesis in a default, or in the docstring
            [function] = ast.parse(f"def {signature[: end.end()]}: pass").body
            assert isinstance(function, ast.FunctionDef)
            arguments = function.args
            positional = [*arguments.posonlyargs, *arguments.args]
            no_defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
            with_defaults = zip(positional, [*no_defaults, *arguments.defaults], strict=True)
            keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            return [_field(argument, default) for argument, default in (*with_defaults, *keyword_only)]
    return []


def _field(argument: ast.arg, default: ast.expr | None) -> Json:
    annotation, value = argument.annotation, _literal(default)
    words = re.findall(r"\w+", ast.unparse(annotation)) if annotation else ["str"]
    field: Json = {"name": argument.arg, "required": default is None, "value": value}
    if isinstance(annotation, ast.Subscript) and "Literal" in words[:2]:  # or `typing.Literal`
        options = _literal(annotation.slice)
        return field | {"kind": "select", "options": options if isinstance(options, tuple) else [options]}
    if words[0] in ("bool", "boolean"):
        return field | {"kind": "checkbox"}
    if words[0] in _STEPS and (default is None or value is not None):
        # A slider from 0 to 1 for a share, else to twice the default; symmetric for a negative default.
        value, step = value or 0, _STEPS[words[0]]
        limit = 1 if step == "any" and 0 < abs(value) <= 1 else max(10, 2 * abs(value))
        lowest = -limit if value < 0 else 0
        return field | {"kind": "range", "min": lowest, "max": limit, "step": step, "value": value}
    return field | {"kind": "text" if words[0] in ("str", "string", "any", "Any") else "json"}


def _literal(node: ast.expr | None) -> Any:
    with contextlib.suppress(ValueError, TypeError):
        return ast.literal_eval(node) if node else None
    return None
