"""The transcript of a run, folded from its events: what was thought, said, done and tried again."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_nb.errors import ToolErrorCode
from agent_nb.events import (
    ApprovalResolved,
    Event,
    FileAction,
    FileChanged,
    FileDelta,
    MessageAdded,
    MimeBundle,
    RunFinished,
    RunStarted,
    TextDelta,
    ThinkingDelta,
    Thumbnail,
    ToolArgsDelta,
    ToolFinished,
    ToolReady,
    ToolRunning,
    ToolStarted,
    TurnFinished,
    TurnRetrying,
    TurnStarted,
    UsageUpdated,
)
from agent_nb.messages import Message, Source, ToolResult

End = Literal["ok", "failed", "denied", "stopped"]


@dataclass(frozen=True, slots=True)
class Given:
    """The pictures that came with the prompt."""

    pictures: tuple[Thumbnail, ...]


@dataclass(frozen=True, slots=True)
class Thought:
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Words:
    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Retry:
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One tool call and what came of it."""

    title: str
    ok: bool = False
    code: ToolErrorCode | None = None
    summary: str = ""
    hint: str = ""
    seconds: float = 0.0
    args: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[MimeBundle, ...] = ()
    result: str = ""
    """What the model was told."""
    path: str = ""
    """The file it changed."""
    action: FileAction | None = None
    note: str = ""
    """What the person said to the model when asked."""

    @property
    def end(self) -> End:
        """A call that somebody denied, or that the end of the run has closed, did not fail."""
        if self.ok:
            return "ok"
        return "denied" if self.code == "DENIED" else "stopped" if self.code == "STOPPED" else "failed"


Entry = Given | Thought | Words | Cited | Retry | Step

_OUTCOME = ("ok", "code", "summary", "hint", "seconds", "outputs")
_SILENT = (ToolArgsDelta, FileDelta, UsageUpdated)
"""Most events of a run, and none of them leaves a mark here."""


def transcript(events: Iterable[Event]) -> tuple[Entry, ...]:
    """What happened, in order; turns that were withdrawn leave only the reason why."""
    folding = _Folding()
    for event in events:
        if type(event) not in _SILENT:
            folding.add(event)
    return tuple(folding.entries)


class _Folding:
    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._turn = 0
        """Where the entries of the present turn begin."""
        self._steps: dict[str, int] = {}
        self._pieces: list[str] = []
        """Of the thought or the words that are being written."""
        self._kind: type[Thought | Words] = Words
        self._since = 0.0

    def add(self, event: Event) -> None:
        match event:
            case ThinkingDelta(text=text, at=at):
                self._speak(Thought, text, at)
            case TextDelta(text=text, at=at):
                self._speak(Words, text, at)
            case RunStarted(images=pictures):
                self.entries += [Given(pictures)] if pictures else []
            case TurnStarted(at=at):
                self._close(at)
                self._turn = len(self.entries)
            case TurnRetrying(why=why, at=at):
                self._close(at)
                del self.entries[self._turn :]
                self.entries.append(Retry(why))
                self._turn = len(self.entries)
            case TurnFinished(at=at) | RunFinished(at=at):
                self._close(at)
            case ToolStarted(call_id=call_id, title=title, at=at):
                self._close(at)
                self._steps[call_id] = len(self.entries)
                self.entries.append(Step(title=title))
            case MessageAdded(message=message):
                self._take(message)
            case _:
                self._tell_step(event)

    def _tell_step(self, event: Event) -> None:
        match event:
            case ToolReady(call_id=call_id, title=title, args=args):
                self._change(call_id, lambda step: replace(step, title=title, args=args))
            case ToolRunning(call_id=call_id, title=title):
                self._change(call_id, lambda step: replace(step, title=title))
            case FileChanged(call_id=str(call_id), path=path, action=action):
                self._change(call_id, lambda step: replace(step, path=path, action=action))
            case ApprovalResolved(call_id=call_id, note=note):
                self._change(call_id, lambda step: replace(step, note=note))
            case ToolFinished(call_id=call_id) as end:
                told = {name: getattr(end, name) for name in _OUTCOME}
                self._change(call_id, lambda step: replace(step, **told))

    def _change(self, call_id: str, change: Callable[[Step], Step]) -> None:
        index = self._steps.get(call_id, len(self.entries))
        step = self.entries[index] if index < len(self.entries) else None
        if isinstance(step, Step):
            self.entries[index] = change(step)

    def _take(self, message: Message) -> None:
        sources = tuple(part for part in message.parts if isinstance(part, Source))
        if sources:
            self.entries.append(Cited(sources))
        # Calls of one turn are answered in the order in which they began.
        asked = [i for i in range(self._turn, len(self.entries)) if isinstance(self.entries[i], Step)]
        answers = [part for part in message.parts if isinstance(part, ToolResult)]
        for index, answer in zip(asked, answers, strict=False):
            step = self.entries[index]
            if isinstance(step, Step):
                self.entries[index] = replace(step, result=answer.text)

    def _speak(self, kind: type[Thought | Words], text: str, at: float) -> None:
        if self._pieces and self._kind is not kind:
            self._close(at)
        if not self._pieces:
            self._kind, self._since = kind, at
        self._pieces.append(text)

    def _close(self, at: float) -> None:
        text = "".join(self._pieces).strip()
        self._pieces.clear()
        if text:
            self.entries.append(Words(text) if self._kind is Words else Thought(text, at - self._since))
