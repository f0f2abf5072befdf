"""The parts of messages as a wire protocol writes them."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass

from agent_nb._base.wire import Json
from agent_nb.images.convert import fit_image
from agent_nb.messages import Image, Message, Source, Text, ToolCall, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """How a protocol writes each part."""

    text: Callable[[str], Json]
    image: Callable[[Image], Json]
    call: Callable[[ToolCall], Json]
    said: Callable[[str], Json] | None = None
    """Text of the model, if it differs from that of the user."""
    result: Callable[[ToolResult], Json] | None = None
    """A result, if it is among the other parts of a message."""

    def of_user(self, message: Message) -> list[Json]:
        """What the user or a tool said. Vendors refuse blank texts, so these are left out."""
        blocks: list[Json] = []
        for part in message.parts:
            match part:
                case Text(text) if text.strip():
                    blocks.append(self.text(text))
                case Image():
                    blocks.append(self.image(part))
                case Source():
                    blocks.append(self.text(source_text(part)))
                case ToolResult() if self.result:
                    blocks.append(self.result(part))
        return blocks

    def of_model(self, message: Message) -> list[Json]:
        """An answer without what its vendor has attached to it: it may be another vendor's."""
        blocks: list[Json] = []
        for part in message.parts:
            match part:
                case Text(text) if text.strip():
                    blocks.append((self.said or self.text)(text))
                case ToolCall():
                    blocks.append(self.call(part))
        return blocks


def base64_of(image: Image) -> str:
    return base64.b64encode(image.data).decode("ascii")


def data_url(image: Image, max_edge: int, max_bytes: int) -> str:
    fitted = fit_image(image, max_edge, max_bytes)
    return f"data:{fitted.media_type};base64,{base64_of(fitted)}"


def arguments_object(text: str) -> Json:
    """A call's arguments as the object that some vendors require; anything else is wrapped in one."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {"invalid_json": text}
    return value if isinstance(value, dict) else {"value": value}


def valid_arguments(text: str) -> str:
    """A call's arguments as valid JSON, for vendors that want a string: the text itself if it is an object."""
    try:
        if isinstance(json.loads(text), dict):
            return text
    except ValueError:
        pass
    return json.dumps(arguments_object(text), ensure_ascii=False)


def source_text(source: Source) -> str:
    return f"[{source.title}]({source.url})" + (f": {source.snippet}" if source.snippet else "")
