"""Text that can be saved and shown."""

import re
from collections.abc import Callable
from typing import Any

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def whole_text(text: str) -> str:
    """Replaces lone surrogates: half a character cannot be encoded as UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def showable_text(text: str) -> str:
    """Replaces what no front end can save or show: lone surrogates and NUL."""
    return whole_text(text.replace("\0", "\ufffd"))


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
