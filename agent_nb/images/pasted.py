"""Saves images that the user pastes into the field below a run."""

import base64
import binascii
import re
from contextlib import suppress
from pathlib import Path

from agent_nb._base.atomic import write_new
from agent_nb.core.errors import ConfigError
from agent_nb.images.convert import thumbnails, to_image

FOLDER = "images"
MAX_BYTES = 5_000_000
MOST = 999
_STEM = re.compile(r"[^\W\d]\w{0,59}")
_SIGNATURE = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|RIFF.{4}WEBP|GIF8[79]a", re.DOTALL)
_SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


def save_pasted(encoded: str, name: str, home: Path) -> tuple[str, bytes]:
    """Decode an image and write it to a new file `images/NAME-1.png` below `home`. Blocks: call it off the loop.

    Returns its path for `-i`, and a thumbnail, which may be empty.
    """
    if len(encoded) > MAX_BYTES * 4 // 3 + 4:
        raise ConfigError(f"The image is larger than {MAX_BYTES // 1_000_000} MB; scale it down first.")
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not _SIGNATURE.match(data):
        raise ConfigError("That is not an image that can be saved: paste a PNG, JPEG, WebP or GIF.")
    image = to_image(data)
    stem = name if _STEM.fullmatch(name) else "image"
    path = _write(home, stem, _SUFFIXES[image.media_type], image.data)
    return f"{FOLDER}/{path.name}", thumbnails((image,))[0].data


def _write(home: Path, stem: str, suffix: str, data: bytes) -> Path:
    folder = home / FOLDER
    try:
        for number in range(1, MOST + 1):
            path = folder / f"{stem}-{number}.{suffix}"
            with suppress(FileExistsError):
                write_new(path, data, within=home)
                return path
    except OSError as error:
        raise ConfigError(f"The image was not saved in {FOLDER}/: {error.strerror or error}.") from None
    raise ConfigError(f"{FOLDER}/ already has {MOST} images of {stem}; delete or move some.")
