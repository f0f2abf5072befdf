"""Masks secrets in a text that arrives in pieces."""

import re

from agent_nb._base.key_shapes import SHAPES
from agent_nb._base.secrets import PIECE, PIECES, mask_spans, registered, secret_spans
from agent_nb._base.text import showable_text

_MAX_KEY = 2_000
"""Characters of a possible key that may be held back; signed tokens have about a thousand."""
_CONTEXT = 12
"""Characters to remember of the text before: more than the longest start of a shape."""
_KEY_TO_THE_END = re.compile(r"[A-Za-z0-9_\-.~+/=]*\Z")


class StreamMasker:
    """Masks one text piece by piece. The end of a piece is held back only while it may be the start of a secret.

    What is held back depends on the text so far, not on how it was cut into pieces.
    """

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
    """Where the part begins that must be held back, because it may be the start of a secret.

    The characters that made it suspicious are released, except for the last: without that, nothing was suspicious.
    """
    start = len(text)
    # Fewer characters of a secret occur in many words.
    for secret in registered if text[-PIECE:] in PIECES else ():
        head = secret[:PIECE]
        at = text.find(head, max(0, len(text) - len(secret) + 1))
        while 0 <= at < start:
            if secret.startswith(text[at:]):
                start = min(start, at + len(head) - 1)
            at = text.find(head, at + 1)
    for head in SHAPES:
        at = text.find(head, max(0, len(text) - _MAX_KEY))
        while 0 <= at < start:
            if _KEY_TO_THE_END.match(text, at + len(head)):
                start = min(start, at + len(head) - 1)
            at = text.find(head, at + 1)
    return start
