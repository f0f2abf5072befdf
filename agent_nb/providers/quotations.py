"""Recognises written tool calls that quote a text of the request: a model that repeats a call does not mean to make it.

Values are compared as numbers and letters, so that the form of the text does not matter: JSON, YAML, XML, Python, with
numbered lines, escaped, full-width. Code is compared without regard to its layout.
"""

import ast
import functools
import itertools
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import Context, Decimal
from typing import Any

from agent_nb._base.secrets import readings
from agent_nb._base.wire import Json
from agent_nb.core.messages import Message, Text, ToolCall, ToolResult, ToolSpec
from agent_nb.files import Files

_NO_LETTERS = re.compile(r"[\W_]+")
_INVISIBLE = ("Mn", "Me", "Cf")
"""Categories of accents and of characters without width."""
_OPENING, _SIGNS = '("', "=:<>{}[]|/"
"""Characters that stand around the words of a call, but not around those of prose."""
_NO_MARKS = re.compile(rf"(?:[^\w{re.escape(_OPENING + _SIGNS)}]|_)+")
_MARKS = re.compile(f"[{re.escape(_OPENING + _SIGNS)}]+")
_NAME_KEYS = ("name", "function", "tool", "action")
_NUMBER = re.compile(r"(?:[0-9][0-9_]{0,400})?\.?[0-9][0-9_]{0,400}(?:e[+-]?[0-9]{1,4})?")
_EXACT = Context(prec=1_000)
_LINE_NUMBER = re.compile(r"^[^\w\n]*(?:l(?:ine)? ?)?[0-9]+[^\w\n]+", re.MULTILINE)
_TAG = re.compile(r"<[^<>]*>")
_LETTERS = re.compile(r"[^\W\d_]+")
_COMMENT = re.compile(r"#[^\n]*")
_MARGIN = re.compile(r"^[ \t>|.$#*+-]*(?:(?:in ?)?\[?[0-9]+\]?[ \t:|.)]+)?[ \t>|.$#*+-]*", re.MULTILINE)
"""What may precede a line of code: indentation, `>>>`, `12:`, `In [3]:`, `#`."""
_TOKEN = re.compile(r"\w+|[^\w\s()'\",;\\#`]")
"""Words and signs, without what a layout may change: brackets, quotation marks, separators, line continuations."""

_MOST_VALUES = 1_000
"""Values of a written call. One with more counts as a quotation."""
_LEAST_TOKENS = 4
"""Tokens of code that is searched for inside the lines of data: `df`, a name there, is no quotation."""


class _Folding(dict[int, str]):
    """The letters of each character in NFKD and lower case. `normalize` takes quadratic time for many accents."""

    def __missing__(self, code: int) -> str:
        letters = unicodedata.normalize("NFKD", chr(code)).casefold()
        self[code] = "".join(letter for letter in letters if unicodedata.category(letter) not in _INVISIBLE)
        return self[code]


_FOLDING = _Folding()


def sent_texts(
    system: str, messages: Sequence[Message], tools: Sequence[ToolSpec], files: Files
) -> Iterator[str]:
    """The texts a model reads but did not write: instructions, prompts, results, tools and files."""
    yield system
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult) or (isinstance(part, Text) and message.role != "assistant"):
                yield part.text
    for tool in tools:
        yield json.dumps([tool.description, tool.schema], ensure_ascii=False)
    for content in files.values():
        yield content if isinstance(content, str) else content.decode("utf-8", "replace")


def is_quoted(call: ToolCall, texts: Iterable[str]) -> bool:
    """Whether a call may be a quotation: a text of the request calls the same tool with the same values."""
    name, values = (
        _letters(call.name),
        [*itertools.islice(_values(json.loads(call.arguments)), _MOST_VALUES + 1)],
    )
    return len(values) > _MOST_VALUES or any(
        _quotes(_folded(text), _spelled(name), values) for text in texts if name in _letters(text)
    )


def is_code_quoted(code: str, texts: Iterable[str], data: Iterable[str] = ()) -> bool:
    """Whether the same code stands as whole lines in one of these texts, or anywhere in one of the data.

    In data it may be an entry of a row, or an item of a list. Very short code is not searched for there.
    """
    readings = _readings_of_code([code, canonical_code(code)])
    needles = [f" {' '.join(tokens)} " for tokens in map(_TOKEN.findall, readings) if tokens]
    long = [needle for needle in needles if len(needle.split()) >= _LEAST_TOKENS]
    words = {*_LETTERS.findall(_COMMENT.sub("", _folded(canonical_code(code))))}

    def candidates(texts: Iterable[str]) -> Iterator[str]:
        return _readings_of_code(text for text in texts if all(word in _folded(text) for word in words))

    in_lines = any(_has_lines(reading, needles) for reading in candidates(texts))
    return in_lines or any(_has_tokens(reading, long) for reading in candidates(data))


def canonical_code(code: str) -> str:
    """The code as written from its syntax tree, so that the layout does not matter; unchanged if it is invalid."""
    try:
        return ast.unparse(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code.strip()


def _readings_of_code(texts: Iterable[str]) -> Iterator[str]:
    """Each text in plain letters without comments, and with comments as if they were code."""
    for text in texts:
        folded = _folded(text)
        for reading in (_COMMENT.sub("", folded), folded):
            yield _spelled(_MARGIN.sub("", reading))


def _has_tokens(text: str, needles: Sequence[str]) -> bool:
    joined = f" {' '.join(_TOKEN.findall(text))} "
    return any(needle in joined for needle in needles)


def _has_lines(text: str, needles: Sequence[str]) -> bool:
    """Whether the tokens of a needle are those of one or more whole lines."""
    lines = [f"{' '.join(tokens)} " for tokens in map(_TOKEN.findall, text.splitlines()) if tokens]
    edges = {*itertools.accumulate(map(len, lines), initial=0)}
    joined = f" {''.join(lines)}"
    for needle in needles:
        start = joined.find(needle)
        while start >= 0:
            if start in edges and start + len(needle) - 1 in edges:
                return True
            start = joined.find(needle, start + 1)
    return False


def _values(arguments: Json) -> Iterator[tuple[str, str]]:
    """The values of a call, each with and without its key. True, false and null are empty: they have many spellings."""
    entries: list[tuple[str, Any]] = [("", arguments)]
    while entries:
        key, value = entries.pop()
        if isinstance(value, dict):
            entries += value.items()
        elif isinstance(value, list):
            entries += [("" if place else key, item) for place, item in enumerate(value)]
        else:
            is_word = value is None or isinstance(value, bool)
            text = "" if is_word else value if isinstance(value, str) else json.dumps(value)
            yield _spelled(_folded(f"{key} {text}")), _spelled(_folded(text))


def _quotes(text: str, name: str, values: Sequence[tuple[str, str]]) -> bool:
    """Whether a text calls the tool with these values, as in `f("x")`, `f: {a: x}` or `<f><a>x</a></f>`.

    In "use the tool f for x" there is no mark beside the name. Values need their keys before them, unless they are
    between tags or begin right after the name. A name without values needs a key, as in `tool: f`.
    """
    lines = _spelled(text)
    marked, marks = _marked(lines), "(="
    if not values:
        return any(key + mark + name in marked for key in _NAME_KEYS for mark in marks)
    if not any(name + mark in marked or mark + name in marked for mark in marks):
        return False
    starts = filter(None, (_marked(value).strip(marks) for _, value in values))
    has_keys = not any(f"{name}({start}" in marked for start in starts)
    unnumbered = _spelled(_LINE_NUMBER.sub("\n", text))
    plain, elements = f"{_plain(lines)}\n{_plain(unnumbered)}", f"<{_elements(unnumbered)}<"
    return all(
        _plain(pair if has_keys else value) in plain or (value and f"<{_elements(value)}<" in elements)
        for pair, value in values
    )


@functools.lru_cache(maxsize=64)
def _letters(text: str) -> str:
    return _plain(_folded(text))


@functools.lru_cache(maxsize=64)
def _folded(text: str) -> str:
    """The text in plain letters, with its escapes decoded."""
    *_, reading = readings(text.translate(_FOLDING))
    return reading.text.translate(_FOLDING)


def _spelled(text: str) -> str:
    return _NUMBER.sub(lambda number: _one_spelling(number[0]), text)


@functools.lru_cache(maxsize=4_096)
def _one_spelling(number: str) -> str:
    """`250`, `2.5e2` and `250.00` become `n2.5e+2n`, which is not a part of another number."""
    digits = number.replace("_", "")
    value = Decimal(digits if digits.isdigit() else repr(float(digits)))
    return f"n{value.normalize(_EXACT):e}n".replace("-", "n")


def _plain(text: str) -> str:
    return _NO_LETTERS.sub("", text)


def _marked(text: str) -> str:
    """Letters and numbers, with `(` for brackets and quotation marks between them and `=` for other signs."""
    return _MARKS.sub(lambda run: "(" if run[0].strip(_SIGNS) else "=", _NO_MARKS.sub("", text))


def _elements(text: str) -> str:
    return "<".join(map(_plain, _TAG.split(text)))
