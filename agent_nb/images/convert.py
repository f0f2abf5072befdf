"""Converts notebook objects to an `Image` that every vendor accepts."""

import base64
import binascii
import io
import os
import sys
import urllib.parse
import warnings
import weakref
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import read_file
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import Thumbnail
from agent_nb.core.messages import Attachment, Document, Image
from agent_nb.images.download import MAX_BYTES, fetch_https
from agent_nb.images.pillow import DAMAGE, PIL, on_white, saved

MAX_EDGE = 4096
MAX_PIXELS = 80_000_000
SMALL_COPY = (1024, 60_000)
"""Longest side in pixels and size in bytes of images in a saved notebook, to keep its file small."""
THUMBNAIL_EDGE = 160
THUMBNAIL_BYTES = 6_000
MOST_THUMBNAILS = 12
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "ICO", "AVIF", "TGA")
_ACCEPTED_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
_CACHE_SIZE = 16
"""Cache size: a conversation sends the same images with each turn."""
_converted: "weakref.WeakValueDictionary[int, Image]" = weakref.WeakValueDictionary()
"""Images converted here, by `id`: they are not checked again."""
_KINDS = "a PIL image, a figure, an array, bytes, a path, a data: URL or an https: address"


def to_image(obj: Any, name: str = "") -> Image:
    """Convert `obj` to an image. Fetches https addresses and blocks: call it off the loop."""
    match obj:
        case Image() if _converted.get(id(obj)) is obj:
            return _remember(replace(obj, name=name)) if name and name != obj.name else obj
        case Image():
            return _read(obj.data, name or obj.name)
        case bytes() | bytearray() | memoryview():
            return _read(bytes(obj), name)
        case str() | Path():
            return _read(*read_source(obj, name))
    return _from_object(obj, name)


def image_size(data: bytes, name: str = "") -> tuple[int, int]:
    width, height = _open(data, name).size
    return width, height


def fit_image(image: Image, max_edge: int, max_bytes: int) -> Image:
    """The image scaled to fit a vendor's limits; the same object if it already fits."""
    pil_image = _open(image.data, image.name)
    fits = max(pil_image.size) <= max_edge and len(image.data) <= max_bytes
    if fits and image.media_type == _ACCEPTED_TYPES.get(pil_image.format):
        return image
    return _fitted(image, max_edge, max_bytes)


@lru_cache(_CACHE_SIZE)
def _fitted(image: Image, max_edge: int, max_bytes: int) -> Image:
    pil_image = _open(image.data, image.name)
    return _encode(_upright(pil_image, image.name), image.name, max_edge, max_bytes)


def thumbnails(attachments: Sequence[Attachment]) -> tuple[Thumbnail, ...]:
    """Small copies of the first images; the others, and PDFs, have only name and size. Decodes images: call it off
    the loop."""
    return tuple(_thumbnail(item, has_data=index < MOST_THUMBNAILS) for index, item in enumerate(attachments))


@lru_cache(_CACHE_SIZE)
def _thumbnail(image: Attachment, *, has_data: bool) -> Thumbnail:
    if isinstance(image, Document):
        return Thumbnail(name=image.name, width=0, height=0, data=b"", size=len(image.data))
    pil_image = _open(image.data, image.name)
    width, height = pil_image.size
    data = b""
    if has_data:
        pil_image.draft(None, (2 * THUMBNAIL_EDGE, 2 * THUMBNAIL_EDGE))
        small = _scaled(_upright(pil_image, image.name), min(THUMBNAIL_EDGE, max(width, height)))
        small = on_white(small) if small.mode == "RGBA" else small
        encodings = (saved(small, "JPEG", quality=quality) for quality in (80, 60, 40, 20))
        data = next((data for data in encodings if len(data) <= THUMBNAIL_BYTES), b"")
    return Thumbnail(name=image.name, width=width, height=height, data=data)


def read_source(source: str | Path, name: str = "") -> tuple[bytes, str]:
    """The bytes at a path, a data: URL or an https: address, and a name for them. A large file is cut at the limit."""
    text = str(source).strip()
    scheme = text.partition(":")[0].lower() if isinstance(source, str) else ""
    if scheme == "data":
        return data_of_url(text), name
    if scheme in ("http", "https", "ftp", "file") and ":/" in text:
        if scheme != "https":
            raise ConfigError(f"Files are fetched over https only, not {scheme}: {text[:80]!r}.")
        return fetch_https(text), name or urllib.parse.urlsplit(text).path.rpartition("/")[2]
    path = Path(os.path.expanduser(text)) if isinstance(source, str) else source
    try:
        return read_file(path, MAX_BYTES + 1, start=True), name or path.name
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", None) or exc
        raise ConfigError(f"{str(path)[:200]!r} cannot be read: {why}.") from None


def _from_object(obj: Any, name: str) -> Image:
    modules = sys.modules
    if (pil := modules.get("PIL.Image")) and isinstance(obj, pil.Image):
        _check_size(obj, name)
        return _encode(_upright(obj, name), name, MAX_EDGE, MAX_BYTES)
    if (figures := modules.get("matplotlib.figure")) and (figure := _figure(obj, figures.FigureBase)):
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
        return _read(buffer.getvalue(), name)
    if (numpy := modules.get("numpy")) and isinstance(obj, numpy.ndarray):
        return _encode(_from_array(obj, numpy), name, MAX_EDGE, MAX_BYTES)
    for method in ("_repr_png_", "_repr_jpeg_"):
        if not isinstance(obj, type) and callable(draw := getattr(obj, method, None)):
            result = draw()
            data = result[0] if isinstance(result, tuple) else result
            if data:
                return _read(base64.b64decode(data) if isinstance(data, str) else bytes(data), name)
    kind = type(obj).__name__
    article = "An" if kind[:1].lower() in "aeiou" else "A"
    raise ConfigError(f"{repr(name) if name else f'{article} {kind}'} is not an image. Give {_KINDS}.")


def _figure(obj: Any, figure_class: type) -> Any:
    if isinstance(obj, figure_class):
        return obj
    owner = getattr(obj, "figure", None)
    return owner if isinstance(owner, figure_class) else None


def _from_array(array: Any, numpy: Any) -> Any:
    squeezed = array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array
    is_flat, is_colour = squeezed.ndim == 2, squeezed.ndim == 3 and squeezed.shape[2] in (3, 4)
    if not (is_flat or is_colour) or not squeezed.size:
        raise ConfigError(
            f"An array of shape {array.shape} is not an image: give (h, w), (h, w, 3) or (h, w, 4)."
        )
    if squeezed.shape[0] * squeezed.shape[1] > MAX_PIXELS:
        raise ConfigError(f"An array of shape {array.shape} is too large for an image.")
    if squeezed.dtype.kind == "b":
        squeezed = squeezed * 255.0
    elif squeezed.dtype.kind == "f":
        finite = numpy.nan_to_num(squeezed)
        squeezed = finite * 255.0 if finite.max() <= 1.0 else finite
    elif squeezed.dtype.kind not in "iu":
        raise ConfigError(f"An array of {array.dtype} is not an image: its values must be numbers.")
    return PIL.Image.fromarray(numpy.ascontiguousarray(numpy.clip(squeezed, 0, 255).astype("uint8")))


def data_of_url(text: str) -> bytes:
    head, comma, body = text.partition(",")
    if not comma:
        raise ConfigError("A data: URL needs a comma before its data.")
    try:
        if ";base64" in head:
            return base64.b64decode("".join(urllib.parse.unquote(body).split()), validate=True)
        return urllib.parse.unquote_to_bytes(body)
    except (binascii.Error, ValueError):
        raise ConfigError("The data: URL is not valid base64.") from None


def _read(data: bytes, name: str) -> Image:
    """The image in a file's bytes, which stay unchanged if every vendor accepts them."""
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{_label(name)} is larger than {MAX_BYTES // 1_000_000} MB.")
    pil_image = _open(data, name)
    _load(pil_image, name)
    if pil_image.format in _ACCEPTED_TYPES and max(pil_image.size) <= MAX_EDGE and _is_plain(pil_image):
        return _remember(Image(data, _ACCEPTED_TYPES[pil_image.format], name))
    return _encode(_upright(pil_image, name), name, MAX_EDGE, MAX_BYTES)


def _is_plain(pil_image: Any) -> bool:
    try:
        is_still = getattr(pil_image, "n_frames", 1) == 1
        return is_still and pil_image.mode in ("L", "RGB", "RGBA") and not pil_image.getexif()
    except DAMAGE:
        return False


def _open(data: bytes, name: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)
            pil_image = PIL.Image.open(io.BytesIO(data), formats=_FORMATS)
    except PIL.Image.DecompressionBombError:
        raise ConfigError(f"{_label(name)} has too many pixels; scale it down first.") from None
    except DAMAGE:
        raise ConfigError(
            f"{_label(name)} is not an image that can be read: give a PNG, JPEG, WebP or GIF."
        ) from None
    _check_size(pil_image, name)
    return pil_image


def _check_size(pil_image: Any, name: str) -> None:
    width, height = pil_image.size
    if width * height > MAX_PIXELS:
        raise ConfigError(f"{_label(name)} has too many pixels ({width} x {height}); scale it down first.")


def _load(pil_image: Any, name: str) -> None:
    try:
        pil_image.load()
    except DAMAGE:
        raise ConfigError(f"{_label(name)} is damaged or truncated.") from None


def _upright(pil_image: Any, name: str) -> Any:
    _load(pil_image, name)
    jpeg = pil_image.format == "JPEG"
    try:
        upright: Any = PIL.ImageOps.exif_transpose(pil_image)
    except DAMAGE:
        upright = pil_image.copy()
    if upright.mode.startswith("I") or upright.mode == "F":
        low, high = upright.getextrema()
        scale = 255.0 / (high - low) if high > low else 1.0
        upright = upright.convert("F").point(lambda value: (value - low) * scale).convert("L")
    elif upright.mode not in ("L", "RGB", "RGBA"):
        transparent = upright.mode in ("LA", "PA", "La", "RGBa") or "transparency" in upright.info
        upright = upright.convert("RGBA" if transparent else "RGB")
    upright.format = "JPEG" if jpeg else "PNG"
    return upright


def _encode(pil_image: Any, name: str, max_edge: int, max_bytes: int) -> Image:
    """Encode within the limits: scale down, then use JPEG or WebP, then scale down further."""
    kind = pil_image.format or "PNG"
    if max(pil_image.size) > max_edge:
        pil_image = _scaled(pil_image, max_edge)
    data = saved(pil_image, kind, quality=88)
    if len(data) > max_bytes:
        kind = "WEBP" if pil_image.mode == "RGBA" else "JPEG"
        data = saved(pil_image, kind, quality=88)
    while len(data) > max_bytes and max(pil_image.size) > 64:
        pil_image = _scaled(pil_image, int(max(pil_image.size) * 0.75))
        data = saved(pil_image, kind, quality=88)
    if len(data) > max_bytes:
        raise ConfigError(f"{_label(name)} cannot be made smaller than {max_bytes} bytes.")
    return _remember(Image(data, _ACCEPTED_TYPES[kind], name))


def _remember(image: Image) -> Image:
    _converted[id(image)] = image
    return image


def _scaled(pil_image: Any, edge: int) -> Any:
    ratio = edge / max(pil_image.size)
    return pil_image.resize([max(1, round(side * ratio)) for side in pil_image.size], reducing_gap=2.0)


def _label(name: str) -> str:
    return repr(name) if name else "The image"
