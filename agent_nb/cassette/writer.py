"""Writes a cassette as lines of JSON: the first key says what a line is; long texts continue in `more` lines.

Parts of a turn that are what was streamed are not written again, and vendor data refers to the parts.
"""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from agent_nb._base.secrets import mask, mask_pieces
from agent_nb._base.text import change_texts, whole_text
from agent_nb._base.wire import Json, to_wire
from agent_nb.cassette.compact import natural_parts, packed_vendor
from agent_nb.cassette.format import FORMAT, VERSION, Attempt, Cassette, Gap, RecordedVariant
from agent_nb.cassette.timing import write_pace
from agent_nb.messages import Usage
from agent_nb.providers.base import CallPiece, CallStarted, Piece, TextPiece, ThinkingPiece, Turn, UsagePiece

_BREAK = re.compile(r"\n|\\n")
"""A newline, also in its escaped form inside a call's JSON."""
_STREAMED = ("text", "thinking", "args")
_LINE = 80
"""Characters after which a text continues on the next line."""


def write_cassette(cassette: Cassette, *, masked: bool = False) -> str:
    """The lines; if `masked`, without secrets, also where a secret is split over several pieces."""
    lines = _lines(cassette, masked)
    return "".join(_dump(_masked(line) if masked else line) + "\n" for line in lines)


def _masked(line: Json) -> Json:
    """The line without secrets. Streamed text has been masked before it was split into lines."""
    kind = next(iter(line))
    streamed = kind if kind in (*_STREAMED, "more", "pace") else None
    return {
        key: value if key == streamed else change_texts(value, lambda text: mask(whole_text(text)))
        for key, value in line.items()
    }


def _dump(line: Json) -> str:
    text = json.dumps(line, ensure_ascii=False)
    # Some readers end a line at these, though JSON does not.
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")


def _lines(cassette: Cassette, masked: bool) -> Iterator[Json]:
    yield {"format": FORMAT, "version": VERSION}
    yield {"yours": cassette.request}
    yield {"ours": cassette.release}
    for recorded in cassette.variants:
        yield from _variant(recorded, masked)


def _variant(recorded: RecordedVariant, masked: bool) -> Iterator[Json]:
    yield {"variant": recorded.variant, "model": recorded.model, "settings": recorded.settings}
    for number, turn in enumerate(recorded.turns, start=1):
        for attempt in turn.attempts:
            yield from _attempt(number, attempt, masked)
        for moment in turn.moments:
            yield {"tool": moment.what, "id": moment.call, **moment.data, **_after(moment.after)}
    finished = sum(turn.end is not None for turn in recorded.turns)
    yield {
        "end": recorded.reason,
        "turns": finished,
        "seconds": recorded.seconds,
        **({"ended": recorded.ended} if recorded.ended else {}),
        **_cut(recorded),
    }


def _cut(recorded: RecordedVariant) -> Json:
    if not recorded.cut:
        return {}
    line: Json = {
        "during": recorded.cut.during,
        **({"error": recorded.cut.error} if recorded.cut.error else {}),
    }
    if recorded.cut.during == "turn":
        line["cost"] = recorded.turns[-1].attempts[-1].cost
    return {**line, **_after(recorded.cut.after)}


def _attempt(number: int, attempt: Attempt, masked: bool) -> Iterator[Json]:
    last_call = ""
    for (kind, call), group in itertools.groupby(attempt.pieces, key=_kind):
        if kind in _STREAMED:
            pieces: list[Any] = list(group)
            texts = [piece.text for _, piece in pieces]
            texts = mask_pieces([whole_text(text) for text in texts]) if masked else texts
            cuts = [(len(text), gap) for text, (gap, _) in zip(texts, pieces, strict=True)]
            yield from _text({kind: "".join(texts), **({"of": call} if call != last_call else {})}, cuts)
            continue
        for gap, piece in group:
            match piece:
                case CallStarted(call_id, name):
                    last_call = call_id
                    yield {
                        "call": call_id,
                        "name": name,
                        **({"written": True} if piece.written else {}),
                        **_after(gap),
                    }
                case UsagePiece(usage):
                    yield {"counted": _counts(usage), **_after(gap)}
                case Turn():
                    yield _turn(number, attempt, piece, gap)
                case _:
                    raise AssertionError(piece)
    if compaction := attempt.compaction:
        limit = {"limit": compaction.limit} if compaction.limit else {}
        yield {"compacted": compaction.why, **limit, **_after(compaction.after)}
    if retry := attempt.retry:
        yield {"retry": retry.why, "wait": retry.wait, "cost": attempt.cost, **_after(retry.after)}


def _kind(entry: tuple[Gap, Piece]) -> tuple[str, str]:
    match entry[1]:
        case TextPiece():
            return "text", ""
        case ThinkingPiece():
            return "thinking", ""
        case CallPiece(call_id):
            return "args", call_id
        case _:
            return "", ""


def _text(line: Json, cuts: list[tuple[int, Gap]]) -> Iterator[Json]:
    kind, text = next(iter(line.items()))
    first, *more = _broken(text)
    yield {**line, kind: first}
    yield from ({"more": rest} for rest in more)
    if cuts != [(len(text), 0)]:
        yield {"pace": write_pace(cuts, len(text))}


def _broken(text: str) -> Iterator[str]:
    start = 0
    for found in _BREAK.finditer(text):
        if found.end() - start >= _LINE and found.end() < len(text):
            yield text[start : found.end()]
            start = found.end()
    yield text[start:]


def _turn(number: int, attempt: Attempt, turn: Turn, gap: Gap) -> Json:
    pieces = [piece for _, piece in attempt.pieces]
    line: Json = {"turn": number, "stop": turn.stop, "model": turn.model, "usage": _counts(turn.usage)}
    line |= {"cost": attempt.cost, **({"detail": turn.detail} if turn.detail else {})}
    if turn.message.parts != natural_parts(pieces):
        line["parts"] = to_wire(turn.message.parts)
    if turn.message.vendor:
        line["vendor"] = packed_vendor(turn.message)
    return {**line, **_after(gap)}


def _counts(usage: Usage) -> Json:
    return {name: count for name, count in asdict(usage).items() if count}


def _after(gap: Gap) -> Json:
    return {"after": gap} if gap else {}
