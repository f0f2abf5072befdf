"""Parses a request: its prompt, the names bound to its page, the results of its calls, and the page before it."""

import ast
import contextlib
import re
from dataclasses import dataclass
from typing import Any

from agent_nb._base.text import listed
from agent_nb._base.wire import Json
from agent_nb.core.messages import Document, Image, Text, Thinking, ToolResult
from agent_nb.core.run_settings import NOTEBOOK_TOOLS
from agent_nb.files import entry_of
from agent_nb.prompts import prompt_text
from agent_nb.providers.base import Request, RequestFacts
from agent_nb.tools.file_tools import CREATE_FILE, EDIT_FILE, READ_FILE

CREATE, EDIT, READ = CREATE_FILE.name, EDIT_FILE.name, READ_FILE.name
LIST, DESCRIBE, RUN = "list_variables", "describe_variable", "run_python"
"""Tools for a notebook's data: the first two read it, the third computes with it."""
MAX_PROMPT = 600
"""Characters of a prompt that say what page to make; data may follow."""
_BOUND = "\n\nThe page is bound to these names of the notebook:\n"
_NAME = re.compile(
    r"^- `(?:(\w+)`, a value:|(\w+)`, which the page fills:|(\w+\(.*)`, a function to call$)", re.MULTILINE
)
_LABELS = re.compile(
    r"\b(?:label|mark|sort|rate|tag)\w*\b[^.\n]{0,80}?\b([a-z]+), ([a-z]+),? (?:(?:or|and) )?([a-z]+)\b", re.I
)
_DEFAULT_LABELS = ("good", "bad", "unclear")
_STEPS = {"int": 1, "integer": 1, "float": "any", "number": "any"}
"""The `step` of a slider for each type."""


@dataclass(frozen=True, slots=True)
class DemoCall:
    name: str
    arguments: Json


Action = Thinking | Text | DemoCall


@dataclass(frozen=True, slots=True)
class DemoBindings:
    """The names bound to a page."""

    values: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    functions: tuple[Json, ...] = ()
    """The name and the form fields of each function."""

    def __bool__(self) -> bool:
        return bool(self.values or self.filled or self.functions)

    @property
    def title(self) -> str:
        if self.values:
            return f"Label {self.values[0]}" if self.filled else self.values[0].capitalize()
        return f"Try {self.functions[0]['name']}" if self.functions else f"Fill {self.filled[0]}"

    @property
    def phrase(self) -> str:
        names = (*self.values, *self.filled, *(function["name"] for function in self.functions))
        return listed([f"`{name}`" for name in names])

    def spec(self, prompt: str) -> Json:
        """The data for the page's script."""
        match = _LABELS.search(prompt[:MAX_PROMPT])
        labels = match.groups() if match else _DEFAULT_LABELS
        return {"values": self.values, "filled": self.filled, "functions": self.functions, "labels": labels}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    prompt: str
    bound: DemoBindings
    images: tuple[Image, ...]
    documents: tuple[Document, ...]
    results: tuple[ToolResult, ...]
    """Results of the calls made for the current prompt."""
    path: str
    page: str | None
    """The page before the current prompt; None if the model has not seen it in full."""
    earlier: bool
    """Whether there were files or calls before the current prompt."""
    earlier_prompts: str
    own_tools: frozenset[str]
    sees_notebook: bool
    sends_values: bool
    facts: RequestFacts

    def results_of(self, name: str) -> list[ToolResult]:
        return [result for result in self.results if result.name == name]


def read_conversation(request: Request) -> Conversation:
    facts = request.facts
    messages = request.messages[:-1] if facts.summing_up else request.messages
    index = max((i for i, message in enumerate(messages) if message.role == "user"), default=0)
    before, after = messages[:index], messages[index + 1 :]
    parts = messages[index].parts if messages else ()
    path = entry_of(facts.files) or "index.html"
    page = None if path in facts.edited else facts.files.get(path)
    sees_notebook = {LIST, DESCRIBE} <= facts.own_tools
    # Without the tools for variables, only a `run_python` that asks is the kernel's; a user's tool may have that name.
    kernel = {LIST, DESCRIBE, RUN} if sees_notebook else {RUN} & facts.asking_tools
    text, bound = split_prompt(next((part.text for part in parts if isinstance(part, Text)), ""))
    return Conversation(
        prompt=text,
        bound=bound,
        images=tuple(part for part in parts if isinstance(part, Image)),
        documents=tuple(part for part in parts if isinstance(part, Document)),
        results=tuple(p for message in after for p in message.parts if isinstance(p, ToolResult)),
        path=path,
        page=page if isinstance(page, str) else None,
        earlier=bool(facts.files) or any(message.tool_calls for message in before),
        earlier_prompts="\n".join(message.text for message in before if message.role == "user"),
        own_tools=facts.own_tools - {CREATE, EDIT, READ, request.answer} - kernel - NOTEBOOK_TOOLS,
        sees_notebook=sees_notebook,
        sends_values=prompt_text("schema_only") not in request.system,
        facts=facts,
    )


def split_prompt(text: str) -> tuple[str, DemoBindings]:
    """The prompt without the list of bound names, and the bound names."""
    prompt, _, names = text.partition(_BOUND)
    rows = [("", "", ""), *_NAME.findall(names)]
    values, filled, signatures = (tuple(filter(None, column)) for column in zip(*rows, strict=True))
    functions = ({"name": text.partition("(")[0], "fields": _fields(text)} for text in signatures)
    return prompt.strip(), DemoBindings(values, filled, tuple(functions))


def _fields(signature: str) -> list[Json]:
    """A field for each parameter of `score(text: str, level: float = 0.5) -> float: The docstring`."""
    for end in re.finditer(r"\)", signature):
        with contextlib.suppress(SyntaxError):  # a parenthesis in a default, or in the docstring
            [function] = ast.parse(f"def {signature[: end.end()]}: pass").body
            assert isinstance(function, ast.FunctionDef)
            arguments = function.args
            parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            defaults = [*arguments.defaults, *arguments.kw_defaults]
            no_defaults = [None] * (len(parameters) - len(defaults))
            return [*map(_field, parameters, [*no_defaults, *defaults])]
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
