"""What was sent in each turn of a run, told again from the run itself.

Readable JSON in our own vocabulary: pictures as a note of their size, secrets masked, opaque vendor data as a
note of its length. Each vendor's file says how the same request looks on that vendor's wire.
"""

from typing import TYPE_CHECKING, Any

from agent_nb._base.secrets import mask_json
from agent_nb._base.wire import Json, to_wire
from agent_nb.errors import ConfigError
from agent_nb.events import MessageAdded, TurnStarted
from agent_nb.messages import Image, Message

if TYPE_CHECKING:
    from agent_nb.run.run import Run

LONG = 20_000
"""Characters of one text that a page is sent; the whole is in the kernel."""


def request_of(run: "Run", step: int) -> Json:
    """The request of turn `step`, from 1: model, system text, messages, tools, settings."""
    told: Json = mask_json(
        {
            "model": run.model,
            "system": run.system,
            "messages": [_message(message) for message in run.messages[: _sent(run, step)]],
            "tools": to_wire(run.tools),
            "settings": to_wire(run.settings),
        }
    )
    return told


def request_for_page(run: "Run | None", message: Json) -> Json:
    """The answer to the page's `request`: that turn of that variant, with long texts cut.

    `known` says how many of the messages are not new in that turn.
    """
    if run is None:
        raise ConfigError("What was sent can be looked at when the run has ended.")
    variant = message.get("variant") or 0
    runs = run.variants or (run,)
    if not isinstance(variant, int) or not 0 <= variant < len(runs):
        raise ConfigError(f"There is no variant {variant!r}.")
    run, step = runs[variant], message.get("step") or 1
    told: Json = shortened(request_of(run, step))
    return {**told, "known": _sent(run, step - 1) if step > 1 else run.history}


def _sent(run: "Run", step: int) -> int:
    """How many of the run's messages that turn was given: its question, and what was added before the turn."""
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
    told: Json = {"role": message.role, "parts": [_part(part) for part in message.parts]}
    if message.vendor:
        lengths = {name: len(str(data)) for name, data in message.vendor.items()}
        told["vendor"] = {name: f"{count:,} characters, sent back" for name, count in lengths.items()}
    return told


def _part(part: Any) -> Json:
    if isinstance(part, Image):
        return {"type": part.type, "name": part.name, "data": size_note(part)}
    told: Json = to_wire(part)
    if images := getattr(part, "images", ()):
        told["images"] = [_part(image) for image in images]
    else:
        told.pop("images", None)
    return told


def size_note(image: Image) -> str:
    return f"{image.media_type}, {len(image.data):,} bytes"


def shortened(value: Any, limit: int = LONG) -> Any:
    """The same JSON with long texts cut, each saying how much is missing."""
    match value:
        case str():
            more = len(value) - limit
            text = f"{value[:limit]}… ({more:,} more characters)" if more > 0 else value
            # Half a character, which JSON allows, cannot leave as UTF-8.
            return text.encode("utf-8", "replace").decode()
        case dict():
            return {key: shortened(item, limit) for key, item in value.items()}
        case list():
            return [shortened(item, limit) for item in value]
        case _:
            return value
