"""Translates a run's events into the vocabularies of other systems, for web back ends that use them.

`agent_nb` leaves them as they are; `screenshot-to-code` and `agent-loop` are the vocabularies of two other systems,
and `ag-ui` is the Agent User Interaction Protocol.
"""

from collections.abc import Callable, Iterator

from agent_nb._base.wire import to_wire
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
    TurnRetrying,
)
from agent_nb.files.file_paths import entry_of, provisional_path
from agent_nb.messages import ToolResult
from agent_nb.web.ag_ui import AgUi
from agent_nb.web.drafts import Draft, FilesSoFar, Pair, Translate, pair


def translator(vocabulary: str | Translate) -> Translate:
    """A translator for one run."""
    if callable(vocabulary):
        return vocabulary
    try:
        return _VOCABULARIES[vocabulary]()
    except KeyError:
        names = ", ".join(repr(name) for name in _VOCABULARIES)
        raise ConfigError(f"There is no vocabulary {vocabulary!r}; there are {names}.") from None


def _own(event: Event) -> Iterator[Pair]:
    yield pair(event.type, to_wire(event))


class _ScreenshotToCode:
    """`assistant thinking toolStart setCode toolResult`: only the page is sent, always as a whole.

    While it is being written, it is sent again when it has grown by an eighth, so the total size stays linear.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._files = FilesSoFar()
        self._sent = ""

    def __call__(self, event: Event) -> Iterator[Pair]:
        match event:
            case TextDelta(text=text):
                yield pair("assistant", {"type": "assistant", "value": text})
            case ThinkingDelta(text=text):
                yield pair("thinking", {"type": "thinking", "value": text})
            case ToolStarted(call_id=call_id, name=name):
                self._names[call_id] = name
                yield pair("toolStart", {"type": "toolStart", "eventId": call_id, "data": {"name": name}})
            case FileDelta():
                yield from self._written(event)
            case FileChanged():
                self._files.change(event)
                yield from self._page()
            case ToolFinished(call_id=call_id, ok=ok, summary=summary):
                self._files.drafts.pop(call_id, None)
                yield from self._page()
                data = {"name": self._names.get(call_id, ""), "output": summary, "ok": ok}
                yield pair("toolResult", {"type": "toolResult", "eventId": call_id, "data": data})
            case TurnRetrying() | RunFinished():
                self._files.drafts.clear()
                yield from self._page()
            case _:
                return

    def _written(self, event: FileDelta) -> Iterator[Pair]:
        draft = self._files.write(event)
        if draft.has_grown and self._is_page(draft):
            draft.sent = draft.length
            yield from self._send(draft.text)

    def _is_page(self, draft: Draft) -> bool:
        drafts = self._files.drafts.values()
        others = [*self._files.finished, *(other.path for other in drafts if other is not draft)]
        path = draft.path or provisional_path(draft.pieces[0], others)
        return entry_of([*others, path]) == path

    def _page(self) -> Iterator[Pair]:
        """The current page. A half-written page whose call has failed is replaced by the one before."""
        if not any(map(self._is_page, self._files.drafts.values())):
            finished = self._files.finished
            yield from self._send(finished.get(entry_of(finished) or "") or "")

    def _send(self, page: str) -> Iterator[Pair]:
        if page != self._sent:
            self._sent = page
            yield pair("setCode", {"type": "setCode", "value": page})


class _AgentLoop:
    """`content_delta tool_call_start tool_call_result done`: a call starts when its arguments are complete."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __call__(self, event: Event) -> Iterator[Pair]:
        match event:
            case TextDelta(text=text):
                yield pair("content_delta", {"delta": text})
            case ToolStarted(call_id=call_id, name=name):
                self._names[call_id] = name
            case ToolReady(call_id=call_id, args=args):
                start = {"id": call_id, "name": self._names.get(call_id, ""), "arguments": args}
                yield pair("tool_call_start", start)
            case MessageAdded(message=message) if message.role == "tool":
                for result in (part for part in message.parts if isinstance(part, ToolResult)):
                    data = {"id": result.call_id, "result": result.text, "is_error": not result.ok}
                    yield pair("tool_call_result", data)
            case RunFinished():
                yield pair("done", {})
            case _:
                return


_VOCABULARIES: dict[str, Callable[[], Translate]] = {
    "agent_nb": lambda: _own,
    "screenshot-to-code": _ScreenshotToCode,
    "agent-loop": _AgentLoop,
    "ag-ui": AgUi,
}
