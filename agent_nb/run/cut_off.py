"""Ends a run that was cut off in the middle: a replay that is stopped, and what a killed kernel left of a run."""

from collections.abc import Callable, Iterable
from itertools import chain, repeat
from typing import Any

import agent_nb.core.events as ev
from agent_nb._base.wire import Json
from agent_nb.core.event_list import EventList, last_turn
from agent_nb.core.messages import Message, ToolResult, Usage
from agent_nb.files import Files, Workspace

NOT_RUN = "Not run: the run ended first."
_LOST = "The result is lost: the run ended first."


def cut_summary(call_id: str, events: EventList, files: Files) -> str:
    """What a call has left that the end of the run cut off."""
    paths = [event.path for event in events.of(ev.FileDelta) if event.call_id == call_id]
    if not paths:
        return NOT_RUN
    # The model may not have named it yet, or `./index.html`.
    path = paths[-1] if paths[-1] in files else next(iter(files.unfinished), "")
    return f"Cut off at {files.size_text(path)}." if path in files.unfinished else "Cut off, not kept."


class CutOff:
    """The end of a run with these events so far. `publish` appends an event to them."""

    def __init__(
        self,
        events: EventList,
        files: Files,
        messages: Iterable[Message],
        publish: Callable[[ev.Event], object],
    ) -> None:
        self._events, self._publish = events, publish
        self.messages = [*messages]
        self.workspace = Workspace(files, lambda change: self._emit(ev.FileChanged, **vars(change)))

    def _emit(self, kind: Any, **fields: Any) -> None:
        last = self._events[-1]
        stamp: Json = {"run_id": last.run_id, "variant": last.variant, "seq": last.seq + 1, "at": last.at}
        self._publish(kind(**stamp, **fields))

    def add(self, message: Message) -> None:
        self.messages.append(message)
        self._emit(ev.MessageAdded, message=message)

    def close_calls(self, parts: Iterable[Any] = ()) -> None:
        """End open calls, and add a result for each call of the last message. `parts` has the known ones."""
        turn = last_turn(self._events)
        resolved = {event.call_id for event in turn.of(ev.ApprovalResolved)}
        for event in turn.of(ev.ApprovalRequested):
            if event.call_id not in resolved:
                self._emit(ev.ApprovalResolved, call_id=event.call_id, approved=False, by="stopped")
        codes = {event.call_id: event.code for event in turn.of(ev.ToolFinished)}
        started = [event.call_id for event in turn.of(ev.ToolStarted)]
        for call_id in started:
            if call_id not in codes:
                summary = cut_summary(call_id, self._events, self.workspace.files)
                self._emit(ev.ToolFinished, call_id=call_id, ok=False, summary=summary, code="STOPPED")
        calls = [call_id for call_id in started if codes.get(call_id) != "NOT_A_CALL"]
        last, results = self.messages[-1] if self.messages else None, []
        for call, call_id, part in zip(
            last.tool_calls if last else (), calls, chain(parts, repeat(None)), strict=False
        ):
            text = _LOST if call_id in codes else NOT_RUN
            no_result = ToolResult(call_id=call.id, name=call.name, text=text, code="STOPPED")
            results.append(part if call_id in codes and isinstance(part, ToolResult) else no_result)
        if results:
            self.add(Message(role="tool", parts=tuple(results)))

    def end(self, reason: ev.Reason, cost: float | None, error: str | None = None) -> Json:
        """Emit the last event; return its fields. `cost` is for a run of which none is known."""
        updates = [*self._events.of(ev.UsageUpdated)]
        end: Json = {
            "reason": reason,
            "error": error,
            "usage": updates[-1].usage if updates else Usage(),
            "cost": updates[-1].cost if updates else cost,
            "seconds": self._events[-1].at,
        }
        self._emit(ev.RunFinished, **end)
        return end
