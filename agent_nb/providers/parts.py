"""Encodes the parts of messages for a wire protocol."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent_nb._base.text import sha256
from agent_nb._base.wire import Json, parse_json
from agent_nb.core.messages import Document, Image, Message, Part, Source, Text, ToolCall, ToolResult
from agent_nb.images.convert import fit_image
from agent_nb.images.pdf import document_text

NO_RESULT = "There is no result: the call was not run."


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    text: Callable[[str], Json]
    image: Callable[[Image], Json]
    document: Callable[[Document], Json] | None = None
    """A PDF; None to send its text."""
    call: Callable[[ToolCall], Json]
    model_text: Callable[[str], Json] | None = None
    """Text by the model, if encoded differently from the user's."""
    result: Callable[[ToolResult], Json] | None = None
    """A tool result, if the protocol has it among the other parts of a message."""

    def of_user(self, message: Message) -> list[Json]:
        """Blocks of a user or tool message, without blank texts, which vendors refuse."""
        blocks: list[Json] = []
        for part in message.parts:
            match part:
                case Text(text) if text.strip():
                    blocks.append(self.text(text))
                case Image():
                    blocks.append(self.image(part))
                case Document():
                    blocks.append(self.document(part) if self.document else self.text(document_text(part)))
                case Source():
                    blocks.append(self.text(source_text(part)))
                case ToolResult() if self.result:
                    blocks.append(self.result(part))
        return blocks

    def of_model(self, message: Message) -> list[Json]:
        """Blocks of an answer without its vendor data, which may be another vendor's."""
        blocks: list[Json] = []
        for part in message.parts:
            match part:
                case Text(text) if text.strip():
                    blocks.append((self.model_text or self.text)(text))
                case ToolCall():
                    blocks.append(self.call(part))
        return blocks


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def data_url(image: Image, max_edge: int, max_bytes: int) -> str:
    fitted = fit_image(image, max_edge, max_bytes)
    return f"data:{fitted.media_type};base64,{fitted.base64}"


def arguments_object(text: str) -> Json:
    """A call's arguments as an object, which some vendors require; other values are wrapped in one."""
    value = parse_json(text or "{}", {"invalid_json": text})
    return value if isinstance(value, dict) else {"value": value}


def valid_arguments(text: str) -> str:
    """A call's arguments as a valid JSON string; unchanged if they are an object already."""
    is_object = isinstance(parse_json(text), dict)
    return text if is_object else json.dumps(arguments_object(text), ensure_ascii=False)


def source_text(source: Source) -> str:
    return f"[{source.title}]({source.url})" + (f": {source.snippet}" if source.snippet else "")


def fit_calls(messages: Sequence[Message], id_pattern: str, *, unique: bool = True) -> list[Message]:
    """The messages with every call paired with a result, and with ids and names that the server accepts.

    Conversations come from other vendors, saved runs and users. New ids depend only on the preceding messages, so
    that the start of a conversation stays the same (and cached).
    """
    fitter = _CallFitter(id_pattern, unique)
    for message in messages:
        if message.role == "assistant":
            fitter.add_answer(message)
        else:
            fitter.add_input(message)
    fitter.answer_open_calls()
    return fitter.messages


class _CallFitter:
    def __init__(self, id_pattern: str, unique: bool) -> None:
        self.messages: list[Message] = []
        self._accepted = re.compile(id_pattern)
        self._unique = unique
        self._ids: set[str] = set()
        self._calls = 0
        self._open: list[tuple[str, ToolCall]] = []

    def add_answer(self, message: Message) -> None:
        self.answer_open_calls()
        parts = tuple(self._call(part) if isinstance(part, ToolCall) else part for part in message.parts)
        self.messages.append(message if parts == message.parts else replace(message, parts=parts))

    def add_input(self, message: Message) -> None:
        """Drop results of unknown calls. Answer open calls before any message that is not a result."""
        results = (self._result(part) for part in message.parts)
        parts = tuple(part for part in results if part is not None)
        if not all(isinstance(part, ToolResult) for part in parts):
            self.answer_open_calls()
        if parts:
            self.messages.append(message if parts == message.parts else replace(message, parts=parts))

    def answer_open_calls(self) -> None:
        results = [
            ToolResult(call_id=call.id, name=call.name, text=NO_RESULT, code="STOPPED")
            for _, call in self._open
        ]
        self._open.clear()
        if results:
            self.messages.append(Message(role="tool", parts=tuple(results)))

    def _call(self, call: ToolCall) -> ToolCall:
        self._calls += 1
        is_repeated = self._unique and call.id in self._ids
        # Models invent tool names with invalid characters, which vendors refuse in later requests.
        renamed = replace(call, name=re.sub(r"[^a-zA-Z0-9_-]", "_", call.name)[:64] or "unknown")
        if is_repeated or not self._accepted.fullmatch(call.id):
            digest = sha256(f"{self._calls} {call.id}")
            renamed = replace(renamed, id=digest[:9])  # short and alphanumeric, for the strictest server
        self._ids.add(renamed.id)
        self._open.append((call.id, renamed))
        return renamed

    def _result(self, part: Part) -> Part | None:
        if not isinstance(part, ToolResult):
            return part
        for index, (original, call) in enumerate(self._open):
            if original == part.call_id:
                del self._open[index]
                return replace(part, call_id=call.id, name=call.name)
        return None
