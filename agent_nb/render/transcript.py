"""The transcript of a run: the rows that its events add up to."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar, assert_never

import agent_nb.events as ev
from agent_nb._base.secrets import mask_json
from agent_nb._base.text import from_difference
from agent_nb._base.wire import Json
from agent_nb.messages import AS_TEXT, Message, Source, ToolResult
from agent_nb.render.rows import (
    ImagesRow,
    LineRow,
    Row,
    SourcesRow,
    State,
    TextRow,
    ThinkingRow,
    ToolRow,
)
from agent_nb.render.summary import COMPACTED, compaction, image_labels

R = TypeVar("R", bound=Row)


def transcript(events: Iterable[ev.Event]) -> tuple[Row, ...]:
    """The rows of a run; of an attempt that was withdrawn, only the retry is left."""
    growing = Transcript()
    for event in events:
        growing.add(event)
    return tuple(growing.rows)


class Transcript:
    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._turn = 0
        self._fragments: list[str] = []
        self._kind: type[TextRow | ThinkingRow] = TextRow
        self._since = 0.0

    def add(self, event: ev.Event) -> LineRow | None:
        """Takes in the next event. Returns the line that it completed, for views that print lines as they come."""
        match event:
            case ev.FileDelta() | ev.ToolArgsDelta() | ev.UsageUpdated():
                pass
            case ev.TextDelta(text=text, at=at):
                self._stream(TextRow, text, at)
            case ev.ThinkingDelta(text=text, at=at):
                self._stream(ThinkingRow, text, at)
            case ev.RunStarted(images=images) if images:
                labels = ", ".join(image_labels(images))
                return self._append(ImagesRow(turn=0, title="Images", detail=labels, images=images), event.at)
            case ev.TurnStarted(step=step, at=at):
                self._end_stream(at)
                self._turn = step
            case ev.TurnRetrying(why=why, at=at):
                self._end_stream(at)
                self._withdraw()
                return self._append(LineRow(turn=self._turn, title="Retry", detail=why, state="retry"), at)
            case ev.ConversationCompacted(at=at):
                title, detail = COMPACTED[event.why], compaction(event)
                return self._append(LineRow(turn=self._turn, title=title, detail=detail), at)
            case ev.TurnFinished(at=at) | ev.RunFinished(at=at):
                self._end_stream(at)
            case ev.MessageAdded(message=message, at=at):
                self._add_message(message, at)
            case ev.RunStarted():
                pass
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
                executed = {} if event.executed is None else {"args": event.executed}
                self._change(call_id, note=note, decision=_decision(event), **executed)
            case ev.FileChanged(call_id=call_id, path=path, action=action):
                self._change(call_id, path=path, action=action)
            case ev.ToolFinished(
                call_id=call_id, summary=summary, hint=hint, seconds=seconds, outputs=outputs
            ):
                result = {"detail": summary, "hint": hint, "seconds": seconds, "outputs": outputs}
                return self._change(call_id, state=state_of(event), **result)
            case ev.ToolProgress() | ev.ApprovalRequested():
                pass
            case _:
                assert_never(event)
        return None

    def _append(self, row: R, at: float) -> R:
        self._end_stream(at)
        self.rows.append(row)
        return row

    def _change(self, call_id: str | None, **changes: Any) -> ToolRow | None:
        for index in reversed(range(len(self.rows))):
            row = self.rows[index]
            if isinstance(row, ToolRow) and row.call_id == call_id:
                self.rows[index] = changed = replace(row, **changes)
                return changed
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
        # The results of a turn are in the order in which its calls started.
        calls = [
            row.call_id
            for row in self.rows
            if isinstance(row, ToolRow) and row.turn == self._turn and row.detail != AS_TEXT
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


_APPROVED: dict[ev.Decider, str] = {
    "person": "approved by you",
    "always": "approved by your earlier “always”",
    "run": "allowed by you for this run",
    "function": "approved by a function",
}


def _decision(answer: ev.ApprovalResolved) -> str:
    """Who approved the call, and what they changed. The result of a denied call says who denied it."""
    if not answer.approved:
        return ""
    text = _APPROVED.get(answer.by, "approved")
    if answer.proposed is None or answer.executed in (None, answer.proposed):
        return text
    return f"{text} with changes: {changes(answer.proposed, answer.executed or {})}"


def state_of(end: ev.ToolFinished) -> State:
    """A call that was denied, or that the end of the run closed, has not failed."""
    if end.ok:
        return "ok"
    return "denied" if end.code == "DENIED" else "stopped" if end.code == "STOPPED" else "failed"


MOST_CHARACTERS = 400
BEFORE_CHANGE = 60
"""Characters that are quoted before the first difference of two long texts."""
_MISSING = object()


def changes(before: Json, after: Json) -> str:
    """``` `path` from "a" to "b" and `size` from 3 to nothing ```"""
    names = [name for name in {**before, **after} if before.get(name, _MISSING) != after.get(name, _MISSING)]
    return " and ".join(
        f"`{name}` from {_from_to(_text(before, name), _text(after, name))}" for name in names
    )


def _text(args: Json, name: str) -> str:
    if name not in args:
        return "nothing"
    # Masked before it is cut, because half a key would not be recognised.
    return json.dumps(mask_json(args[name]), ensure_ascii=False, sort_keys=True)


def _from_to(before: str, after: str) -> str:
    if max(len(before), len(after)) > MOST_CHARACTERS:
        before, after = from_difference(before, after, MOST_CHARACTERS, BEFORE_CHANGE)
    return f"{before} to {after}"
