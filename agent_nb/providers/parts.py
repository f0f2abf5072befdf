"""Small forms that several vendors share: pictures as base64, arguments as an object, sources as text."""

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
    """A call's arguments for vendors that want an object; what is not one is wrapped, so nothing is lost."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {"invalid_json": text}
    return value if isinstance(value, dict) else {"value": value}


def source_text(source: Source) -> str:
    return f"[{source.title}]({source.url})" + (f": {source.snippet}" if source.snippet else "")
