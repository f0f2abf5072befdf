"""Masks secrets in a text that arrives in pieces."""

import re

from agent_nb._base.secrets import (
    ESCAPE,
    MAX_ESCAPES,
    PIECE,
    PIECES,
    SHAPES,
    character_of,
    mask_spans,
    readings,
    registered,
    secret_spans,
)
from agent_nb._base.text import showable_text

_MAX_KEY = 2_000
"""Characters of a possible key that may be held back; signed tokens have about a thousand."""
_CONTEXT = 48
"""Characters to remember of the text before: more than the longest start of a shape, or four characters escaped."""
_LAST_ESCAPES = 40
"""Characters from the end that have the last few characters of the text, also if they are escaped."""
_UNFINISHED = re.compile(
    r"(?:(?:%[89A-Fa-f][0-9A-Fa-f]){0,8}%[0-9A-Fa-f]?|&#?[A-Za-z0-9]{0,32}|(?<!\\)\\++(?:[ux][0-9A-Fa-f]{0,3})?)\Z"
)
"""An escape that may go on in the next piece."""
_KEY_TO_THE_END = re.compile(r"[A-Za-z0-9_\-.~+/=]*\Z")


class StreamMasker:
    """Masks one text piece by piece. The end of a piece is held back only while it may be the start of a secret."""

    __slots__ = ("_before", "held")

    def __init__(self) -> None:
        self.held = ""
        self._before = ""
        """The last characters returned, which may be the first of a secret."""

    def more(self, piece: str) -> str:
        """Adds a piece and returns the text that is ready."""
        text = self._before + self.held + piece
        return self._release(text, max(len(self._before), _secret_start(text)))

    def rest(self) -> str:
        """Ends the text and returns what was held back."""
        text = self._before + self.held
        return self._release(text, len(text))

    def _release(self, text: str, end: int) -> str:
        returned = len(self._before)
        spans = [(max(start, returned), stop) for start, stop in secret_spans(text[:end]) if stop > returned]
        self._before, self.held = text[max(0, end - _CONTEXT) : end], text[end:]
        return showable_text(mask_spans(text[:end], spans)[returned:])


def _secret_start(text: str) -> int:
    """Where the part begins that must be held back, because it may be the start of a secret."""
    start = _known_start(text)
    for head in SHAPES:
        at = text.find(head, max(0, len(text) - _MAX_KEY))
        while 0 <= at < start:
            if _KEY_TO_THE_END.match(text, at + len(head)):
                start = min(start, at + len(head) - 1)
            at = text.find(head, at + 1)
    return start


def _known_start(text: str) -> int:
    start = len(text)
    if text[-PIECE:] not in PIECES and not _ends_escaped(text):
        return start
    for reading in readings(_without_unfinished(text)):
        for tail in (reading.text, _without_unfinished(reading.text)):
            # Fewer characters of a secret occur in many words.
            for secret in registered if tail[-PIECE:] in PIECES else ():
                at = tail.find(secret[:PIECE], max(0, len(tail) - len(secret) + 1))
                while at >= 0 and not secret.startswith(tail[at:]):
                    at = tail.find(secret[:PIECE], at + 1)
                if at >= 0:
                    last = at + PIECE - 1
                    start = min(start, reading.origin(last, last + 1)[0])
    return start


def _ends_escaped(text: str) -> bool:
    """Whether the text ends with characters of a registered value, some of them escaped."""
    end = text[-_LAST_ESCAPES:]
    if "%" not in end and "&" not in end and "\\" not in end:
        return False
    end = _without_unfinished(end)
    for _ in range(MAX_ESCAPES + 1):
        if end[-PIECE:] in PIECES or _without_unfinished(end)[-PIECE:] in PIECES:
            return True
        decoded = ESCAPE.sub(character_of, end)
        if decoded == end:
            return False
        end = decoded
    return False


def _without_unfinished(text: str) -> str:
    found = _UNFINISHED.search(text, max(0, len(text) - _CONTEXT))
    return text[: found.start()] if found else text
