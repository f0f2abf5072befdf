"""How a text was split into fragments, and when each arrived: `20+312 20*5 17+4`.

Each word is the length of a fragment, `+` the milliseconds since the previous moment, `*` the number of repetitions.
If that is long compared to the text (a slow model, a few characters at a time), it is compressed, after a `z`.
"""

import base64
import binascii
import itertools
import re
import zlib
from collections.abc import Iterable, Iterator

LONGEST_GAP = 1_000_000_000
"""Milliseconds, eleven days: a longer gap was not recorded."""
_WEIGHT = 10
"""Compressed if longer than the text divided by this."""
_WORD = re.compile(r"(\d{1,12})(?:\+(\d{1,12}))?(?:\*(\d{1,7}))?")
_LONGEST_WORD = 40
_EMPTY = 100_000
"""Empty fragments that a text may have: some vendors send them."""


def milliseconds(at: float) -> int | None:
    """A time in seconds as whole milliseconds; None if it has a fraction of one."""
    found = round(at * 1000)
    return found if found / 1000 == at else None


def write_pace(cuts: Iterable[tuple[int, int]], chars: int) -> str:
    words = []
    for (length, gap), alike in itertools.groupby(cuts):
        word = f"{length}+{gap}" if gap else str(length)
        count = len(list(alike))
        words.append(word if count == 1 else f"{word}*{count}")
    pace = " ".join(words)
    if len(pace) > max(40, chars // _WEIGHT):
        packed = "z" + base64.b64encode(zlib.compress(pace.encode())).decode()
        return min(pace, packed, key=len)
    return pace


def read_pace(pace: str, text: str) -> Iterator[tuple[str, int]]:
    """The fragments and their gaps; ValueError if the pace does not belong to this text."""
    if pace.startswith("z"):
        try:
            packed = base64.b64decode(pace[1:], validate=True)
            most = _LONGEST_WORD * (len(text) + _EMPTY)
            pace = zlib.decompressobj().decompress(packed, most).decode()
        except (binascii.Error, zlib.error, UnicodeDecodeError):
            raise ValueError("its pace cannot be decompressed") from None
    start = 0
    for number, (length, gap) in enumerate(_cuts(pace)):
        if start > len(text) or number > len(text) + _EMPTY or gap > LONGEST_GAP:
            start = -1
            break
        yield text[start : start + length], gap
        start += length
    if start != len(text):
        raise ValueError(f"its pace does not fit its text of {len(text):,} characters")


def _cuts(pace: str) -> Iterator[tuple[int, int]]:
    for word in pace.split(" "):
        found = _WORD.fullmatch(word)
        if found is None:
            raise ValueError(f"{word[:20]!r} is not a pace")
        length, gap, count = found.groups()
        yield from itertools.repeat((int(length), int(gap or 0)), int(count or 1))
