"""Ends a run that was cut off in the middle: one that is stopped, a replay, and what a killed kernel left of a run."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain, repeat, takewhile
from typing import Any

import agent_nb.core.events as ev
from agent_nb._base.wire import Json
from agent_nb.core.errors import FileError
from agent_nb.core.event_list import EventList, last_turn
from agent_nb.core.messages import Message, ToolResult, Usage, assistant
from agent_nb.files import Files, Workspace, unfinished_files
from agent_nb.run.record import unfinished_text

ENTRY = "index.html"
NOT_RUN = "Not run: the run ended first."
_LOST = "The result is lost: the run ended first."
_FENCED_PAGE = re.compile(r"```(?:html|HTML)[^\n`]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_BARE_PAGE = re.compile(r"<!doctype html.*?(?:</html>|\Z)|<html.*?(?:</html>|\Z)", re.DOTALL | re.IGNORECASE)
_JSON_VALUE = re.compile(r'"\s*:\s*"((?:[^"\\]|\\.)*+)', re.DOTALL)


def page_in(text: str) -> str | None:
    """The HTML page in a text (fenced, bare, or inside a JSON string), or None."""
    fenced_page = _FENCED_PAGE.search(text)
    if fenced_page and "<" in fenced_page[1]:
        return fenced_page[1].strip()
    page = _BARE_PAGE.search(text)
    if page is None:
        return None
    values = takewhile(lambda value: value.start() < page.start(), _JSON_VALUE.finditer(text))
    enclosing = [value[1] for value in values if page.start() < value.end()]
    return _page_in_json(enclosing[0]) if enclosing else page[0].strip()


def _page_in_json(characters: str) -> str | None:
    try:
        return page_in(json.loads(f'"{characters}"', strict=False))
    except ValueError:
        return None


def keep_unfinished(
    events: Sequence[ev.Event],
    messages: Sequence[Message],
    add: Callable[[Message], None],
    files: Workspace,
    *,
    could_write: bool,
) -> None:
    """Keep what the model had written when the run ended: text as a message, which `add` appends, and files.

    Without unfinished files, the page in the answer is kept, unless there are files and the model `could_write` them.
    """
    if text := unfinished_text(events):
        add(assistant(text))
    answer = messages[-1].text if messages and messages[-1].role == "assistant" else ""
    stops = [event.stop for event in events if isinstance(event, ev.TurnFinished)]
    is_cut = bool(text) or stops[-1:] == ["max_tokens"]
    cut_files = unfinished_files(events, files.files)
    contents = {path: content for path, content in cut_files.items() if path not in files.files}
    if not contents and not (files.files and could_write) and (page := page_in(answer)):
        contents = {ENTRY: page}
    for path, content in contents.items():
        is_open = is_cut and answer.rstrip().endswith(content) and not content.lower().endswith("</html>")
        with suppress(FileError):
            (files.write_unfinished if is_open or path in cut_files else files.write)(path, content)


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
        self._events, self._publish, self._messages = events, publish, [*messages]
        self._workspace = Workspace(files, lambda change: self._emit(ev.FileChanged, **vars(change)))

    def close(self, parts: Iterable[Any] = (), *, could_write: bool = True) -> None:
        """Keep what the model had written, and end its last calls, each with a result; `parts` has the known ones."""
        keep_unfinished(self._events, self._messages, self._add, self._workspace, could_write=could_write)
        turn = last_turn(self._events)
        resolved = {event.call_id for event in turn.of(ev.ApprovalResolved)}
        for event in turn.of(ev.ApprovalRequested):
            if event.call_id not in resolved:
                self._emit(ev.ApprovalResolved, call_id=event.call_id, approved=False, by="stopped")
        codes = {event.call_id: event.code for event in turn.of(ev.ToolFinished)}
        started = [event.call_id for event in turn.of(ev.ToolStarted)]
        for call_id in started:
            if call_id not in codes:
                summary = cut_summary(call_id, self._events, self._workspace.files)
                self._emit(ev.ToolFinished, call_id=call_id, ok=False, summary=summary, code="STOPPED")
        ids = [call_id for call_id in started if codes.get(call_id) != "NOT_A_CALL"]
        calls = self._messages[-1].tool_calls if self._messages else ()
        results = []
        for call, call_id, part in zip(calls, ids, chain(parts, repeat(None)), strict=False):
            text = _LOST if call_id in codes else NOT_RUN
            no_result = ToolResult(call_id=call.id, name=call.name, text=text, code="STOPPED")
            results.append(part if call_id in codes and isinstance(part, ToolResult) else no_result)
        if results:
            self._add(Message(role="tool", parts=tuple(results)))

    def end(self, reason: ev.Reason, cost: float | None, error: str | None = None) -> Json:
        """Emit the last event; return the fields of the run that follow. `cost` is for a run of which none is known."""
        updates = [*self._events.of(ev.UsageUpdated)]
        end: Json = {
            "reason": reason,
            "error": error,
            "usage": updates[-1].usage if updates else Usage(),
            "cost": updates[-1].cost if updates else cost,
            "seconds": self._events[-1].at,
        }
        self._emit(ev.RunFinished, **end)
        return {**end, "files": self._workspace.files, "messages": tuple(self._messages)}

    def _emit(self, kind: Any, **fields: Any) -> None:
        last = self._events[-1]
        stamp: Json = {"run_id": last.run_id, "variant": last.variant, "seq": last.seq + 1, "at": last.at}
        self._publish(kind(**stamp, **fields))

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        self._emit(ev.MessageAdded, message=message)
