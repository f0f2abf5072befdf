"""The transcript of a run: rows built from its events, which all forms of a run render."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar, assert_never

import agent_nb.core.events as ev
from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.secrets import beginning, mask_json
from agent_nb._base.text import from_difference, on_one_line
from agent_nb._base.wire import Json
from agent_nb.core.events import FileAction, MimeBundle, Thumbnail
from agent_nb.core.messages import Message, Source, ToolResult
from agent_nb.files import human_size
from agent_nb.render.finished_run import FinishedRun
from agent_nb.render.shown import addition

RowState = Literal["info", "ok", "failed", "denied", "stopped", "retry", "warning"]
MAX_TEXT = 30_000
"""Maximum characters of one model text in a cell's output."""
_APPROVED: dict[ev.Decider, str] = {
    "person": "approved by you",
    "always": "approved by your earlier “always”",
    "run": "allowed by you for this run",
    "function": "approved by a function",
}
MOST_CHARACTERS = 400
BEFORE_CHANGE = 60
"""Characters of context before the first difference of two long texts."""
PLAN_MARKS: Mapping[ev.PlanStatus, str] = {"completed": "✓", "in_progress": "▸", "pending": "○"}
_MISSING = object()
_UNFAILED: dict[str, RowState] = {"DENIED": "denied", "STOPPED": "stopped", "NOT_A_CALL": "stopped"}


class RowStyle(NamedTuple):
    icon: str
    tone: str
    """The CSS class that colours the icon, after `anb-`."""
    word: str = ""
    """Prefix of the detail where the icon is not enough."""


ROW_STYLES: dict[RowState, RowStyle] = {
    "info": RowStyle("•", "dim"),
    "ok": RowStyle("✓", "ok"),
    "failed": RowStyle("✗", "err", "failed"),
    "denied": RowStyle("⊘", "dim", "denied"),
    "stopped": RowStyle("■", "dim"),
    "retry": RowStyle("↻", "warn"),
    "warning": RowStyle("!", "warn"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseRow:
    turn: int
    """The row's turn, from 1; 0 before the first. A retry removes the rows of its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow(BaseRow):
    text: str
    marks: Mapping[int, str] = field(default_factory=dict)
    """The numbers of an answer that nothing computed, by offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingRow(BaseRow):
    text: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesRow(BaseRow):
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRow(BaseRow):
    title: str
    detail: str = ""
    state: RowState = "info"

    @property
    def outcome(self) -> str:
        """The detail, prefixed with the state if needed: `failed: There is no file "a.css".`"""
        return ": ".join(filter(None, (ROW_STYLES[self.state].word, self.detail)))

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines below it."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNoteRow(LineRow):
    """A warning that belongs to the answer below it."""

    state: RowState = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagesRow(LineRow):
    images: tuple[Thumbnail, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow(LineRow):
    entries: tuple[ev.PlanEntry, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(f"{PLAN_MARKS[entry.status]} {on_one_line(entry.text)}" for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow(LineRow):
    """A tool call; the detail is the result's summary."""

    call_id: str
    state: RowState = "stopped"
    hint: str = ""
    seconds: float = 0.0
    args: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[MimeBundle, ...] = ()
    result: str = ""
    path: str = ""
    action: FileAction | None = None
    note: str = ""
    """The user's message to the model when asked for approval."""
    decision: str = ""
    """Who approved the call, and what they changed; empty without approval or if the detail contains it."""
    is_question: bool = False
    """Whether it asked the user a question: the detail is then the answer."""
    is_call: bool = True
    """False for a call that turned out to be part of a text."""

    @property
    def code(self) -> str:
        code = self.args.get("code")
        return code if isinstance(code, str) else ""

    @property
    def lines(self) -> tuple[str, ...]:
        """What its code changed in the notebook."""
        texts = (str(output.get("text/plain", "")) for output in self.outputs if NAMES_TYPE in output)
        return tuple(on_one_line(line) for text in texts for line in text.splitlines() if line)

    @property
    def remarks(self) -> str:
        if self.is_question:
            return ""
        note = f"note to the model: “{self.note}”" if self.note and self.state != "stopped" else ""
        return "; ".join(filter(None, (self.decision, note)))


Row = TextRow | ThinkingRow | SourcesRow | LineRow


def names_left(rows: Iterable[Row]) -> dict[str, str]:
    """Describe the variables that a run's code set in the notebook: `pandas.DataFrame, 12 rows x 3 columns`."""
    kinds: dict[str, str] = {}
    for row in rows:
        for names in (output.get(NAMES_TYPE, {}) for output in getattr(row, "outputs", ())):
            for name in (*names.get("deleted", ()), *names.get("kinds", {})):
                kinds.pop(name, None)
            kinds |= names.get("kinds", {})
    return kinds


def shortened(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """Truncate long texts in the rows and add the expression for the full text."""
    for row in rows:
        match row:
            case TextRow(text=text):
                yield replace(row, text=shortened_text(text, f"{name}.text"))
            case ThinkingRow(text=text):
                yield replace(row, text=shortened_text(text, f"{name}.thinking"))
            case _:
                yield row


def shortened_text(text: str, expression: str) -> str:
    """Truncate Markdown after a complete line and append how much was omitted."""
    if len(text) <= MAX_TEXT:
        return text
    start = beginning(text, MAX_TEXT)
    start = start[: start.rfind("\n", MAX_TEXT // 2)].rstrip() if "\n" in start[MAX_TEXT // 2 :] else start
    fence = "\n```" if len(re.findall(r"^ *```", start, re.MULTILINE)) % 2 else ""
    return f"{start}{fence}\n\n… {human_size(len(text) - len(start))} more: `{expression}`"


def whole_outcome(row: LineRow) -> str:
    """Return the outcome and who approved the call: `ran ls (approved by you)`."""
    remarks = row.remarks if isinstance(row, ToolRow) else ""
    return " ".join(filter(None, (row.outcome, f"({remarks})" if remarks else "")))


def line_text(row: LineRow) -> str:
    """Format on one line: `✓ create index.html: 2.1 kB, 80 lines`."""
    text = f"{ROW_STYLES[row.state].icon} {row.title}" + (f": {text}" if (text := whole_outcome(row)) else "")
    return on_one_line(text)


def image_labels(images: Iterable[Thumbnail]) -> list[str]:
    """Return `shot.png (640 x 400)` for each image, `image 2 (640 x 400)` if unnamed, `a.pdf (1.2 MB)` for a PDF."""
    return [
        f"{image.name or f'image {number}'}"
        f" ({human_size(image.size) if image.size else f'{image.width} x {image.height}'})"
        for number, image in enumerate(images, 1)
    ]


R = TypeVar("R", bound=Row)


def transcript(events: Iterable[ev.Event]) -> tuple[Row, ...]:
    """Return the rows of a run; a failed attempt of a turn is replaced by a row that says why it was retried."""
    growing = Transcript()
    for event in events:
        growing.add(event)
    return tuple(growing.rows)


def rows_of(run: FinishedRun) -> tuple[Row, ...]:
    """Return the rows of a finished run, with what features add to its answer and above it."""
    rows, added = list(transcript(run.events)), addition(run)
    index, answer = next(
        ((at, row) for at, row in reversed([*enumerate(rows)]) if isinstance(row, TextRow)), (len(rows), None)
    )
    if answer is not None:
        rows[index] = replace(answer, marks=added.marks)
    turn = answer.turn if answer else 0
    rows[index:index] = [AnswerNoteRow(turn=turn, title=line) for line in added.above]
    return tuple(rows)


class Transcript:
    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._turn = 0
        self._fragments: list[str] = []
        self._kind: type[TextRow | ThinkingRow] = TextRow
        self._since = 0.0

    def add(self, event: ev.Event) -> LineRow | None:
        """Process the next event and return the line that it completed, for views that print line by line."""
        match event:
            case ev.TextDelta(text=text, at=at):
                self._stream(TextRow, text, at)
            case ev.ThinkingDelta(text=text, at=at):
                self._stream(ThinkingRow, text, at)
            case ev.RunStarted(images=images) if images:
                labels = ", ".join(image_labels(images))
                title = "Attached" if any(image.size for image in images) else "Images"
                return self._append(ImagesRow(turn=0, title=title, detail=labels, images=images), event.at)
            case ev.FileDelta() | ev.ToolArgsDelta() | ev.UsageUpdated() | ev.RunStarted():
                pass
            case ev.TurnStarted(step=step, at=at):
                self._end_stream(at)
                self._turn = step
            case ev.TurnRetrying(title=title, why=why, at=at):
                self._end_stream(at)
                self._withdraw()
                return self._append(LineRow(turn=self._turn, title=title, detail=why, state="retry"), at)
            case ev.PlanUpdated():
                return self._plan(event)
            case ev.Note(title=title, detail=detail, at=at):
                return self._append(LineRow(turn=self._turn, title=title, detail=detail), at)
            case ev.TurnFinished(at=at) | ev.RunFinished(at=at):
                self._end_stream(at)
            case ev.MessageAdded(message=message, at=at):
                self._add_message(message, at)
            case _:
                return self._add_call_event(event)
        return None

    def _add_call_event(self, event: ev.CallEvent) -> LineRow | None:
        match event:
            case ev.ToolStarted(call_id=call_id, title=title, at=at):
                self._append(ToolRow(turn=self._turn, call_id=call_id, title=title), at)
            case ev.ToolReady(call_id=call_id, title=title, args=args):
                self._change(call_id, title=title, args=args)
            case ev.ToolRunning(call_id=call_id, title=title):
                self._change(call_id, title=title)
            case ev.ApprovalResolved(call_id=call_id, note=note):
                decided = event.proposed if event.executed is None else event.executed
                changed = {} if decided is None else {"args": decided}
                self._change(call_id, note=note, decision=_decision(event), **changed)
            case ev.FileChanged(call_id=call_id, path=path, action=action):
                self._change(call_id, path=path, action=action)
            case ev.ToolFinished(
                call_id=call_id, summary=summary, hint=hint, seconds=seconds, outputs=outputs
            ):
                result = {"detail": summary, "hint": hint, "seconds": seconds, "outputs": outputs}
                # A call that was denied or not run has not failed.
                state = "ok" if event.ok else _UNFAILED.get(event.code or "", "failed")
                result |= {"state": state, "is_call": event.code != "NOT_A_CALL"}
                return self._change(call_id, **result)
            case ev.ApprovalRequested(call_id=call_id, is_question=is_question):
                self._change(call_id, is_question=is_question)
            case ev.ToolProgress():
                pass
            case _:
                assert_never(event)
        return None

    def _append(self, row: R, at: float) -> R:
        self._end_stream(at)
        self.rows.append(row)
        return row

    def _plan(self, event: ev.PlanUpdated) -> LineRow:
        """Update the row of the first plan; return a row for views that print, without the entries of later plans."""
        row = PlanRow(turn=self._turn, title=event.title, detail=event.detail, entries=event.entries)
        for index, old in enumerate(self.rows):
            if isinstance(old, PlanRow):
                self.rows[index] = replace(row, turn=old.turn)
                return replace(row, entries=())
        return self._append(row, event.at)

    def _change(self, call_id: str | None, **changes: Any) -> ToolRow | None:
        for index in reversed(range(len(self.rows))):
            row = self.rows[index]
            if isinstance(row, ToolRow) and row.call_id == call_id:
                self.rows[index] = updated = replace(row, **changes)
                return updated
        return None

    def _withdraw(self) -> None:
        self.rows = [
            row
            for row in self.rows
            if row.turn != self._turn or (isinstance(row, LineRow) and not isinstance(row, ToolRow))
        ]

    def _add_message(self, message: Message, at: float) -> None:
        if sources := tuple(part for part in message.parts if isinstance(part, Source)):
            self._append(SourcesRow(turn=self._turn, sources=sources), at)
        # The results of a turn are in the order in which the calls started.
        calls = [
            row.call_id
            for row in self.rows
            if isinstance(row, ToolRow) and row.turn == self._turn and row.is_call
        ]
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        for call_id, result in zip(calls, results, strict=False):
            self._change(call_id, result=result.text)

    def _stream(self, kind: type[TextRow | ThinkingRow], text: str, at: float) -> None:
        if self._fragments and self._kind is not kind:
            self._end_stream(at)
        if not self._fragments:
            self._kind, self._since = kind, at
        self._fragments.append(text)

    @property
    def streamed(self) -> TextRow | ThinkingRow | None:
        text = "".join(self._fragments).strip()
        return self._kind(turn=self._turn, text=text) if text else None

    def _end_stream(self, at: float) -> None:
        row = self.streamed
        self._fragments.clear()
        if isinstance(row, ThinkingRow):
            row = replace(row, seconds=at - self._since)
        if row:
            self.rows.append(row)


def _decision(answer: ev.ApprovalResolved) -> str:
    """Return who approved the call and what they changed. A denied call's result names who denied it."""
    if not answer.approved:
        return ""
    text = _APPROVED.get(answer.by, "approved")
    if answer.proposed is None or answer.executed in (None, answer.proposed):
        return text
    return f"{text} with changes: {changes(answer.proposed, answer.executed or {})}"


def changes(before: Json, after: Json) -> str:
    """Format as ``` `path` from "a" to "b" and `size` from 3 to nothing ```."""
    texts = []
    for name in {**before, **after}:
        if before.get(name, _MISSING) != after.get(name, _MISSING):
            old, new = _text(before, name), _text(after, name)
            if max(len(old), len(new)) > MOST_CHARACTERS:
                old, new = from_difference(old, new, MOST_CHARACTERS, BEFORE_CHANGE)
            texts.append(f"`{name}` from {old} to {new}")
    return " and ".join(texts)


def _text(args: Json, name: str) -> str:
    if name not in args:
        return "nothing"
    # Masked before it is cut, because half a key would not be recognised.
    return json.dumps(mask_json(args[name]), ensure_ascii=False, sort_keys=True)
