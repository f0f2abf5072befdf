"""What API keys look like, so that keys nobody registered are masked too."""

import re
from collections.abc import Iterator

# A key may follow an escaped newline, as in JSON inside a text: that ends in a letter, so \b does not match there.
_BEGINS = r"(?:\b|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
_LONE = r"(?:(?<![A-Za-z0-9_\-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
SHAPES = {
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
"""Patterns by the characters they start with. Searching for those first is fast, and most texts have none."""
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{500,}={0,2}")

Span = tuple[int, int]


def key_spans(text: str) -> Iterator[Span]:
    """Where the text has something with the shape of a key."""
    for start, shape in SHAPES.items():
        at = text.find(start)
        while at >= 0:
            found = shape.match(text, at)
            if found:
                yield found.span("secret" if "secret" in shape.groupindex else 0)
            at = text.find(start, found.end() if found else at + 1)


def data_spans(text: str) -> Iterator[Span]:
    """Where the text has long base64 data: an image or a signature, which a mask would break."""
    return (found.span() for found in _BASE64.finditer(text))
