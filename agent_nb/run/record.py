"""The fields of a run and the values computed from them. `Run` adds methods that use other modules."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from typing import Any

import agent_nb.core.events as ev
from agent_nb._base.constants import is_demo
from agent_nb._base.wire import Json
from agent_nb.core.annotations import Annotation
from agent_nb.core.event_list import EventList
from agent_nb.core.messages import Message, Thinking, ToolResult, ToolSpec, ToolUse, Usage
from agent_nb.core.run_settings import ANSWER_TOOL, READING_TOOLS, had_data
from agent_nb.files import Files, lost_files
from agent_nb.files.cell_changes import CellChange, ChangeDecision, changes_in
from agent_nb.pages.page_check import PageCheck, PageConsole, checks_in, console_of
from agent_nb.render.answer_numbers import AnswerNumber, unsupported_in
from agent_nb.run.supported_numbers import AnswerSources, TracedNumber, numbers_of
from agent_nb.tools.toolbox import BUILT_IN_NAMES


@dataclass(frozen=True, kw_only=True, repr=False)
class RunRecord:
    """The data of a finished run."""

    id: str
    prompt: str
    model: str
    reason: ev.Reason
    files: Files
    messages: tuple[Message, ...]
    """The whole conversation including earlier runs, without the system text, as last sent."""
    events: EventList
    """All events in order; `events.of(ToolFinished)` returns those of one class."""
    usage: Usage
    cost: float | None
    """US dollars; None if the model's price is unknown."""
    seconds: float
    error: str | None = None
    name: str = "run"
    key: str = ""
    """Identifies its output: the name and a hash of the request."""
    settings: Json = field(default_factory=dict)
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    """The tools that the model was offered."""
    history: int = 0
    """Number of `messages` from before this run."""
    replaced: tuple[tuple[Message, ...], ...] = ()
    """Conversations sent by earlier turns of this run, one per compaction."""
    given_files: Files | None = None
    """The run's original files, if they were changed with `with_files` since."""
    failed_check: str = ""
    """The `--check` that failed, with its actual values: `len(files) > 1: len(files) is 1`."""
    annotations: tuple[Annotation, ...] = ()
    """Notes and questions for readers of a replay, for all variants."""
    decided: dict[str, ChangeDecision] = field(default_factory=dict)
    """What the user has accepted or refused of `changes`, by their ids, for all variants."""
    ended_at: str = ""
    """End time, in the format of `settings["started"]`."""
    fingerprint: Json = field(default_factory=dict)
    """Identifies the request: `yours` must match for a replay, `ours` describes this release."""
    variants: tuple["RunRecord", ...] = ()
    """All variants of the run, if there were several."""

    def __post_init__(self) -> None:
        events: Sequence[ev.Event] = self.events
        if not isinstance(events, EventList):
            object.__setattr__(self, "events", EventList(events))

    @property
    def original_files(self) -> Files:
        """The files as the run left them, without later changes by `with_files`."""
        return self.files if self.given_files is None else self.given_files

    @property
    def started(self) -> datetime | None:
        """Start time in UTC. A replay has the date of its recording; None for the demo."""
        return _date(self.settings.get("started"))

    @property
    def ended(self) -> datetime | None:
        """End time in UTC; None for the demo."""
        return _date(self.ended_at)

    @property
    def html(self) -> str | None:
        """The page: `index.html`, or else the first HTML file."""
        page = self.files.get(self.files.entry) if self.files.entry else None
        return page if isinstance(page, str) else None

    @cached_property
    def unfinished(self) -> dict[str, str]:
        """Unfinished files that are not in `files`: text by path.

        `hero.with_files(hero.unfinished)` keeps it.
        """
        return lost_files(self.events, self.files)

    @property
    def own_messages(self) -> tuple[Message, ...]:
        """The messages of this run alone. Compaction does not change them, unlike `messages`."""
        messages = self.messages[self.history :]
        if next(self.events.of(ev.ConversationCompacted), None) is None:
            return messages
        return (*messages[:1], *(event.message for event in self.events.of(ev.MessageAdded)))

    @cached_property
    def text(self) -> str:
        """The model's last text."""
        answers = (message.text for message in reversed(self.own_messages) if message.role == "assistant")
        return unfinished_text(self.events) or next(filter(None, answers), "")

    @cached_property
    def plain_answer(self) -> Any:
        """The answer of a run whose answer has a type, as JSON; None if there is none."""
        return next((event.answer for event in self.events.of(ev.RunFinished)), None)

    @cached_property
    def values(self) -> Json:
        """The values of features at the end of the run, by their names."""
        return next((event.values for event in self.events.of(ev.RunFinished)), {})

    @cached_property
    def thinking(self) -> str:
        """The model's visible thinking."""
        parts = [part for message in self.own_messages for part in message.parts]
        texts = [part.text for part in parts if isinstance(part, Thinking)]
        return "\n\n".join(filter(None, [*texts, unfinished_text(self.events, ev.ThinkingDelta)]))

    @property
    def _call_ids(self) -> list[str]:
        """Event ids of the calls in `tool_uses`."""
        counts: dict[str, int] = {}
        calls = (call for message in self.own_messages for call in message.tool_calls)
        return [unique_call_id(call.id, counts) for call in calls]

    @cached_property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """Each tool call with its result, in call order."""
        titles = {event.call_id: event.title for event in self.events.of(ev.ToolStarted, ev.ToolReady)}
        ends = {event.call_id: event for event in self.events.of(ev.ToolFinished)}
        results = [p for message in self.own_messages for p in message.parts if isinstance(p, ToolResult)]
        calls = [call for message in self.own_messages for call in message.tool_calls]
        uses = []
        for index, (call, event_id) in enumerate(zip(calls, self._call_ids, strict=True)):
            end = ends.get(event_id)
            uses.append(
                ToolUse(
                    call=call,
                    result=results[index] if index < len(results) else None,
                    ok=bool(end and end.ok),
                    seconds=end.seconds if end else 0.0,
                    title=titles.get(event_id, call.name),
                    summary=end.summary if end else "",
                )
            )
        return tuple(uses)

    @cached_property
    def checks(self) -> tuple[PageCheck, ...]:
        """The model's page checks: screenshots, console, problems."""
        return tuple(check for end in self.events.of(ev.ToolFinished) for check in checks_in(end.outputs))

    @cached_property
    def changes(self) -> tuple[CellChange, ...]:
        """The changes to cells of the notebook that the run offers, as the notebook gets them, with secrets masked."""
        return changes_in(self.events)

    @cached_property
    def traced_numbers(self) -> tuple[TracedNumber, ...]:
        """Numbers in the text, then in an answer with a type, each with the value that supports it."""
        sources = AnswerSources(
            events=self.events,
            earlier=(*chain.from_iterable(self.replaced), *self.messages[: self.history]),
            own=self.own_messages,
            call_ids=self._call_ids,
            had_data=had_data(self.settings),
            typed=self.plain_answer,
            is_demo=is_demo(self.model),
        )
        return numbers_of(self.text, sources)

    @cached_property
    def answer_numbers(self) -> tuple[AnswerNumber, ...]:
        """The numbers that do not come from the prompt: supported by an output of the run, or unsupported."""
        return tuple(
            AnswerNumber(start=each.start, text=each.text, call_id=each.source or "", path=each.path)
            for each in self.traced_numbers
            if each.source != ""
        )

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Numbers in the answer that appear in no output of the run, its prompt or the runs it continues.

        Empty for a run without data whose code has printed nothing.
        """
        return unsupported_in(self.answer_numbers)

    @property
    def ran_code(self) -> bool:
        """Whether code ran: Python, a tool of the user's own or of a server, or a command of an outside agent."""
        return bool(self.code_calls)

    @property
    def code_calls(self) -> set[str]:
        """The ids of the calls that ran code."""
        offered = {*(tool.name for tool in self.tools), *self.settings.get("tools", ())}
        tools = offered - READING_TOOLS - BUILT_IN_NAMES
        tools -= {ANSWER_TOOL} if self.settings.get("answer") else set()
        calls = {event.call_id for event in self.events.of(ev.ToolStarted) if event.name in tools}
        calls |= {event.call_id for event in self.events.of(ev.ToolReady) if "command" in event.args}
        started = {event.call_id for event in self.events.of(ev.ToolRunning)}
        return calls & started.union(end.call_id for end in self.events.of(ev.ToolFinished) if end.ok)

    @property
    def console(self) -> PageConsole:
        """The page's console messages in the preview, by number: `hero.console[3]`. Only kept in this kernel."""
        return console_of(self.id, self.variant)

    @property
    def variant(self) -> int:
        """Its index among the variants, from 0."""
        return self.events[0].variant if self.events else 0


def _date(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if text else None
    except ValueError:  # from a file edited by hand
        return None


def unfinished_text(
    events: Sequence[ev.Event], kind: type[ev.TextDelta | ev.ThinkingDelta] = ev.TextDelta
) -> str:
    """The model's text or thinking in an interrupted turn; empty if its message is complete or was retried."""
    texts = []
    for event in reversed(events):
        if isinstance(event, kind):
            texts.append(event.text)
        elif isinstance(event, ev.MessageAdded) and kind is ev.ThinkingDelta:
            # The message of an unfinished text lacks its thinking, which has no signature.
            if any(isinstance(part, Thinking) for part in event.message.parts):
                break
        elif isinstance(event, ev.MessageAdded | ev.TurnStarted | ev.TurnRetrying):
            break
    text = "".join(reversed(texts))
    return text if text.strip() else ""  # vendors refuse blank texts


def all_events(run: RunRecord) -> EventList:
    if not run.variants:
        return run.events
    return EventList(heapq.merge(*(variant.events for variant in run.variants), key=lambda event: event.at))


def unique_call_id(call_id: str, counts: dict[str, int]) -> str:
    """The event id of a call. Some vendors reuse call ids in every turn."""
    count = counts[call_id] = counts.get(call_id, 0) + 1
    if count == 1:
        return call_id
    numbered = f"{call_id}#{count}"
    # A vendor may already use that id.
    return unique_call_id(call_id if numbered in counts else numbered, counts)
