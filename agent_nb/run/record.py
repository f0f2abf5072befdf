"""The fields of a run, and what follows from them alone.

`Run` adds what other modules make of them.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

import agent_nb.events as ev
from agent_nb._base.wire import Json
from agent_nb.event_list import EventList
from agent_nb.files import Files, lost_files
from agent_nb.looking.page_check import PageCheck, PageConsole, checks_in, console_of
from agent_nb.messages import Message, Thinking, ToolResult, ToolSpec, ToolUse, Usage
from agent_nb.run.annotations import Annotation
from agent_nb.run.supported_numbers import AnswerNumber, answer_numbers


@dataclass(frozen=True, kw_only=True, repr=False)
class RunRecord:
    """What a run left behind."""

    id: str
    prompt: str
    model: str
    reason: ev.Reason
    files: Files
    messages: tuple[Message, ...]
    """The whole conversation with that of earlier runs, without the system text, as it was last sent."""
    events: EventList
    """What happened, in order; `events.of(ToolFinished)` has the events of one class."""
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
    """How many of `messages` are from before this run."""
    replaced: tuple[tuple[Message, ...], ...] = ()
    """What earlier turns of this run had sent before the conversation was compacted, once for each time."""
    given_files: Files | None = None
    """The files as the run left them, if they have been changed with `with_files` since."""
    failed_check: str = ""
    """The `--check` that failed, and what was seen: `len(files) > 1: len(files) is 1`."""
    annotations: tuple[Annotation, ...] = ()
    """Notes and questions for those who replay the run, of all variants."""
    ended_at: str = ""
    """When it ended, as `settings["started"]` says when it began."""
    fingerprint: Json = field(default_factory=dict)
    """What identifies its request: `yours` must match for a replay, `ours` is what this release adds."""
    variants: tuple["RunRecord", ...] = ()
    """All variants of the run, if there were several."""

    def __post_init__(self) -> None:
        events: Sequence[ev.Event] = self.events
        if not isinstance(events, EventList):
            object.__setattr__(self, "events", EventList(events))

    @property
    def started(self) -> datetime | None:
        """When the run began, in UTC. A replay has the date of its recording; the demo has none."""
        return _date(self.settings.get("started"))

    @property
    def ended(self) -> datetime | None:
        """When the run ended, in UTC; None as for `started`."""
        return _date(self.ended_at)

    @property
    def html(self) -> str | None:
        """The page: `index.html`, or else the first HTML file."""
        page = self.files.get(self.files.entry) if self.files.entry else None
        return page if isinstance(page, str) else None

    @cached_property
    def unfinished(self) -> dict[str, str]:
        """What the model was still writing when the run ended and `files` does not have: text by path.

        `hero.with_files(hero.unfinished)` keeps it.
        """
        return lost_files(self.events, self.files)

    @property
    def own_messages(self) -> tuple[Message, ...]:
        """The messages of this run, without those from before it. Compaction changes `messages`, but not these."""
        own = self.messages[self.history :]
        if next(self.events.of(ev.ConversationCompacted), None) is None:
            return own
        return (*own[:1], *(event.message for event in self.events.of(ev.MessageAdded)))

    @cached_property
    def text(self) -> str:
        """The last text of the model."""
        texts = [
            message.text for message in self.own_messages if message.role == "assistant" and message.text
        ]
        return texts[-1] if texts else ""

    @cached_property
    def thinking(self) -> str:
        """The thinking that the model has shown."""
        parts = [part for message in self.own_messages for part in message.parts]
        return "\n\n".join(part.text for part in parts if isinstance(part, Thinking))

    @property
    def _call_ids(self) -> list[str]:
        """The ids that the calls of `tool_uses` have in events."""
        seen: dict[str, int] = {}
        calls = (call for message in self.own_messages for call in message.tool_calls)
        return [unique_call_id(call.id, seen) for call in calls]

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
        """What the model saw each time it looked at the page: screenshots, console, problems."""
        return tuple(check for end in self.events.of(ev.ToolFinished) for check in checks_in(end.outputs))

    @cached_property
    def answer_numbers(self) -> tuple[AnswerNumber, ...]:
        """The numbers in the answer that an output of the run has, or that nothing has, in order."""
        return answer_numbers(self, self._call_ids)

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Numbers in the answer that no output of the run has, nor its prompt, nor the runs it continues.

        Empty for a run whose code has printed nothing.
        """
        return tuple(dict.fromkeys(number.text for number in self.answer_numbers if not number.call_id))

    @property
    def console(self) -> PageConsole:
        """What its page has logged in the preview, by number: `hero.console[3]`. Kept in this kernel alone."""
        return console_of(self.id, self.variant)

    @property
    def variant(self) -> int:
        """Its index among the variants, from 0."""
        return self.events[0].variant if self.events else 0


def _date(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if text else None
    except ValueError:  # of a file that somebody has edited
        return None


def all_events(run: RunRecord) -> EventList:
    if not run.variants:
        return run.events
    return EventList(heapq.merge(*(variant.events for variant in run.variants), key=lambda event: event.at))


def unique_call_id(call_id: str, seen: dict[str, int]) -> str:
    """The id of a call in events. Some vendors reuse their call ids in every turn."""
    count = seen[call_id] = seen.get(call_id, 0) + 1
    if count == 1:
        return call_id
    numbered = f"{call_id}#{count}"
    # A vendor may have used that very id.
    return unique_call_id(call_id if numbered in seen else numbered, seen)
