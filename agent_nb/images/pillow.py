"""Pillow, which reads, scales and draws images. A browser may not have it."""

import hashlib
import importlib.util
import io
import struct
from typing import Any

from agent_nb.errors import InstallError
from agent_nb.messages import Image

DAMAGE = (OSError, ValueError, SyntaxError, EOFError, LookupError, struct.error)
"""What Pillow raises for files that are truncated or damaged."""


def require_pillow() -> None:
    """Raises `InstallError` with one sentence where images cannot be read."""
    if importlib.util.find_spec("PIL") is None:
        raise InstallError("Images need the `pillow` package: `%pip install pillow`.")


def opened(image: Image) -> Any:
    import PIL.Image

    return PIL.Image.open(io.BytesIO(image.data))


def saved(pixels: Any, kind: str, **settings: Any) -> bytes:
    buffer = io.BytesIO()
    pixels.save(buffer, kind, **settings)
    return buffer.getvalue()


def on_white(pixels: Any) -> Any:
    import PIL.Image

    if pixels.mode != "RGBA":
        return pixels.convert("RGB")
    return PIL.Image.alpha_composite(PIL.Image.new("RGBA", pixels.size, "white"), pixels).convert("RGB")


def top_of(pixels: Any, width: int, most: int, **sampling: Any) -> Any:
    """The image at this width, of which at most so many pixels are shown from the top."""
    height = min(most, max(1, round(pixels.height * width / pixels.width)))
    box = (0, 0, pixels.width, min(pixels.height, height * pixels.width / width))
    return pixels.resize((width, height), box=box, **(sampling or {"reducing_gap": 2.0}))


def pixel_digest(image: Image) -> str:
    """A short hash of mode, size and pixels: of what an image shows, not of how its file is written."""
    pixels = opened(image)
    digest = hashlib.sha256(f"{pixels.mode} {pixels.width} {pixels.height} ".encode())
    digest.update(pixels.tobytes())
    return digest.hexdigest()[:16]
