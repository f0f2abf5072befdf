"""Text that can be saved and shown."""

import re
from collections.abc import Callable
from typing import Any

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0") | {
    chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}
"""Letters and marks without a glyph: what Unicode calls ignorable, as far as Python calls it printable."""


def whole_text(text: str) -> str:
    """Replaces lone surrogates: half a character cannot be encoded as UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def showable_text(text: str) -> str:
    """Replaces what no front end can save or show: lone surrogates and NUL."""
    return whole_text(text.replace("\0", "\ufffd"))


def printable(text: str, keep: str = "\n\t") -> str:
    """The text as it is shown where a user decides: what shows no glyph or moves others is written out, as `\\x1b`."""
    return "".join(
        each
        if each in keep or (each.isprintable() and each not in _INVISIBLE)
        else each.encode("unicode_escape").decode()
        for each in text
    )


def printable_line(text: str) -> str:
    """The text as one line without control and bidi characters, which could make it look like something else."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Applies a function to every string in a JSON value, keys included."""
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
