"""Takes secrets out of text: the key values we were given, and strings shaped like a key.

Everything that leaves the kernel as an error, a log line or a saved file passes here. Text that holds
nothing suspicious comes back as the same object.
"""

import re
from typing import Any

MASK = "•••"

_SHORTEST = 8
"""A shorter value is no secret, and masking it would eat ordinary words."""

_HINTS = (
    "sk-",
    "sk_",
    "AIza",
    "AQ.",
    "earer ",
    "gsk_",
    "hf_",
    "ghp_",
    "github_pat_",
    "xox",
    "AKIA",
    "pplx-",
    "eyJ",
)
_SHAPES = re.compile(
    r"\b(?:sk-(?:ant-|or-|proj-|svcacct-)?[A-Za-z0-9_\-]{16,}"
    r"|sk_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|AIza[A-Za-z0-9_\-]{30,}"
    r"|AQ\.[A-Za-z0-9_\-]{30,}"
    r"|(?:gsk_|hf_|ghp_|github_pat_)[A-Za-z0-9_]{16,}"
    r"|pplx-[A-Za-z0-9]{16,}"
    r"|xox[abprs]-[A-Za-z0-9\-]{10,}"
    r"|AKIA[A-Z0-9]{16}"
    r"|eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,})"
    r"|(?<=[Bb]earer )[A-Za-z0-9_\-.~+/=]{8,}"
)
_DATA = re.compile(r"[A-Za-z0-9+/]{500,}={0,2}")
"""A picture in base64: what is shaped like a key in it is so by chance, and without it the picture is broken."""
_known: set[str] = set()


def register(secret: str) -> None:
    """Remembers a value that must never be shown."""
    if len(secret) >= _SHORTEST:
        _known.add(secret)


def scrub(text: str) -> str:
    """The text with every known or key-shaped secret replaced by `•••`."""
    for secret in _known:
        if secret in text:
            text = text.replace(secret, MASK)
    for hint in _HINTS:
        if hint in text:
            return text if _DATA.fullmatch(text) else _SHAPES.sub(MASK, text)
    return text


def scrub_json(value: Any) -> Any:
    """The same for every string in a JSON value."""
    match value:
        case str():
            return scrub(value)
        case dict():
            return {
                scrub(key) if isinstance(key, str) else key: scrub_json(item) for key, item in value.items()
            }
        case list() | tuple():
            return [scrub_json(item) for item in value]
        case _:
            return value
