"""Makes text safe to save and to show."""

import difflib
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

SLICE = 32 * 1024
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_EMOJI = "\u00a9\u00ae\u203c\u2049\u2122-\u2bff\u3030-\u3299\U0001f000-\U0001faff"
# The twin is `js/src/base/printable.ts`; tests/support/printable.json contains the cases for both.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f"
    "\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200c\u200e\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
    f"|(?<![{_EMOJI}])\ufe0f|(?<![{_EMOJI}\ufe0f])\u200d|\u200d(?![{_EMOJI}])"
    r"|<(?=U\+[0-9A-F]{4,6}>)"
)
"""Characters without a glyph, bidi and line-breaking characters, and text that looks like their `<U+...>` form."""


def whole_text(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def without_controls(text: str) -> str:
    """Remove control characters, which a terminal would obey."""
    return _CONTROLS.sub("", text)


def slices(text: str) -> Iterator[str]:
    """Yield the text in parts that are encoded one by one: a whole page would be in memory twice."""
    return (text[start : start + SLICE] for start in range(0, len(text), SLICE))


def showable_text(text: str) -> str:
    """Replace lone surrogates and NUL, which front ends cannot save or show."""
    return whole_text(text.replace("\0", "\ufffd"))


def printable(text: str, keep: str = "\n\t") -> str:
    """Return the text as shown for approval, with invisible characters as `<U+001B>`.

    The form `\\x1b` would be ambiguous, because code may contain it. Different texts give different results.
    """
    return _HIDDEN.sub(lambda match: match[0] if match[0] in keep else f"<U+{ord(match[0]):04X}>", text)


def did_you_mean(word: str, words: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a "did you mean" question with the closest known word; empty if none is close."""
    near = difflib.get_close_matches(word, [*words], 1, cutoff)
    return f"Did you mean `{near[0]}`?" if near else ""


def sha256(content: str | bytes) -> str:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    return hashlib.sha256(data).hexdigest()


def fenced(text: str, language: str = "") -> str:
    """Return a Markdown code block, with a fence longer than any backticks in the text."""
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def printable_line(text: str) -> str:
    """Return the text on one line, without control and bidi characters that could disguise it."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def on_one_line(text: str) -> str:
    return " ".join(text.split())


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Join as `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def from_difference(before: str, after: str, limit: int, lead: int) -> tuple[str, str]:
    """Return at most `limit` characters of both texts, starting `lead` characters before the first difference."""
    pairs = enumerate(zip(before, after, strict=False))
    first = next((place for place, (old, new) in pairs if old != new), min(len(before), len(after)))
    start = max(0, first - lead)
    excerpts = [f"{'…' if start else ''}{text[start : start + limit]}" for text in (before, after)]
    ends = ["…" if start + limit < len(text) else "" for text in (before, after)]
    return excerpts[0] + ends[0], excerpts[1] + ends[1]


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Apply a function to every string in a JSON value, including keys."""
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


class TextBuffer:
    """Collects text as UTF-8, which takes a fraction of the memory of a list of short strings."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, text: str) -> None:
        self._data += text.encode("utf-8", "surrogatepass")

    def clear(self) -> None:
        self._data.clear()

    def __len__(self) -> int:
        return len(self._data)

    def equals(self, text: str) -> bool:
        end = 0
        for part in slices(text):
            data = part.encode("utf-8", "surrogatepass")
            if not self._data.startswith(data, end):
                return False
            end += len(data)
        return end == len(self._data)

    def __str__(self) -> str:
        return self._data.decode("utf-8", "surrogatepass")
