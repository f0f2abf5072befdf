"""Turns what a function returned into what the model and the user get."""

import base64
import dataclasses
import json
import sys
from typing import Any

from agent_nb.errors import ConfigError, ToolError
from agent_nb.messages import Image
from agent_nb.tools.base import ToolOutput

MAX_REPR = 10_000
MAX_HTML = 500_000
MAX_ROWS = 60
_IMAGE_CLASSES = (
    ("PIL.Image", "Image"),
    ("matplotlib.figure", "FigureBase"),
    ("matplotlib.axes", "Axes"),
    ("IPython.core.display", "Image"),
)


def to_output(value: Any) -> ToolOutput:
    if isinstance(value, ToolOutput):
        return value
    if value is None:
        return ToolOutput(text="done")
    if isinstance(value, list | tuple) and any(_is_image(item) for item in value):
        return _joined([to_output(item) for item in value])
    if _is_image(value):
        return _image(value)
    if (markup := _html(value)) is not None:
        text = _table_text(value)
        return ToolOutput(
            text=text, summary=type(value).__name__, outputs=({"text/html": markup, "text/plain": text},)
        )
    return ToolOutput(text=value if isinstance(value, str) else _json(value))


def checked(tool: str, output: Any) -> ToolOutput:
    """Checks that the model, the page and a saved run can take the output, and makes JSON of what bundles hold."""
    if not isinstance(output, ToolOutput):
        raise ToolError(f"`{tool}` returned a {type(output).__name__} instead of a ToolOutput.")
    for field in ("text", "summary"):
        if not isinstance(given := getattr(output, field), str):
            raise ToolError(f"`{tool}` returned a {type(given).__name__} as `{field}` instead of a str.")
    for image in output.images:
        if not isinstance(image, Image) or not isinstance(image.data, bytes):
            raise ToolError(f"`{tool}` returned a {type(image).__name__} in `images` instead of an Image.")
    bundles = [_as_json(bundle) for bundle in output.outputs]
    if not all(isinstance(bundle, dict) for bundle in bundles):
        raise ToolError(f"`{tool}` returned `outputs` that are not all dicts from media types to data.")
    return dataclasses.replace(output, images=tuple(output.images), outputs=tuple(bundles))


def _as_json(value: Any) -> Any:
    """The value as JSON would return it: dates and the like as text, bytes in base64, no NaN."""
    if isinstance(value, dict) and all(isinstance(text, str) for item in value.items() for text in item):
        return value  # most bundles: images and pages, which may be large
    return json.loads(json.dumps(value, default=_in_json), parse_constant=str)


def _in_json(value: Any) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else _repr(value)


def _joined(parts: list[ToolOutput]) -> ToolOutput:
    return ToolOutput(
        text="\n".join(part.text for part in parts),
        images=tuple(image for part in parts for image in part.images),
        outputs=tuple(bundle for part in parts for bundle in part.outputs),
    )


def _is_image(value: Any) -> bool:
    return isinstance(value, Image) or any(_is_a(value, module, name) for module, name in _IMAGE_CLASSES)


def _image(value: Any) -> ToolOutput:
    from agent_nb.images.convert import to_image

    try:
        image = to_image(value)
    except ConfigError as error:
        raise ToolError(str(error)) from error
    bundle = {image.media_type: base64.b64encode(image.data).decode()}
    return ToolOutput(text=f"[{image.name or 'image'}]", images=(image,), outputs=(bundle,))


def _is_a(value: Any, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _html(value: Any) -> str | None:
    if isinstance(value, type) or not hasattr(value, "_repr_html_"):
        return None
    try:
        markup = value._repr_html_()
    except Exception:  # the value's own code; its plain text is used instead
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
    """A JSON value for something inside a list or a dict that is not JSON."""
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
    except Exception:  # the value's own code
        return f"<{type(value).__name__} whose repr fails>"
    return text if len(text) <= MAX_REPR else f"{text[:MAX_REPR]}… [{len(text):,} characters]"
