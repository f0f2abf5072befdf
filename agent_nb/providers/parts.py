"""Conversions that several vendors share: images to base64, arguments to an object, sources to text."""

import base64
import json

from agent_nb._base.wire import Json
from agent_nb.images.convert import fit_image
from agent_nb.messages import Image, Source


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
