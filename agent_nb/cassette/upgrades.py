"""Recognises recorded images after an upgrade of a library that writes the same pixels differently.

matplotlib writes its version into images, and Pillow compresses them differently.
"""

from collections.abc import Sequence

from agent_nb._base.wire import Json
from agent_nb.images.pillow import pixel_digest
from agent_nb.messages import Image


def with_pixels(fingerprint: Json, images: Sequence[Image]) -> Json:
    """The fingerprint with digests of the images' pixels, which outlast those of their bytes."""
    pairs = zip(fingerprint["images"], images, strict=True)
    return {
        **fingerprint,
        "images": [{**entry, "pixels": pixel_digest(image)} for entry, image in pairs],
    }


def as_recorded(fingerprint: Json, recorded: Json, images: Sequence[Image]) -> Json:
    """The fingerprint of a request, with the recorded digests of the images that have the same pixels."""
    before = recorded.get("images", ())
    if len(before) != len(images):
        return fingerprint
    entries = zip(fingerprint["images"], before, images, strict=True)
    return {
        **fingerprint,
        "images": [
            {**entry, "sha256": old["sha256"]} if _same_pixels(entry, old, image) else entry
            for entry, old, image in entries
        ],
    }


def _same_pixels(entry: Json, recorded: Json, image: Image) -> bool:
    if recorded["sha256"] == entry["sha256"] or "pixels" not in recorded:
        return False  # nothing to replace
    return bool(recorded["pixels"] == pixel_digest(image))
