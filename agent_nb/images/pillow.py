"""Helpers for Pillow, which reads, scales and draws images. It may be missing in a browser."""

import hashlib
import importlib.util
import io
import struct
from typing import Any

from agent_nb.core.errors import InstallError
from agent_nb.core.messages import Image

DAMAGE = (OSError, ValueError, SyntaxError, EOFError, LookupError, struct.error)
"""Exceptions that Pillow raises for truncated or damaged files."""


class _Pillow:
    """The modules of Pillow, each imported on first use; raises `InstallError` if Pillow is not installed."""

    def __getattr__(self, module: str) -> Any:
        if importlib.util.find_spec("PIL") is None:
            raise InstallError("Images need the `pillow` package: `%pip install pillow`.")
        return importlib.import_module(f"PIL.{module}")


PIL = _Pillow()


def opened(image: Image) -> Any:
    return PIL.Image.open(io.BytesIO(image.data))


def saved(pixels: Any, format_name: str, **settings: Any) -> bytes:
    buffer = io.BytesIO()
    pixels.save(buffer, format_name, **settings)
    return buffer.getvalue()


def on_white(pixels: Any) -> Any:
    if pixels.mode != "RGBA":
        return pixels.convert("RGB")
    return PIL.Image.alpha_composite(PIL.Image.new("RGBA", pixels.size, "white"), pixels).convert("RGB")


def top_of(pixels: Any, width: int, max_height: int, **sampling: Any) -> Any:
    """The image scaled to `width` and cropped from the top to at most `max_height` pixels."""
    height = min(max_height, max(1, round(pixels.height * width / pixels.width)))
    box = (0, 0, pixels.width, min(pixels.height, height * pixels.width / width))
    return pixels.resize((width, height), box=box, **(sampling or {"reducing_gap": 2.0}))


def pixel_digest(image: Image) -> str:
    """A short hash of the decoded image (mode, size and pixels), independent of its file encoding."""
    pixels = opened(image)
    digest = hashlib.sha256(f"{pixels.mode} {pixels.width} {pixels.height} ".encode())
    digest.update(pixels.tobytes())
    return digest.hexdigest()[:16]
