"""Identifies an image by what it shows, not by how its file is written."""

import hashlib
import io

from agent_nb.messages import Image

_DIGITS = 16


def pixel_digest(image: Image) -> str:
    """A short hash of mode, size and pixels. Metadata and compression do not count."""
    import PIL.Image

    pil_image = PIL.Image.open(io.BytesIO(image.data))
    width, height = pil_image.size
    digest = hashlib.sha256(f"{pil_image.mode} {width} {height} ".encode())
    digest.update(pil_image.tobytes())
    return digest.hexdigest()[:_DIGITS]
