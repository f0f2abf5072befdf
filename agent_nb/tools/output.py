"""From whatever a function returned to what the model and the person get. Nothing it is given makes it fail.

PIL, matplotlib and pandas are never imported for it: an object of theirs means that they are there.
"""

import base64
import dataclasses
import io
import json
import sys
from typing import Any

from agent_nb.events import MimeBundle
from agent_nb.messages import Image
from agent_nb.tools.base import ToolOutput

MAX_REPR = 10_000
MAX_HTML = 500_000
MAX_ROWS = 60
MAX_IMAGE_SIDE = 1568
"""Pixels; vendors scale larger pictures down themselves."""


def to_output(value: Any) -> ToolOutput:
    if isinstance(value, ToolOutput):
        return value
    if isinstance(value, str):
        return ToolOutput(text=value)
    if value is None:
        return ToolOutput(text="done")
    if isinstance(value, list | tuple) and any(_image(item) for item in value):
        return _joined([to_output(item) for item in value])
    if (image := _image(value)) is not None:
        kind = image.media_type
        bundle = {kind: base64.b64encode(image.data).decode()}
        return ToolOutput(
            text=f"[{image.name or 'image'}]", summary="image", images=(image,), outputs=(bundle,)
        )
    if (markup := _html(value)) is not None:
        text = _table_text(value)
        bundle = {"text/html": markup, "text/plain": text}
        return ToolOutput(text=text, summary=_kind(value), outputs=(bundle,))
    return ToolOutput(text=_json(value))


def _joined(parts: list[ToolOutput]) -> ToolOutput:
    images = tuple(image for part in parts for image in part.images)
    outputs: tuple[MimeBundle, ...] = tuple(bundle for part in parts for bundle in part.outputs)
    return ToolOutput(
        text="\n".join(part.text for part in parts),
        summary=f"{len(images)} images",
        images=images,
        outputs=outputs,
    )


def _image(value: Any) -> Image | None:
    if isinstance(value, Image):
        return value
    try:
        if _is_a(value, "PIL.Image", "Image"):
            return _from_pil(value)
        if _is_a(value, "matplotlib.axes", "Axes"):
            value = value.get_figure()
        if _is_a(value, "matplotlib.figure", "Figure"):
            buffer = io.BytesIO()
            value.savefig(buffer, format="png", bbox_inches="tight")
            return Image(buffer.getvalue(), name="figure")
    except Exception:  # noqa: BLE001
        return None
    return None


def _from_pil(picture: Any) -> Image:
    picture = picture.copy()
    picture.thumbnail((MAX_IMAGE_SIDE, MAX_IMAGE_SIDE))
    if picture.mode not in ("1", "L", "LA", "P", "RGB", "RGBA"):
        picture = picture.convert("RGB")
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return Image(buffer.getvalue())


def _is_a(value: Any, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _html(value: Any) -> str | None:
    if isinstance(value, type) or not hasattr(value, "_repr_html_"):
        return None
    try:
        markup = value._repr_html_()
    except Exception:  # noqa: BLE001
        return None
    return markup if isinstance(markup, str) and len(markup) <= MAX_HTML else None


def _table_text(value: Any) -> str:
    if not _is_a(value, "pandas", "DataFrame"):
        return _repr(value)
    rows, columns = value.shape
    return f"{rows} rows x {columns} columns\n{value.to_string(max_rows=MAX_ROWS, max_cols=MAX_ROWS)}"


def _json(value: Any) -> str:
    if not isinstance(value, dict | list | tuple | set | frozenset | int | float) and not _is_record(value):
        return _repr(value)
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return _repr(value)


def _plain(value: Any) -> Any:
    """What is inside a list or a dict but is not JSON."""
    if isinstance(value, set | frozenset):
        return list(value)
    if _is_record(value):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    if callable(to_list := getattr(value, "tolist", None)) and not isinstance(value, type):
        return to_list()  # numpy and pandas
    return _repr(value)


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _repr(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001
        return f"<{_kind(value)} whose repr fails>"
    return text if len(text) <= MAX_REPR else f"{text[:MAX_REPR]}… [{len(text):,} characters]"


def _kind(value: Any) -> str:
    return type(value).__name__
