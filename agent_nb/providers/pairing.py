"""Makes the calls and results of a conversation fit a server: each call has one result, and an accepted id and name.

Conversations come from other vendors, from saved runs and from people, so neither can be taken for granted.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from agent_nb._base.text import sha256
from agent_nb.messages import Message, Part, ToolCall, ToolResult

NO_RESULT = "There is no result: the call was not run."


def fit_calls(messages: Sequence[Message], id_pattern: str, *, unique: bool = True) -> list[Message]:
    """The messages with their calls paired, and with other ids and names where the server would refuse them.

    New ids depend only on what came before them, so that the start of a conversation stays the same.
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
        """Calls without a result, each with its original id."""

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
