"""A run's events in other systems' words, for web back ends that already speak them.

`agent_nb` are our own names; `screenshot-to-code` and `agent-loop` are two vocabularies in use elsewhere.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from agent_nb.errors import ConfigError
from agent_nb.events import (
    Event,
    FileChanged,
    FileDelta,
    MessageAdded,
    RunFinished,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolReady,
    ToolStarted,
)
from agent_nb.files import apply_patch
from agent_nb.messages import ToolResult
from agent_nb.wire import to_wire

Pair = tuple[str, str]
Translate = Callable[[Event], Iterator[Pair]]


def translator(vocabulary: str) -> Translate:
    """A fresh translator for one run."""
    try:
        return _VOCABULARIES[vocabulary]()
    except KeyError:
        names = ", ".join(repr(name) for name in _VOCABULARIES)
        raise ConfigError(f"There is no vocabulary {vocabulary!r}; there are {names}.") from None


def _pair(name: str, data: Any) -> Pair:
    return name, json.dumps(data, ensure_ascii=False)


def _own() -> Translate:
    def translate(event: Event) -> Iterator[Pair]:
        yield _pair(event.type, to_wire(event))

    return translate


class _ScreenshotToCode:
    """`assistant thinking toolStart setCode toolResult`: the page is sent whole each time.

    While a page is being written it is sent when it has grown by an eighth, so the total stays linear.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._sent = 0

    def __call__(self, event: Event) -> Iterator[Pair]:
        match event:
            case TextDelta(text=text):
                yield _pair("assistant", {"type": "assistant", "value": text})
            case ThinkingDelta(text=text):
                yield _pair("thinking", {"type": "thinking", "value": text})
            case ToolStarted(call_id=call_id, name=name):
                self._names[call_id] = name
                yield _pair("toolStart", {"type": "toolStart", "eventId": call_id, "data": {"name": name}})
            case FileDelta(path=path, offset=offset, text=text):
                # Appending in place keeps this linear: CPython extends a string that nobody else holds.
                self._files[path] = (
                    self._files.get(path, "")[:offset] + text if offset == 0 else self._files[path] + text
                )
                if offset == 0:
                    self._sent = 0
                if len(self._files[path]) > self._sent * 9 // 8:
                    self._sent = len(self._files[path])
                    yield self._code(self._files[path])
            case FileChanged(path=path, patch=patch, action=action) if (
                patch is not None and action != "deleted"
            ):
                if action == "edited" or path not in self._files:
                    self._files[path] = apply_patch(self._files.get(path, ""), patch)
                yield self._code(self._files[path])
            case ToolFinished(call_id=call_id, ok=ok, summary=summary):
                data = {"name": self._names.get(call_id, ""), "output": summary, "ok": ok}
                yield _pair("toolResult", {"type": "toolResult", "eventId": call_id, "data": data})
            case _:
                return

    def _code(self, text: str) -> Pair:
        return _pair("setCode", {"type": "setCode", "value": text})


class _AgentLoop:
    """`content_delta tool_call_start tool_call_result done`: a call is told when its arguments are complete."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __call__(self, event: Event) -> Iterator[Pair]:
        match event:
            case TextDelta(text=text):
                yield _pair("content_delta", {"delta": text})
            case ToolStarted(call_id=call_id, name=name):
                self._names[call_id] = name
            case ToolReady(call_id=call_id, args=args):
                start = {"id": call_id, "name": self._names.get(call_id, ""), "arguments": args}
                yield _pair("tool_call_start", start)
            case MessageAdded(message=message) if message.role == "tool":
                for result in (part for part in message.parts if isinstance(part, ToolResult)):
                    data = {"id": result.call_id, "result": result.text, "is_error": not result.ok}
                    yield _pair("tool_call_result", data)
            case RunFinished():
                yield _pair("done", {})
            case _:
                return


_VOCABULARIES: dict[str, Callable[[], Translate]] = {
    "agent_nb": _own,
    "screenshot-to-code": _ScreenshotToCode,
    "agent-loop": _AgentLoop,
}
