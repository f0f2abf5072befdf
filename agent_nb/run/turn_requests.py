"""The request of each turn of a run, reconstructed from the run.

It is readable JSON, not the vendor's wire format: images and opaque vendor data are replaced by their size, and
secrets are masked.
"""

from collections.abc import Sequence
from typing import Any

from agent_nb._base.secrets import mask_json
from agent_nb._base.text import change_texts, whole_text
from agent_nb._base.wire import Json, to_wire
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import ConversationCompacted, Event, MessageAdded, TurnFinished, TurnStarted
from agent_nb.core.messages import Attachment, Message, Part, ToolResult, sent_fields
from agent_nb.run.record import RunRecord

_FIGURES = ("why", "before", "after", "limit", "rewritten", "summarized", "detail")
TEXT_LIMIT = 20_000


def request_of(run: RunRecord, step: int) -> Json:
    """The request of turn number `step`, from 1: model, system text, messages, tools, settings.

    `compacted` has the figures if the conversation was compacted for this turn.
    """
    messages, compacted = _messages_sent(run, step)
    figures = {"compacted": {name: getattr(compacted, name) for name in _FIGURES}} if compacted else {}
    request: Json = mask_json(
        {
            "model": run.model,
            "system": run.system,
            "messages": [_message(message) for message in messages],
            "tools": to_wire(run.tools),
            "settings": to_wire(run.settings),
            **figures,
        }
    )
    return request


def request_for_page(run: RunRecord | None, variant: int, step: int) -> Json:
    """The answer to the page's `request`: a turn of a variant, with long texts shortened.

    `known` is the number of its messages that were already sent with the previous turn.
    """
    if run is None:
        raise ConfigError("Requests can be shown once the run has ended.")
    if run.variants:
        run = run.variants[variant]
    request: Json = shortened(request_of(run, step))
    return {**request, "known": known_messages(run, step)}


def known_messages(run: RunRecord, step: int) -> int:
    messages, compacted = _messages_sent(run, step)
    if step == 1:
        return len(messages) - 1
    return len(messages if compacted else _messages_sent(run, step - 1)[0])


def _messages_sent(run: RunRecord, step: int) -> tuple[tuple[Message, ...], ConversationCompacted | None]:
    turn = 0
    turns: dict[int, tuple[int, ConversationCompacted | None]] = {}
    for count, event in enumerate(run.events, 1):
        if isinstance(event, TurnStarted):
            turn = event.step
            turns[turn] = count, None
        elif isinstance(event, ConversationCompacted):
            turns[turn] = count, event
    if step not in turns:
        have = f"1 to {turn}" if turns else "none"
        raise ConfigError(f"There is no turn {step!r}; this run has {have}.")
    count, compacted = turns[step]
    return conversation_after(run, count)[0], compacted


def conversation_after(run: RunRecord, count: int) -> tuple[tuple[Message, ...], int, int]:
    """The conversation after `count` events, the index of the run's question, and the number of compactions."""
    conversations = (*run.replaced, run.messages)
    counts, final_counts = count_added(run.events[:count]), count_added(run.events)
    index = len(counts) - 1
    messages = conversations[index]
    initial = len(messages) - final_counts[index]
    question = run.history if index == len(run.replaced) else max(0, initial - 1)
    return messages[: initial + counts[index]], question, index


def count_added(events: Sequence[Event]) -> list[int]:
    """Count the messages added to each conversation; compaction starts a new one."""
    counts, has_finished = [0], False
    for event in events:
        if isinstance(event, MessageAdded):
            counts[-1] += 1
        elif isinstance(event, TurnFinished):
            has_finished = True
        elif isinstance(event, ConversationCompacted):
            # Conversations that were never sent are not in `replaced`.
            counts = [*counts, 0] if has_finished else [0]
    return counts


def _message(message: Message) -> Json:
    fields: Json = {"role": message.role, "parts": [_part(part) for part in message.parts]}
    if message.vendor:
        lengths = {name: len(str(data)) for name, data in message.vendor.items()}
        fields["vendor"] = {name: f"{count:,} characters, sent back" for name, count in lengths.items()}
    return fields


def _part(part: Part) -> Json:
    if isinstance(part, Attachment):
        return {"type": part.type, "name": part.name, "data": f"{part.media_type}, {len(part.data):,} bytes"}
    fields = sent_fields(part)
    if isinstance(part, ToolResult):
        fields["images"] = [_part(image) for image in part.images]
    return {name: value for name, value in fields.items() if value or name not in ("images", "versions")}


def shortened(request: Json, limit: int = TEXT_LIMIT) -> Any:
    """The same JSON with long texts truncated and their missing length noted."""

    def cut(text: str) -> str:
        more = len(text) - limit
        return whole_text(f"{text[:limit]}… ({more:,} more characters)" if more > 0 else text)

    return change_texts(request, cut)
