"""Masks secrets in text: values that were registered, and strings with the shape of a key.

Whatever leaves the kernel is masked: the output of cells, saved runs, cassettes, the page, the terminal, errors
and log lines. Text without secrets is returned as the same object.
"""

import html
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from agent_nb._base.key_shapes import SHAPES, Span, data_spans, key_spans
from agent_nb._base.text import change_texts, showable_text

MASK = "•••"

_MIN_LENGTH = 8
"""Shorter values are never masked, because they occur inside ordinary words."""
_MIN_DISTINCT = 5
"""Characters that must differ: `xxxxxxxx` and `00000000` are not secrets."""
_MAX_WORDS_LENGTH = 20
_WORDS = re.compile(r"(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)(?:[-_. ](?:[a-z]+|[A-Z]+|[A-Z][a-z]+))*")

_MIN_LINE = 16
"""Shorter lines of a secret are masked only together with the others."""
_NEWLINE = re.compile(r"(?:\\+[nr]|[\r\n])+")
"""As it is, or escaped as in JSON."""
_HARMLESS_LINE = re.compile(r'^-----|": ')
_MAX_ESCAPES = 4
"""A string of JSON that holds JSON that quotes JSON, as a saved run may, and once more in the run itself."""
_MIN_IN_DATA = 40
"""Registered values of this length do not occur in base64 data by chance."""

registered: set[str] = set()
"""The values to mask, in all their escaped forms, and the long lines of those that have several."""

PIECE = 4
PIECES: set[str] = set()
"""All stretches of that many characters in registered values. A text that ends in none ends in no part of a value."""


def can_be_secret(value: str) -> bool:
    """Whether masking a value protects something.

    Local servers are given keys such as `placeholder`, `lm-studio` or `not-needed`. These are ordinary words, and
    masking them would corrupt pages that use them.
    """
    if len(value) < _MIN_LENGTH or len(set(value)) < _MIN_DISTINCT:
        return False
    return len(value) >= _MAX_WORDS_LENGTH or _WORDS.fullmatch(value) is None


def register(secret: str) -> None:
    """Masks this value from now on, also where it is escaped or folded, and each long line of it by itself."""
    folded = " ".join(secret.split())
    for text in (secret, folded):
        if can_be_secret(text):
            _add(_escaped_forms(text))
    _add(_long_lines(secret))


def _add(texts: Iterable[str]) -> None:
    for text in texts:
        if text not in registered:
            registered.add(text)
            PIECES.update(text[at : at + PIECE] for at in range(len(text) - PIECE + 1))


def _escaped_forms(text: str) -> Iterator[str]:
    """The text as it is, in HTML, in a URL, and in JSON, which may itself be a string in JSON."""
    yield from (text, html.escape(text), html.escape(text, quote=False), quote(text, safe=""))
    for ascii_only in (True, False):
        escaped = text
        for _ in range(_MAX_ESCAPES):
            escaped = json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]
            yield escaped


def _long_lines(secret: str) -> Iterator[str]:
    """The lines that are secrets by themselves, as those between the first and the last of a private key.

    A field of a JSON document is not: `"type": "service_account"` is in many documents.
    """
    lines = [line.strip() for line in _NEWLINE.split(secret)]
    if len(lines) > 1:
        for line in lines:
            if len(line) >= _MIN_LINE and can_be_secret(line) and not _HARMLESS_LINE.search(line):
                yield line


def mask(text: str) -> str:
    """The text with `•••` in place of each secret. Long base64 data stays as it is."""
    spans = secret_spans(text)
    return mask_spans(text, spans) if spans else text


def masked_line(text: str) -> str:
    """The text without secrets, in one line. Masked first: folded, a secret might not be recognised."""
    return " ".join(mask(text).split())


def safe_text(text: str) -> str:
    """The text without secrets and without characters that front ends cannot save or show."""
    return mask(showable_text(text))


def mask_pieces(texts: Sequence[str]) -> list[str]:
    """Masks the pieces of one text, across their borders: the mask is where the secret began."""
    joined = "".join(texts)
    spans = secret_spans(joined)
    if not spans:
        return list(texts)
    characters = list(joined)
    for start, end in spans:
        characters[start:end] = [MASK, *[""] * (end - start - 1)]
    rest = iter(characters)
    return ["".join(itertools.islice(rest, len(text))) for text in texts]


def mask_json(value: Any) -> Any:
    """Masks every string in a JSON value."""
    return change_texts(value, mask)


def dump_masked(value: Any) -> str:
    """The JSON text of a value without its secrets."""
    text = json.dumps(value, ensure_ascii=False)
    return text if mask(text) is text else json.dumps(mask_json(value), ensure_ascii=False)


def mask_spans(text: str, spans: Sequence[Span]) -> str:
    """The text with `•••` in place of each span."""
    ends = [0, *(end for _, end in spans)]
    kept = [text[end:start] for end, (start, _) in zip(ends, spans, strict=False)]
    return MASK.join([*kept, text[ends[-1] :]])


def secret_spans(text: str) -> list[Span]:
    """Where the secrets are, in order and joined where they overlap. What is short and inside base64 data is none."""
    if len(text) < _MIN_LENGTH or not _is_suspicious(text):
        return []
    known = list(_registered_spans(text))
    secrets = [*known, *key_spans(text)]
    if not secrets:
        return []
    certain = [start for start, end in known if end - start >= _MIN_IN_DATA]
    regions = [(start, False, end) for start, end in secrets]
    regions += [
        (start, True, end)
        for start, end in data_spans(text)
        if not any(start <= place < end for place in certain)
    ]
    spans: list[Span] = []
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
    """Whether to look closer. Called for every string, and nearly always False."""
    for start in SHAPES:  # a plain loop: a generator would take longer than the search
        if start in text:
            return True
    for secret in registered:  # noqa: SIM110
        if secret in text:
            return True
    return False


def _registered_spans(text: str) -> Iterator[Span]:
    for secret in registered:
        at = text.find(secret)
        while at >= 0:
            yield at, at + len(secret)
            at = text.find(secret, at + len(secret))
