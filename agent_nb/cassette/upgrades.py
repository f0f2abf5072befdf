"""Recognises a recorded request after an upgrade of a library that describes the same values differently.

matplotlib writes its version into images, Pillow compresses them differently, and pandas 3 has other names for types.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent_nb._base.dtypes import with_unit, without_unit
from agent_nb._base.wire import Json
from agent_nb.engine.fingerprint import history_digest
from agent_nb.images.pixels import pixel_digest
from agent_nb.messages import Image, Message, Text

_DTYPE = r"(?:object|str|(?:datetime|timedelta)64(?:\[[^\]\n]*\])?)"
_DESCRIBED = re.compile(rf"(?<=: ){_DTYPE}$|{_DTYPE}(?= values$)", re.MULTILINE)
"""The type of a column or a series, as a prompt describes it."""


def with_pixels(fingerprint: Json, images: Sequence[Image]) -> Json:
    """The fingerprint with digests of the images' pixels, which outlast those of their bytes."""
    pairs = zip(fingerprint["images"], images, strict=True)
    return {
        **fingerprint,
        "images": [{**entry, "pixels": pixel_digest(image)} for entry, image in pairs],
    }


def as_recorded(
    fingerprint: Json, recorded: Json, images: Sequence[Image], history: Sequence[Message]
) -> Json:
    """The fingerprint of a request, with the recorded digests wherever they stand for the same values."""
    found = dict(fingerprint)
    before = recorded.get("images", ())
    if len(before) == len(images):
        entries = zip(fingerprint["images"], before, images, strict=True)
        found["images"] = [
            {**entry, "sha256": old["sha256"]} if _same_pixels(entry, old, image) else entry
            for entry, old, image in entries
        ]
    then = recorded.get("history")
    if then and then != fingerprint["history"] and then in _older_histories(history):
        found["history"] = then
    return found


def neutral(prompt: str) -> str:
    """The prompt with the same names for types, whatever version of pandas it was written with."""
    return _DESCRIBED.sub(lambda dtype: "str" if dtype[0] == "object" else without_unit(dtype[0]), prompt)


def _same_pixels(entry: Json, recorded: Json, image: Image) -> bool:
    if recorded["sha256"] == entry["sha256"] or "pixels" not in recorded:
        return False  # nothing to replace
    return bool(recorded["pixels"] == pixel_digest(image))


def _older_histories(history: Sequence[Message]) -> set[str]:
    """The digests that earlier releases gave to a conversation."""
    return {
        history_digest([_reworded(message, form) for message in history]) for form in (_pandas_2, _pandas_3)
    }


def _pandas_2(dtype: str) -> str:
    return "object" if dtype in ("object", "str") else with_unit(without_unit(dtype), "ns")


def _pandas_3(dtype: str) -> str:
    return dtype if dtype in ("object", "str") else with_unit(without_unit(dtype), "us")


def _reworded(message: Message, form: Callable[[str], str]) -> Message:
    parts = tuple(
        Text(_DESCRIBED.sub(lambda dtype: form(dtype[0]), part.text)) if isinstance(part, Text) else part
        for part in message.parts
    )
    return replace(message, parts=parts)
