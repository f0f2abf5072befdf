"""Takes secrets out of text: the key values we were given, and strings shaped like a key.

Everything that leaves the kernel by itself passes here: what a cell shows and saves, saved runs, cassettes, the
page, the terminal, errors and log lines. Text that holds nothing suspicious comes back as the same object.
"""

import html
import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

MASK = "•••"

_SHORTEST = 8
"""Shorter values are never masked: they occur inside ordinary words."""
_LONGEST_WORDS = 20
_WORDS = re.compile(r"(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)(?:[-_. ](?:[a-z]+|[A-Z]+|[A-Z][a-z]+))*")
_FEWEST_CHARACTERS = 5
"""Distinct characters of a secret; `xxxxxxxx` and `00000000` have fewer."""

# In JSON that is written inside a text, a new line before the key ends in a letter.
_BEGINS = r"(?:\b|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
_LONE = r"(?:(?<![A-Za-z0-9_\-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
_SHAPES = {
    # Style sheets have names such as `sk-toggleable__content`: other vendors' keys have a long stretch with digits.
    "sk-": re.compile(
        _BEGINS + r"sk-(?:(?:admin|ant|lf|or|proj|svcacct)-[A-Za-z0-9_\-]{16,}"
        r"|(?:[A-Za-z0-9]{1,15}[_\-]+){0,4}(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{16,}[A-Za-z0-9_\-]*)"
    ),
    "sk_": re.compile(_BEGINS + r"sk_(?:live|test)_[A-Za-z0-9]{16,}"),
    "AIza": re.compile(_BEGINS + r"AIza[A-Za-z0-9_\-]{30,}"),
    "AQ.": re.compile(_BEGINS + r"AQ\.[A-Za-z0-9_\-]{30,}"),
    "gsk_": re.compile(_BEGINS + r"gsk_[A-Za-z0-9_]{16,}"),
    "hf_": re.compile(_BEGINS + r"hf_[A-Za-z0-9]{20,}"),
    "ghp_": re.compile(_BEGINS + r"ghp_[A-Za-z0-9_]{16,}"),
    "github_pat_": re.compile(_BEGINS + r"github_pat_[A-Za-z0-9_]{16,}"),
    "pplx-": re.compile(_BEGINS + r"pplx-[A-Za-z0-9]{16,}"),
    "xox": re.compile(_BEGINS + r"xox[abprs]-[A-Za-z0-9\-]{10,}"),
    "AKIA": re.compile(_BEGINS + r"AKIA[A-Z0-9]{16}"),
    "eyJ": re.compile(_LONE + r"eyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]{8,}){2}"),
    "earer ": re.compile(r"(?<=[Bb])earer (?P<secret>(?=[A-Za-z_\-.~+/=]{0,60}\d)[A-Za-z0-9_\-.~+/=]{8,})"),
}
"""By the letters to look for first: that is quick, and what is not there needs no closer look."""
_DATA = re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{500,}={0,2}")
"""A picture or a signature in base64: what is shaped like a key in it is so by chance, and a mask would break it."""
_TELLING = 4
"""First characters by which a known secret is suspected; fewer are in many words."""
_LONGEST = 2_000
"""Characters of a key that may wait for its end: a signed token has a thousand or so."""
_CONTEXT = 12
"""Characters to remember of what was told: more than those that a shape begins with."""
_TO_THE_END = re.compile(r"[A-Za-z0-9_\-.~+/=]*\Z")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_known: set[str] = set()


def whole_text(text: str) -> str:
    """The text without lone surrogates: half of a character cannot be saved or sent as UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def safe_text(text: str) -> str:
    """Text as it may leave the kernel: without secrets, and without what no front end can save or show."""
    return mask(_showable(text))


def _showable(text: str) -> str:
    return whole_text(text.replace("\0", "\ufffd"))


def can_be_secret(value: str) -> bool:
    """Whether masking a value protects something.

    Local servers are given keys such as `placeholder`, `lm-studio` or `not-needed`. These are ordinary words, and
    masking them would corrupt pages that use them.
    """
    if len(value) < _SHORTEST or len(set(value)) < _FEWEST_CHARACTERS:
        return False
    return len(value) >= _LONGEST_WORDS or _WORDS.fullmatch(value) is None


def register(secret: str) -> None:
    """Masks this value from now on, also where it is escaped for HTML or JSON."""
    if can_be_secret(secret):
        _known.update((secret, html.escape(secret), html.escape(secret, quote=False)))
        _known.update((json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]))


def mask(text: str) -> str:
    """The text with every known or key-shaped secret replaced by `•••`; long data in base64 stays as it is."""
    spans = _secrets(text)
    return _masked(text, spans) if spans else text


def mask_pieces(texts: Sequence[str]) -> list[str]:
    """The pieces of one text, scrubbed across their cuts: the mask stands where the secret began."""
    joined = "".join(texts)
    spans = _secrets(joined)
    if not spans:
        return list(texts)
    characters = list(joined)
    for start, end in spans:
        characters[start:end] = [MASK, *[""] * (end - start - 1)]
    rest = iter(characters)
    return ["".join(itertools.islice(rest, len(text))) for text in texts]


def mask_json(value: Any) -> Any:
    """The same for every string in a JSON value."""
    return change_texts(value, mask)


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with every string in it changed, the keys too."""
    match value:
        case str():
            return change(value)
        case dict():
            return {
                change(key) if isinstance(key, str) else key: change_texts(item, change)
                for key, item in value.items()
            }
        case list() | tuple():
            return [change_texts(item, change) for item in value]
        case _:
            return value


def dump_masked(value: Any) -> str:
    """The JSON text of a value without its secrets."""
    text = json.dumps(value, ensure_ascii=False)
    return text if mask(text) is text else json.dumps(mask_json(value), ensure_ascii=False)


class StreamMasker:
    """Cleans one text that comes in pieces. An end that may be the beginning of a secret waits for the next piece.

    What it gives does not lag behind otherwise, and where it stands depends on the text alone, not on the cuts.
    """

    __slots__ = ("_before", "held")

    def __init__(self) -> None:
        self.held = ""
        self._before = ""
        """The last characters given: they may be the very first of a secret."""

    def more(self, piece: str) -> str:
        """What can be told now, of this piece and of what was held."""
        text = self._before + self.held + piece
        return self._tell(text, max(len(self._before), _open_end(text)))

    def rest(self) -> str:
        """What was held: the text goes on no more."""
        text = self._before + self.held
        return self._tell(text, len(text))

    def _tell(self, text: str, end: int) -> str:
        told = len(self._before)
        spans = [(max(start, told), stop) for start, stop in _secrets(text[:end]) if stop > told]
        self._before, self.held = text[max(0, end - _CONTEXT) : end], text[end:]
        return _showable(_masked(text[:end], spans)[told:])


def _open_end(text: str) -> int:
    """Where the end begins that may belong to a secret: to a known one, or to a shape that is not closed yet.

    The letters by which it is suspected are told, but for the last: until then there was nothing to suspect.
    """
    start = len(text)
    for secret in _known:
        head = secret[:_TELLING]
        at = text.find(head, max(0, len(text) - len(secret) + 1))
        while 0 <= at < start:
            if secret.startswith(text[at:]):
                start = min(start, at + len(head) - 1)
            at = text.find(head, at + 1)
    for hint in _SHAPES:
        at = text.find(hint, max(0, len(text) - _LONGEST))
        while 0 <= at < start:
            if _TO_THE_END.match(text, at + len(hint)):
                start = min(start, at + len(hint) - 1)
            at = text.find(hint, at + 1)
    return start


def _masked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    ends = [0, *(end for _, end in spans)]
    kept = [text[end:start] for end, (start, _) in zip(ends, spans, strict=False)]
    return MASK.join([*kept, text[ends[-1] :]])


def _secrets(text: str) -> list[tuple[int, int]]:
    """Where the secrets stand, in order; what begins inside of data is none."""
    if len(text) < _SHORTEST or not _is_suspicious(text):
        return []
    found = [*_known_in(text), *_shaped_in(text)]
    if not found:
        return found
    regions = [(start, False, end) for start, end in found]
    regions += [(data.start(), True, data.end()) for data in _DATA.finditer(text)]
    spans: list[tuple[int, int]] = []
    reach, in_data = 0, False
    for start, is_data, end in sorted(regions):
        if start >= reach:
            reach, in_data = end, is_data
            if not is_data:
                spans.append((start, end))
        elif not is_data and not in_data and end > reach:
            reach = end
            spans[-1] = spans[-1][0], end
    return spans


def _is_suspicious(text: str) -> bool:
    """Whether to look closer: asked of every string there is, and nearly always answered with no."""
    for hint in _SHAPES:  # a plain loop: a generator would cost more than all the looking
        if hint in text:
            return True
    for secret in _known:  # noqa: SIM110
        if secret in text:
            return True
    return False


def _known_in(text: str) -> Iterator[tuple[int, int]]:
    for secret in _known:
        at = text.find(secret)
        while at >= 0:
            yield at, at + len(secret)
            at = text.find(secret, at + len(secret))


def _shaped_in(text: str) -> Iterator[tuple[int, int]]:
    for hint, shape in _SHAPES.items():
        at = text.find(hint)
        while at >= 0:
            found = shape.match(text, at)
            if found:
                yield found.span("secret" if "secret" in shape.groupindex else 0)
            at = text.find(hint, found.end() if found else at + 1)
