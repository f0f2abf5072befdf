"""Compacts a conversation: notes replace file contents, and a summary replaces older requests.

`Window` holds the conversation of a run and estimates how much of the model's context window it uses. The others are
pure functions of messages. Calls and results stay paired, and a conversation never grows. The model can read a
file again, so nothing that it needs is lost.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_nb._base.secrets import shortened
from agent_nb._base.text import plural
from agent_nb._base.wire import Json, parse_json
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import TurnFinished, WhyCompacted
from agent_nb.core.messages import Message, Part, Text, Thinking, ToolCall, ToolResult, Usage, user
from agent_nb.core.run_settings import RunSettings
from agent_nb.engine.cost import density, estimate_tokens
from agent_nb.engine.run_input import RunInput, attachments_in
from agent_nb.prompts import content_note, prompt_text, summary_entry, summary_heading
from agent_nb.providers.base import VENDOR_DATA
from agent_nb.render.summary import count
from agent_nb.run.run import Run
from agent_nb.tools import Tool, Toolbox

SHORT = 200
"""Texts up to this many characters are never replaced by a note."""
EXCERPT = 300
MOST_ENTRIES = 30
"""Maximum number of requests in a summary: the first, which sets the task, and the latest."""

ROOMY, TIGHT = 0.5, 0.75
"""Shares of the limit. Above the first, more contents are dropped; above the second, older requests as well."""

_TITLES: dict[WhyCompacted, str] = {
    "asked": "Compacted",
    "full": "Context full, compacted",
    "refused": "Too long, compacted",
}

Share = Callable[[Sequence[Message]], float]
"""The share of the limit that a conversation uses; 0 if there is no limit."""
PartIndex = tuple[int, int]
"""The position of a part: message index, part index."""
LARGEST_ANSWER = 128_000
"""Maximum number of tokens reserved for an answer; a third of a small window."""
LEAST_GAIN = 0.1
"""Minimum share of a conversation that compacting must drop, because it invalidates the vendor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A shorter conversation, and the fields of its `ConversationCompacted` event."""

    messages: tuple[Message, ...]
    question: int
    figures: Json


def compact(messages: Sequence[Message], question: int, toolbox: Toolbox, share: Share) -> Compaction:
    """Shorten the conversation so that it fits for several turns; return it unchanged if nothing is gained.

    Drops file contents before the question first, then those after it, except for the last calls, then whole requests
    before the question, oldest first. Thinking and vendor data are always dropped: signatures become invalid once an
    earlier message changes.
    """
    bare = [_without_thinking(message) for message in messages]
    shorter = _without_contents(bare, question, toolbox)
    if share(shorter) > ROOMY:
        answers = (index for index, message in enumerate(messages) if message.role == "assistant")
        shorter = _without_contents(bare, max([question, *answers]), toolbox)
    rewritten = sum(old != new for old, new in zip(messages, shorter, strict=True))
    if messages[-1].role == "tool":
        # Some vendors require signatures on all calls since the last user message.
        shorter.append(user(prompt_text("go_on"), requests=0))
    count = _count_to_summarize(shorter, question, toolbox, share)
    compacted = tuple(_with_summary(shorter, count, toolbox))
    if not _is_shorter(compacted, messages):
        return Compaction(messages=tuple(messages), question=question, figures={})
    figures = {"rewritten": rewritten, "summarized": count}
    return Compaction(messages=compacted, question=question - max(0, count - 1), figures=figures)


def _is_shorter(new: Sequence[Message], old: Sequence[Message]) -> bool:
    return estimate_tokens(new) < estimate_tokens(old)


def _without_thinking(message: Message) -> Message:
    parts = tuple(part for part in message.parts if not isinstance(part, Thinking))
    return replace(message, parts=parts, vendor={})


# File contents


def _without_contents(messages: Sequence[Message], end: int, toolbox: Toolbox) -> list[Message]:
    """The messages, with notes instead of file contents before `end`."""
    reader = next((tool.name for tool in toolbox if tool.reads and tool.repeatable), "")
    parts = [list(message.parts) for message in messages]
    for (row, column), answer in _pairs(messages[:end]).items():
        call = parts[row][column]
        result = parts[answer[0]][answer[1]] if answer else None
        assert isinstance(call, ToolCall)
        assert isinstance(result, ToolResult | None)
        tool = toolbox.get(call.name)
        if tool is None or not (tool.content_arguments or tool.reads):
            continue
        result_versions = result.versions if result else {}
        versions = {path: result_versions.get(path) for path in toolbox.files_of(call)} or {"a file": None}
        note = content_note(versions, tool.name if tool.reads else reader)
        parts[row][column] = _shorter_call(call, tool, note)
        if answer and result:
            parts[answer[0]][answer[1]] = _shorter_result(result, tool, note)
    return [replace(message, parts=tuple(new)) for message, new in zip(messages, parts, strict=True)]


def _pairs(messages: Sequence[Message]) -> dict[PartIndex, PartIndex | None]:
    """Map calls to their results, turn by turn, because vendors reuse call ids."""
    pairs: dict[PartIndex, PartIndex | None] = {}
    open_calls: list[tuple[str, PartIndex]] = []
    for row, message in enumerate(messages):
        if message.role != "tool":
            open_calls = []
        for column, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                pairs[row, column] = None
                open_calls.append((part.id, (row, column)))
            elif isinstance(part, ToolResult):
                call = next((entry for entry in open_calls if entry[0] == part.call_id), None)
                if call:
                    open_calls.remove(call)
                    pairs[call[1]] = row, column
    return pairs


def _shorter_call(call: ToolCall, tool: Tool, note: str) -> ToolCall:
    args = parse_json(call.arguments)
    args = args if isinstance(args, dict) else {}  # the call failed
    shorter = {
        name: _with_notes(value, note) if name in tool.content_arguments else value
        for name, value in args.items()
    }
    arguments = json.dumps(shorter, ensure_ascii=False)
    if len(arguments) >= len(call.arguments) - SHORT // 2:
        return call
    return replace(call, arguments=arguments, shortened=call.shortened or shorter != args)


def _with_notes(value: Any, note: str) -> Any:
    match value:
        case str():
            return note if len(value) > max(SHORT, len(note)) else value
        case list():
            return [_with_notes(item, note) for item in value]
        case dict():
            return {key: _with_notes(item, note) for key, item in value.items()}
        case _:
            return value


def _shorter_result(result: ToolResult, tool: Tool, note: str) -> ToolResult:
    if not result.ok:
        return result
    # The first line of a writing tool's result reports what it did; a diff follows.
    first_line = "" if tool.reads else result.text.partition("\n")[0] + "\n"
    text = f"{first_line}{note}"
    if len(text) >= len(result.text) or len(result.text) <= SHORT:
        text = result.text
    return replace(result, text=text, images=())


# Older requests


def _count_to_summarize(messages: Sequence[Message], question: int, toolbox: Toolbox, share: Share) -> int:
    """The number of messages to replace by a summary: whole requests, as few as possible."""
    ends = [index for index, message in enumerate(messages[: question + 1]) if _is_question(message)]
    count = 0
    for end in (index for index in ends if index > 1):
        if share(_with_summary(messages, count, toolbox)) <= TIGHT:
            break
        count = end
    return count if _is_shorter(_with_summary(messages, count, toolbox), messages) else 0


def _with_summary(messages: Sequence[Message], count: int, toolbox: Toolbox) -> list[Message]:
    return [_summary(messages[:count], toolbox), *messages[count:]] if count else list(messages)


def _is_question(message: Message) -> bool:
    return message.role == "user" and message.requests > 0


def _summary(messages: Sequence[Message], toolbox: Toolbox) -> Message:
    """Summarize messages as one: requests, files, last answers. Images and PDFs stay."""
    entries: list[Text] = []
    for exchange in _exchanges(messages):
        summary = [part for part in exchange[0].parts if isinstance(part, Text) and part.origin == "summary"]
        entries += summary[1:] or [Text(f"\n\n{_entry(exchange, toolbox)}", "summary")]
    if len(entries) > MOST_ENTRIES:
        entries = [entries[0], *entries[1 - MOST_ENTRIES :]]
    requests = sum(message.requests for message in messages if message.role == "user")
    heading = Text(summary_heading(requests), "summary")
    return user(heading, *entries, *attachments_in(messages), requests=requests)


def _exchanges(messages: Sequence[Message]) -> list[list[Message]]:
    exchanges: list[list[Message]] = []
    for message in messages:
        if _is_question(message) or not exchanges:
            exchanges.append([])
        exchanges[-1].append(message)
    return exchanges


def _entry(exchange: Sequence[Message], toolbox: Toolbox) -> str:
    prompt = next((part.text for part in exchange[0].parts if isinstance(part, Text)), "")
    answers = [message.text for message in exchange if message.role == "assistant" and message.text.strip()]
    labels: dict[str, str] = {}
    for result in (part for message in exchange for part in message.parts if isinstance(part, ToolResult)):
        tool = toolbox.get(result.name)
        if tool and not tool.reads:
            labels |= {path: f"{path} (version {number})" for path, number in result.versions.items()}
    return summary_entry(_excerpt(prompt), list(labels.values()), _excerpt(answers[-1]) if answers else "")


def _excerpt(text: str) -> str:
    return shortened(" ".join(text.split()), EXCERPT)


class Window:
    """The messages of a run. They only grow, unless they are compacted or a vendor refuses a part."""

    def __init__(self, run_input: RunInput, settings: RunSettings, toolbox: Toolbox, system: str) -> None:
        self._settings, self._toolbox = settings, toolbox
        self.messages: list[Message] = [*run_input.history, run_input.question]
        self.question = len(run_input.history)
        self.replaced: list[tuple[Message, ...]] = []
        """Earlier versions of the messages, before each compaction, oldest first."""
        self.without: frozenset[str] = frozenset()
        self.size = settings.window
        self._has_sent = False
        self._density = _base_density(run_input.base)
        self._fixed = estimate_tokens((), system, toolbox.specs)

    def add_to_question(self, parts: Sequence[Part]) -> None:
        """Add parts to the question. Call it before the first turn."""
        question = self.messages[self.question]
        self.messages[self.question] = replace(question, parts=(*question.parts, *parts))

    def leave_out(self, part: str) -> None:
        """Drop a part that the vendor refused: a parameter, or its own data on earlier messages."""
        if part == VENDOR_DATA:
            self.messages[:] = [replace(message, vendor={}) for message in self.messages]
        else:
            self.without |= {part}

    def counted(self, usage: Usage) -> None:
        self._has_sent = True
        if usage.input:
            self._density = density(usage.input, self._fixed + estimate_tokens(self.messages))

    def before_turn(self, number: int) -> Compaction | None:
        """The compaction to apply before a turn, because it was requested or the messages would not fit."""
        if self.messages[-1].role == "assistant":
            return None  # the turn continues an unfinished answer
        limit = room_in(self.size)
        if self._settings.compact and number == 1:
            return self.shortened("asked", limit)
        if limit is None or self._tokens(self.messages) <= limit:
            return None
        compaction = self.shortened("full", limit)
        gains = compaction and compaction.figures["after"] <= (1 - LEAST_GAIN) * compaction.figures["before"]
        return compaction if gains else None

    def after_refusal(self, error: ProviderError, *, again: bool) -> Compaction | None:
        """The compaction to apply after the vendor refused the messages as too long; None after other errors."""
        if not error.too_long:
            return None
        tokens = self._tokens(self.messages)
        limit = room_in(error.window or self.size)
        compaction = None if again else self.shortened("refused", min(limit or tokens, tokens))
        if compaction is None:
            detail = " Earlier parts of it have been left out already." if again else ""
            raise ProviderError(f"{error}{detail}") from None
        return compaction

    def shortened(self, why: WhyCompacted, limit: int | None) -> Compaction | None:
        """Compact well below the limit if possible, to leave room for more turns; None if nothing can be dropped."""
        before, most = self._tokens(self.messages), limit or math.inf

        def share(messages: Sequence[Message]) -> float:
            return self._tokens(messages) / most

        compaction = compact(self.messages, self.question, self._toolbox, share)
        after = self._tokens(compaction.messages)
        if after >= before:
            return None
        figures = {"why": why, "limit": limit, "before": before, "after": after, **compaction.figures}
        words = {"title": _TITLES[why], "detail": _detail(figures)}
        return replace(compaction, figures={**figures, **words})

    def replace(self, compaction: Compaction) -> None:
        if self._has_sent:
            self.replaced.append(tuple(self.messages))
        self.messages[:] = compaction.messages
        self.question = compaction.question

    def _tokens(self, messages: Sequence[Message]) -> int:
        return round((self._fixed + estimate_tokens(messages)) * self._density)


def _detail(figures: Json) -> str:
    """Format as `about 133k tokens before, 12.1k now; contents left out of 24 messages, 6 messages summarized`."""
    rewritten, summarized = (plural(figures[name], "message") for name in ("rewritten", "summarized"))
    changes = [f"contents left out of {rewritten}"] if figures["rewritten"] else []
    changes += [f"{summarized} summarized"] if figures["summarized"] else []
    return (
        f"about {count(figures['before'])} tokens before, {count(figures['after'])} now; {', '.join(changes)}"
    )


def room_in(window: int | None) -> int | None:
    """Maximum tokens of a request, so that the answer fits the window too; None if the window is unknown."""
    return window - min(LARGEST_ANSWER, window // 3) if window else None


def _base_density(base: Run | None) -> float:
    """Ratio of actual to estimated tokens in the base run."""
    if base is None:
        return 1.0
    usages = [event.usage for event in base.events.of(TurnFinished)]
    answers = [index for index, message in enumerate(base.messages) if message.role == "assistant"]
    if not usages or not answers:
        return 1.0
    return density(usages[-1].input, estimate_tokens(base.messages[: answers[-1]], base.system, base.tools))
