"""The parts of messages as a wire protocol writes them."""

import base64
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent_nb._base.text import sha256
from agent_nb._base.wire import Json
from agent_nb.images.convert import fit_image
from agent_nb.messages import Image, Message, Part, Source, Text, ToolCall, ToolResult

NO_RESULT = "There is no result: the call was not run."


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    text: Callable[[str], Json]
    image: Callable[[Image], Json]
    call: Callable[[ToolCall], Json]
    said: Callable[[str], Json] | None = None
    """Text of the model, if it differs from that of the user."""
    result: Callable[[ToolResult], Json] | None = None
    """A result, if it is among the other parts of a message."""

    def of_user(self, message: Message) -> list[Json]:
        """What the user or a tool said. Vendors refuse blank texts, so these are left out."""
        blocks: list[Json] = []
        for part in message.parts:
            match part:
                case Text(text) if text.strip():
                    blocks.append(self.text(text))
                case Image():
                    blocks.append(self.image(part))
                case Source():
                    blocks.append(self.text(source_text(part)))
                case ToolResult() if self.result:
                    blocks.append(self.result(part))
        return blocks

    def of_model(self, message: Message) -> list[Json]:
        """An answer without what its vendor has attached to it: it may be another vendor's."""
        blocks: list[Json] = []
        for part in message.parts:
            match part:
                case Text(text) if text.strip():
                    blocks.append((self.said or self.text)(text))
                case ToolCall():
                    blocks.append(self.call(part))
        return blocks


def base64_of(image: Image) -> str:
    return base64.b64encode(image.data).decode("ascii")


def data_url(image: Image, max_edge: int, max_bytes: int) -> str:
    fitted = fit_image(image, max_edge, max_bytes)
    return f"data:{fitted.media_type};base64,{base64_of(fitted)}"


def arguments_object(text: str) -> Json:
    """A call's arguments as the object that some vendors require; anything else is wrapped in one."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {"invalid_json": text}
    return value if isinstance(value, dict) else {"value": value}


def valid_arguments(text: str) -> str:
    """A call's arguments as valid JSON, for vendors that want a string: the text itself if it is an object."""
    try:
        if isinstance(json.loads(text), dict):
            return text
    except ValueError:
        pass
    return json.dumps(arguments_object(text), ensure_ascii=False)


def source_text(source: Source) -> str:
    return f"[{source.title}]({source.url})" + (f": {source.snippet}" if source.snippet else "")


def fit_calls(messages: Sequence[Message], id_pattern: str, *, unique: bool = True) -> list[Message]:
    """The messages with their calls paired, and with other ids and names where the server would refuse them.

    Conversations come from other vendors, from saved runs and from users. New ids depend only on what came before them,
    so that the start of a conversation stays the same.
    """
    fitting = _Fitting(id_pattern, unique)
    for message in messages:
        if message.role == "assistant":
            fitting.assistant(message)
        else:
            fitting.other(message)
    fitting.answer_open_calls()
    return fitting.messages


class _Fitting:
    def __init__(self, id_pattern: str, unique: bool) -> None:
        self.messages: list[Message] = []
        self._accepted = re.compile(id_pattern)
        self._unique = unique
        self._ids: set[str] = set()
        self._calls = 0
        self._open: list[tuple[str, ToolCall]] = []

    def assistant(self, message: Message) -> None:
        self.answer_open_calls()
        parts = tuple(self._call(part) if isinstance(part, ToolCall) else part for part in message.parts)
        self.messages.append(message if parts == message.parts else replace(message, parts=parts))

    def other(self, message: Message) -> None:
        """Drops the results of unknown calls. Open calls are answered before anything but a result."""
        found = (self._result(part) for part in message.parts)
        parts = tuple(part for part in found if part is not None)
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
        known = self._unique and call.id in self._ids
        # Models call tools by names that no tool can have; vendors refuse to read these again.
        sent = replace(call, name=re.sub(r"[^a-zA-Z0-9_-]", "_", call.name)[:64] or "unknown")
        if known or not self._accepted.fullmatch(call.id):
            digest = sha256(f"{self._calls} {call.id}")
            sent = replace(sent, id=digest[:9])  # short and alphanumeric: what the strictest server wants
        self._ids.add(sent.id)
        self._open.append((call.id, sent))
        return sent

    def _result(self, part: Part) -> Part | None:
        if not isinstance(part, ToolResult):
            return part
        for index, (original, call) in enumerate(self._open):
            if original == part.call_id:
                del self._open[index]
                return replace(part, call_id=call.id, name=call.name)
        return None
