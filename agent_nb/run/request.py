"""The request of each turn of a run, reconstructed from the run.

It is readable JSON, not what was sent to the vendor: images and opaque vendor data are replaced by their size, and
secrets are masked.
"""

from typing import Any

from agent_nb._base.secrets import mask_json
from agent_nb._base.wire import Json, to_wire
from agent_nb.errors import ConfigError
from agent_nb.events import MessageAdded, TurnStarted
from agent_nb.messages import Image, Message
from agent_nb.run.record import RunRecord

TEXT_LIMIT = 20_000
"""Characters of one text that are sent to the page."""


def request_of(run: RunRecord, step: int) -> Json:
    """The request of turn number `step`, from 1: model, system text, messages, tools, settings."""
    request: Json = mask_json(
        {
            "model": run.model,
            "system": run.system,
            "messages": [_message(message) for message in run.messages[: _count_sent(run, step)]],
            "tools": to_wire(run.tools),
            "settings": to_wire(run.settings),
        }
    )
    return request


def request_for_page(run: RunRecord | None, message: Json) -> Json:
    """The answer to the page's `request`: a turn of a variant, with long texts shortened.

    `known` is how many of its messages were already sent with the turn before.
    """
    if run is None:
        raise ConfigError("Requests can be shown once the run has ended.")
    variant = message.get("variant") or 0
    runs = run.variants or (run,)
    if not isinstance(variant, int) or not 0 <= variant < len(runs):
        raise ConfigError(f"There is no variant {variant!r}.")
    run, step = runs[variant], message.get("step") or 1
    request: Json = shortened(request_of(run, step))
    return {**request, "known": _count_sent(run, step - 1) if step > 1 else run.history}


def _count_sent(run: RunRecord, step: int) -> int:
    """How many of the run's messages were sent with a turn."""
    count, turns = run.history + 1, 0
    for event in run.events:
        match event:
            case MessageAdded():
                count += 1
            case TurnStarted(step=turns) if turns == step:
                return count
            case _:
                pass
    have = f"1 to {turns}" if turns else "none"
    raise ConfigError(f"There is no turn {step!r}; this run has {have}.")


def _message(message: Message) -> Json:
    fields: Json = {"role": message.role, "parts": [_part(part) for part in message.parts]}
    if message.vendor:
        lengths = {name: len(str(data)) for name, data in message.vendor.items()}
        fields["vendor"] = {name: f"{count:,} characters, sent back" for name, count in lengths.items()}
    return fields


def _part(part: Any) -> Json:
    if isinstance(part, Image):
        return {"type": part.type, "name": part.name, "data": size_note(part)}
    fields: Json = to_wire(part)
    if images := getattr(part, "images", ()):
        fields["images"] = [_part(image) for image in images]
    else:
        fields.pop("images", None)
    return fields


def size_note(image: Image) -> str:
    return f"{image.media_type}, {len(image.data):,} bytes"


def shortened(value: Any, limit: int = TEXT_LIMIT) -> Any:
    """The same JSON with long texts shortened; each says how much is missing."""
    match value:
        case str():
            more = len(value) - limit
            text = f"{value[:limit]}… ({more:,} more characters)" if more > 0 else value
            # JSON may contain lone surrogates, which UTF-8 cannot encode.
            return text.encode("utf-8", "replace").decode()
        case dict():
            return {key: shortened(item, limit) for key, item in value.items()}
        case list():
            return [shortened(item, limit) for item in value]
        case _:
            return value
