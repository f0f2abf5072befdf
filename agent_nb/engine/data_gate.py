"""`--data schema`: the model gets names, types and shapes of the user's data, but no values.

Every request passes `DataGate.request`, which fails closed: only the user's prompt, the model's own messages and the
tool results rewritten by `DataGate.result` are sent unchanged. Anything else is replaced.
"""

import builtins
import itertools
import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from agent_nb._base.wire import parse_json
from agent_nb.core.errors import ConfigError, ToolError, ToolErrorCode
from agent_nb.core.feature import features
from agent_nb.core.messages import Image, Message, Part, Text, ToolCall, ToolResult
from agent_nb.core.run_settings import MAX_CODE
from agent_nb.engine.approval import DeniedError
from agent_nb.engine.run_input import RunInput
from agent_nb.prompts import prompt_text
from agent_nb.providers.base import Request
from agent_nb.tools.base import SCHEMA_PHRASES, Name, Schema, Tool

_ADDED_TEXTS = ("sum_up", "go_on", "not_called")
HELD = "(held back: this run sends no values)"
_WORD = re.compile(r"\w+")
_WORD_OR_SYMBOL = re.compile(r"\w+|[^\x20-\x7e]")
_BETWEEN = re.compile(r"(?<![\d,])(\d{1,6}(?:,\d{3}){0,4})(?![\d,]*\d)|(, | x )")
"""What separates the phrases of a schema: whole numbers and two signs."""
_MOST_IN_SCHEMA = 50_000
_QUOTED = re.compile(r"""(["'])(.*?)\1""")
BUILT_IN = frozenset(dir(builtins))
_USUAL_WORDS = BUILT_IN.union(
    _WORD.findall(
        "a an and are argument arguments array at attribute be between by callable cannot cell cells changed code"
        " column columns convert could data defined directory division does exist expected file for found from got"
        " has have in index invalid is it iterable key keys keyword label labels length lengths line match missing"
        " module must name named no not of on only operand operands or out positional required row rows run"
        " seconds sends sequence shape shapes stopped string such subscriptable supported syntax takes the them to"
        " types unexpected unhashable unsupported value values was were with zero NoneType DataFrame Series Index"
        " ndarray nan dtype after before It The This"
    )
)
"""Words of error messages that reveal nothing about values."""


def schema_text(schema: Schema, names: Container[str], texts: Container[str] = ()) -> str:
    """The schema as text. Names that are not in `names`, and all but numbers and the fixed phrases of schemas, are held
    back: code can change what describes a value. Repeated lines are counted."""

    def text_of(part: Any) -> str:
        if type(part) is Name and type(part.text) is str:
            return part.text if part.text in names or part.text in BUILT_IN else "(name held back)"
        if type(part) is not str:
            return "(held back)"
        pieces = [part] if part in SCHEMA_PHRASES or part in texts else _BETWEEN.split(part)[::3]
        is_known = all(piece in SCHEMA_PHRASES or piece in texts for piece in filter(None, pieces))
        return part if is_known else "(held back)"

    parts = map(text_of, schema[:_MOST_IN_SCHEMA])
    lines = [(line, len(list(equal))) for line, equal in itertools.groupby("".join(parts).splitlines())]
    return "\n".join(f"{line} ({count:,} of these)" if count > 1 else line for line, count in lines)


def known_words(message: str, names: Container[str]) -> str:
    """The error message without words that may be values."""
    return _WORD_OR_SYMBOL.sub(
        lambda word: word[0] if word[0] in names or word[0] in _USUAL_WORDS else "…", message
    )


class DataGate:
    def __init__(self, run_input: RunInput) -> None:
        self._names = set(run_input.names)
        """Names of the inputs, and texts, words and quoted strings in the model's own calls."""
        added = (*_ADDED_TEXTS, *(name for feature in features() for name in feature.texts))
        self._texts = {run_input.sent_prompt, *map(prompt_text, added)}
        """The user's texts, those that a run adds, and results that may be sent."""
        question = [part for part in run_input.question.parts if isinstance(part, Text)]
        self._texts.update(part.text for part in question if part.origin == "unfinished")  # the model's own
        self._images: list[Image] = []
        self._withheld: dict[str, ToolResult] = {}
        self._to_show: list[str] = []
        for message in run_input.history:  # the base run sent no values either
            self._learn_all(message)
            self._texts.update(part.text for part in message.parts if isinstance(part, Text | ToolResult))
        schemas = run_input.without_values.items()
        self._without_values = {text: f"\n\n{schema_text(schema, self._names)}" for text, schema in schemas}
        self._texts.update(self._without_values.values())

    def request(self, request: Request) -> Request:
        return replace(request, messages=tuple(map(self.message, request.messages)))

    def message(self, message: Message) -> Message:
        if message.role == "assistant":
            self._learn_all(message)
            return message
        return replace(message, parts=tuple(map(self._part, message.parts)))

    def result(
        self, call_id: str, tool: Tool | None, result: ToolResult, outcome: ToolError | Schema, remarks: str
    ) -> ToolResult:
        """The result for the model: the error or schema instead of the values, and the user's remarks.

        Only schemas from this package's own tools are sent.
        """
        self._withheld[call_id] = result
        packaged = tool is not None and tool.packaged
        if isinstance(outcome, DeniedError):
            text = str(outcome)  # includes the user's note
        elif isinstance(outcome, ToolError):
            code = outcome.code if outcome.code in get_args(ToolErrorCode) else "FAILED"
            line = f" (line {outcome.line})" if packaged and outcome.line in range(MAX_CODE) else ""
            error = known_words(outcome.headline, self._names) + line
            text = json.dumps({"error": error, "code": code}, ensure_ascii=False)
        elif packaged and outcome:
            text = schema_text(outcome, self._names, self._texts)[:_MOST_IN_SCHEMA]
        else:
            text = f"Done. {HELD}"
        revealed = [self._withheld[call_id] for call_id in self._to_show]
        self._to_show.clear()
        texts = [f"The user shows you what `{output.name}` gave:\n{output.text}" for output in revealed]
        images = tuple(image for output in revealed for image in output.images)
        text = "\n\n".join(filter(None, [text, remarks, *texts]))
        self._texts.add(text)
        self._images += images
        return replace(result, text=text, images=images)

    def known(self, names: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """These variables and their columns, without names that may be values."""
        known_columns = {
            name: [column for column in columns if column in self._names] for name, columns in names.items()
        }
        return {name: columns for name, columns in known_columns.items() if name in self._names}

    def allow(self, text: str) -> None:
        """Allow a text that the run has built from known names and from results that may be sent."""
        self._texts.add(text)

    def show(self, call_id: str) -> None:
        """Send the output of a call with the next result."""
        if call_id not in self._withheld:
            raise ConfigError("There is nothing to show yet.")
        self._to_show.append(call_id)

    def _part(self, part: Part) -> Part:
        match part:
            case Text(text, origin) if text in self._texts or origin == "summary":  # of what was sent
                return part
            case Text(text) if text in self._without_values:
                return Text(self._without_values[text])
            case ToolResult(text=text, images=images) if text in self._texts:
                allowed_ids = {id(image) for image in self._images}
                return replace(part, images=tuple(image for image in images if id(image) in allowed_ids))
            case ToolResult():
                return replace(part, text=HELD, images=())
            case _:
                return Text(HELD)

    def learn(self, call: ToolCall) -> None:
        self._names.update(_words(call.arguments))

    def _learn_all(self, message: Message) -> None:
        for call in message.tool_calls:
            self.learn(call)


def _words(arguments: str) -> Iterator[str]:
    values = parse_json(arguments)
    for text in values.values() if isinstance(values, dict) else ():
        if isinstance(text, str):
            yield text
            yield from _WORD.findall(text)
            yield from (quoted for _, quoted in _QUOTED.findall(text))
