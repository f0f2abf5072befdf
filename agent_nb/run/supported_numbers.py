"""Finds the numbers in an answer that the run's outputs support, and those that nothing has computed.

A number is supported if an output of a tool, or the prompt, has a value that rounds to it at the digits shown. Where a
notation can be read in two ways (`1.234` is 1,234 in German), either may support it.
"""

import json
import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, NamedTuple

from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.secrets import mask
from agent_nb.core.event_list import EventList
from agent_nb.core.events import MimeBundle, ToolFinished, ToolReady
from agent_nb.core.messages import Message, ToolResult
from agent_nb.render.answer_numbers import pointer
from agent_nb.render.safe_markdown import parser

_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_LEFT_ALONE = re.compile(
    r"(?:https?://|www\.)\S+"
    r"|^\d{1,2}[.)](?=\s)"  # a list marker that Markdown takes for text
    r"|(?<!\d)\d{1,4}(?:st|nd|rd|th)\b"
    r"|(?i:\bv|\b(?:version|release|python|pandas|numpy)\s)\s?\d{1,4}(?:\.\d{1,4})+"
    r"|(?<!\d)(?:19|20)\d\d[-/]\d{1,2}(?:[-/]\d{1,2})?(?!\d)"
    r"|(?<![\d.])\d{1,2}\.\d{1,2}\.\d{2,4}(?!\d)|(?<!\d)\d{1,2}/\d{1,2}/\d{2,4}(?!\d)"
    r"|(?<!\d)\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?!\d)|(?<!\d)\d{1,2}\s?[ap]\.?m\b"
    r"|(?<!\d)\d{4}年(?:\d{1,2}月)?(?:\d{1,2}日)?|(?<!\d)\d{1,2}月(?:\d{1,2}日)?"
    rf"|\b{_MONTH}\s{_DAY}(?:\s?[-–]\s?{_DAY})?(?!\d|[.,]\d)"
    rf"|(?<![\d.,]){_DAY}\.?\s(?:(?:of\s)?{_MONTH}|(?:de\s)?[^\W\d_]{{3,12}}\.?,?\s(?:de\s)?(?:19|20)\d\d(?!\d))",
    re.MULTILINE,
)
_NUMBER = re.compile(
    r"(?P<sign>[-−–])?(?=\.?\d|[¼½¾⅐-⅞])(?P<digits>\d+(?:[.,'’_\u00a0\u2009\u202f]\d+)*|\.\d+)?(?P<fraction>[¼½¾⅐-⅞])?"
    r"(?:[eE](?P<e>[-+−–]?\d{1,3})(?!\w)"
    r"|\s?(?:[×x·*]|\\times|\\cdot)\s?10(?:(?:\^\{?|\*\*)(?P<power>[-+−–]?\d{1,3})|(?P<raised>[⁻⁺]?[⁰¹²³⁴-⁹]{1,3})))?"
)
_SCALE = re.compile(
    r"\s?(?:(?P<percent>\\?%|percent|per cent)|(?:(?P<word>thousand|million|billion|trillion|tausend|mio|mrd|milliard)"
    r"[^\W\d_]{,3}|(?P<prefix>[kMGBT])(?:(?P<bytes>i?B)|l?n|rn|Hz|Wh?|bits?|bps|g|m)?))(?!\w)",
    re.IGNORECASE,
)
_BELOW = re.compile(r"\bp(?:[- ]value)?\s?[<≤]\s?\Z", re.IGNORECASE)
_CURRENCY = re.compile(
    r"(?:[$€£¥]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|BRL|Rs|kr)-?)\s?\Z"
)
_EURO = re.compile(r"\s?€(?!\d)")
_PIECE = re.compile(r"[\d.]+")
_MARK = re.compile(r"\D")
_YEAR = re.compile(r"(?:19|20)\d\d")
_SPACED = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
_TAG = re.compile(r"<[^<>]*>")
_POWERS = {"k": 3, "m": 6, "g": 9, "b": 9, "t": 12, "thousand": 3, "tausend": 3, "million": 6, "mio": 6}
_POWERS |= {"billion": 9, "mrd": 9, "milliard": 9, "trillion": 12}
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_LONGEST = 40
"""Maximum characters of a number; anything longer is a key or other data."""
_MOST_TEXT = 5_000_000
"""Maximum characters of outputs to search, which takes seconds; beyond that nothing is marked."""

Interval = tuple[float, float]
"""A value, and the unit of its last digit."""


class Match(NamedTuple):
    """A value that supports a number."""

    source: str
    value: float
    is_exact: bool
    """Whether it is the number, and does not only round to it."""


class _Values:
    """Values with the call that last printed them; an empty id means the prompt or an earlier run."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._calls = {value: call_id for call_id, text in texts for value in _values_in(text)}
        self._sorted = sorted(self._calls)

    def call_of(self, readings: Iterable[Interval]) -> Match | None:
        """The call with a value that rounds to one of these readings."""
        for value, unit in readings:
            reach = 0.5 * unit * (1 + 1e-9) + abs(value) * 1e-12
            at = bisect_left(self._sorted, value)
            neighbours = self._sorted[max(0, at - 1) : at + 1]
            near = min(neighbours, key=lambda neighbour: abs(neighbour - value), default=math.inf)
            if abs(near - value) <= reach:
                return Match(self._calls[near], near, abs(near - value) <= abs(value) * 1e-12)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSources:
    """Where the numbers of an answer may come from."""

    events: EventList
    earlier: Sequence[Message]
    """Messages of the runs that this run continues."""
    own: Sequence[Message]
    call_ids: Sequence[str]
    """Event ids of the calls in `own`."""
    had_data: bool
    """Whether the model was given the user's data, or tools to read it."""
    typed: Any = None
    """The answer as JSON if it has a type."""
    is_demo: bool = False
    """Whether the offline demo wrote it, which makes up the numbers of an answer with a type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedNumber:
    """A number in an answer, and the value that supports it."""

    start: int
    text: str
    path: str | None = None
    """As in `AnswerNumber`."""
    match: Match | None = None
    """None if nothing supports the number."""

    @property
    def source(self) -> str | None:
        return self.match.source if self.match else None


def traced_numbers(
    answer: str, typed: Any, texts: Callable[[], Iterable[tuple[str, str]]] | None, *, is_demo: bool = False
) -> tuple[TracedNumber, ...]:
    """The numbers of the text in order, then those of the answer with a type, as far as these texts support them.

    The texts come with their sources; None stands for no search, which finds only the numbers that a demo made up. A
    year that nothing supports is left out.
    """
    places: list[tuple[str | None, str]] = [(None, answer)]
    made_up = []
    for path, value in _values_of(typed):
        text = value if isinstance(value, str) else json.dumps(value)
        if is_demo and text is not value:
            made_up.append(TracedNumber(start=0, text=text, path=path))
        else:
            places.append((path, text))
    numbers = [(path, *number) for path, text in places for number in _numbers_in(mask(text)) if texts]
    searched = list(texts()) if numbers and texts else []
    if sum(len(text) for _, text in searched) > _MOST_TEXT:
        return tuple(made_up)
    values, table = _Values(searched), []
    for at, start, text, readings, is_year in numbers:
        match = values.call_of(readings)
        if match or not is_year:
            table.append(TracedNumber(start=start, text=text, path=at, match=match))
    return (*table, *made_up)


def numbers_of(answer: str, sources: AnswerSources) -> tuple[TracedNumber, ...]:
    """The traced numbers of a run. The source is the id of a call, or empty for the prompt and earlier runs.

    Empty if the run had no data and printed nothing, except for numbers that the demo made up.
    """
    is_searched = sources.had_data or _has_printed(sources.events)
    texts = partial(_texts, sources) if is_searched else None
    return traced_numbers(answer, sources.typed, texts, is_demo=sources.is_demo)


def _values_of(answer: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The texts and numbers of an answer, each after its JSON pointer."""
    if isinstance(answer, Mapping | list):
        for key, value in answer.items() if isinstance(answer, Mapping) else enumerate(answer):
            yield from _values_of(value, pointer(path, key))
    elif answer is not None and not isinstance(answer, bool):
        yield path, answer


def _has_printed(events: EventList) -> bool:
    """Whether code of the run has produced any output other than images."""
    with_code = {event.call_id for event in events.of(ToolReady) if isinstance(event.args.get("code"), str)}
    ends = (end for end in events.of(ToolFinished) if end.call_id in with_code)
    return any(output_text(bundle).strip() for end in ends for bundle in end.outputs)


def line_with(value: float, text: str) -> str:
    """The first line that has this value; empty if it is in the form of several lines."""
    return next((line for line in text.splitlines() if value in _values_in(line)), "")


def output_text(bundle: MimeBundle) -> str:
    """The text of an output that may have numbers."""
    if NAMES_TYPE in bundle or any(kind.startswith("image/") for kind in bundle):
        return ""
    plain = (str(bundle.get(kind, "")) for kind in ("text/plain", "text/markdown"))
    return "\n".join((*plain, _TAG.sub(" ", str(bundle.get("text/html", "")))))


def _texts(sources: AnswerSources) -> Iterator[tuple[str, str]]:
    """Texts that may contain values: prompts, results of earlier runs, then this run's outputs."""
    for message in (*sources.earlier, *sources.own):
        yield "", message.text if message.role == "user" else ""
        yield from (("", part.text) for part in message.parts if isinstance(part, ToolResult))
    results = [part.text for message in sources.own for part in message.parts if isinstance(part, ToolResult)]
    yield from zip(sources.call_ids, results, strict=False)
    for end in sources.events.of(ToolFinished):
        yield from ((end.call_id, output_text(bundle)) for bundle in end.outputs)


def _values_in(text: str) -> Iterator[float]:
    """Every value that a text may contain, and its negative after a minus sign."""
    text = text.translate(_FULL_WIDTH)
    for match in _NUMBER.finditer(text):
        readings, digits = _readings(match), match["digits"] or ""
        if "," in digits or "_" in digits:
            readings += [reading for piece in _PIECE.findall(digits) for reading in _digit_readings(piece)]
        for scale in _scales(text, match.end()):
            for value, _ in readings:
                yield value * scale
                if match["sign"]:
                    yield -value * scale


def _numbers_in(markdown: str) -> Iterator[tuple[int, str, list[Interval], bool]]:
    """Numbers in an answer that need support: offset, text, possible readings, whether it may be a year."""
    at = 0
    for segment in _segments(markdown):
        units = list(accumulate((1 + (character > "\uffff") for character in segment), initial=at))
        at = units[-1]
        text = _LEFT_ALONE.sub(lambda match: " " * len(match[0]), segment.translate(_FULL_WIDTH))
        text = _SPACED.sub("\u202f", text)
        for match in _NUMBER.finditer(text):
            for start, end, readings in _tokens(text, match):
                scales = dict.fromkeys((*_scales(text, end), 0.01))
                scaled = [(value * scale, unit * scale) for scale in scales for value, unit in readings]
                is_price = _CURRENCY.search(text[max(0, start - 5) : start]) or _EURO.match(text, end)
                is_year = len(scales) == 2 and not is_price and _YEAR.fullmatch(text[start:end]) is not None
                yield units[start], segment[start:end], scaled, is_year


def _segments(markdown: str) -> Iterator[str]:
    """The displayed text without code, in segments that never split a number."""
    for block in parser().parse(markdown):
        segment = ""
        for token in block.children or ():
            if token.type in ("code_inline", "hardbreak"):
                yield segment
                segment = ""
            else:
                segment += "\n" if token.type == "softbreak" else token.content
        yield segment


def _tokens(text: str, match: "re.Match[str]") -> Iterator[tuple[int, int, list[Interval]]]:
    """The numbers of a match: one, or several separated by commas. Parts of words and small counts are ignored.

    `5%` and `3 million` are no counts. `p < 0.001` is supported by any value from 0 to 0.001.
    """
    start, digits = match.start(), match["digits"] or ""
    before = text[max(0, start - 5) : start]
    if re.search(r"[A-Za-zÀ-ɏ_#]-?\Z", before) and not _CURRENCY.search(before):
        return
    exponent = match["e"] or match["power"] or match["raised"]
    is_count = digits.isdecimal() and not exponent and float(digits) <= 10
    if not digits or (is_count and _scales(text, match.end()) == [1.0]):
        return
    signed = match["sign"] and (start == 0 or re.match(r"[\s(\[{=:|~<>≈,;/\"'“‘$€£¥]", text[start - 1]))
    if readings := _readings(match):
        if _BELOW.search(text[max(0, start - 12) : start]):
            readings += [(value / 2, value) for value, _ in readings]
        sign = -1 if signed else 1
        first = start if signed or not match["sign"] else start + 1
        yield first, match.end(), [(sign * value, unit) for value, unit in readings]
        return
    for piece in _PIECE.finditer(text, *match.span("digits")):
        readings = list(_digit_readings(piece[0]))
        if readings and not (piece[0].isdecimal() and float(piece[0]) <= 10):
            yield *piece.span(), readings


def _readings(match: "re.Match[str]") -> list[Interval]:
    """Possible readings of a number, without its sign."""
    readings = list(_digit_readings(match["digits"] or "0"))
    if fraction := match["fraction"]:
        readings = [(value + unicodedata.numeric(fraction), 0.1) for value, _ in readings]
    if exponent := match["e"] or match["power"] or match["raised"]:
        factor = float("1e" + re.sub("[−–]", "-", unicodedata.normalize("NFKC", exponent)))
        readings = [(value * factor, unit * factor) for value, unit in readings if math.isfinite(factor)]
    return readings


@lru_cache(maxsize=20_000)
def _digit_readings(digits: str) -> tuple[Interval, ...]:
    """`1,234.5`, `1.234,5`, `1\u202f234` or `.5` in all possible readings; `2.3.1` has none."""
    if len(digits) > _LONGEST:
        return ()
    *groups, last = _MARK.split(digits)
    marks = _MARK.findall(digits)
    readings: tuple[Interval, ...] = ()
    if not marks or (len(set(marks)) == 1 and _are_thousands([*groups, last])):
        whole = "".join((*groups, last))
        # Trailing zeros may be due to rounding, if at least two other digits remain.
        zeros = len(whole) - max(2, len(whole.rstrip("0")))
        readings = ((float(whole), 10.0 ** max(0, zeros)),)
    decimal = marks and marks[-1] in ".," and marks[-1] not in marks[:-1] and len(set(marks[:-1])) < 2
    if decimal and (not groups[1:] or _are_thousands(groups)):
        readings += ((float(f"{''.join(groups)}.{last}"), 10.0 ** -len(last)),)
    return readings


def _are_thousands(groups: list[str]) -> bool:
    """Whether these are groups of three digits; Indian notation has two in the middle groups."""
    first, *middle, last = groups
    return (
        0 < len(first) <= 3
        and first[0] != "0"
        and len(last) == 3
        and all(len(group) in (2, 3) for group in middle)
    )


def _scales(text: str, end: int) -> list[float]:
    """Possible factors after a number: 1, and that of a `%`, `k`, `MB` or `million`."""
    scale = _SCALE.match(text, end)
    if not scale:
        return [1.0]
    if scale["percent"]:
        return [1.0, 0.01]
    power = _POWERS[(scale["prefix"] or scale["word"]).lower()]
    return [1.0, 10.0**power, *([1024.0 ** (power // 3)] if scale["bytes"] else [])]
