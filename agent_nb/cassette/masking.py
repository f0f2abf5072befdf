"""Takes secrets and half characters out of a cassette before it is written, across the cuts of its texts."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agent_nb._base.secrets import change_texts, mask, mask_pieces, whole_text
from agent_nb._base.wire import from_wire, to_wire
from agent_nb.cassette.format import Attempt, Cassette, Gap, Mark, Take, TapedTurn
from agent_nb.messages import Message, Part
from agent_nb.providers.base import CallPiece, Piece, TextPiece, ThinkingPiece, Turn


def masked(cassette: Cassette) -> Cassette:
    return Cassette(
        yours=_plain(cassette.yours),
        ours=cassette.ours,
        takes=tuple(_take(take) for take in cassette.takes),
    )


def _take(take: Take) -> Take:
    cut = take.cut and replace(take.cut, error=take.cut.error and _clean_text(take.cut.error))
    turns = tuple(_turn(turn) for turn in take.turns)
    return replace(take, settings=_plain(take.settings), turns=turns, cut=cut)


def _turn(turn: TapedTurn) -> TapedTurn:
    return TapedTurn(
        attempts=tuple(_attempt(attempt) for attempt in turn.attempts),
        marks=tuple(_mark(mark) for mark in turn.marks),
    )


def _mark(mark: Mark) -> Mark:
    return replace(mark, data=_plain(dict(mark.data)))


def _attempt(attempt: Attempt) -> Attempt:
    pieces: list[tuple[Gap, Piece]] = []
    for (kind, _), group in itertools.groupby(attempt.pieces, key=_stream_of):
        alike = list(group)
        pieces += alike if kind is None else _texts(alike)
    retry = attempt.retry and replace(attempt.retry, why=_clean_text(attempt.retry.why))
    return replace(attempt, pieces=tuple(pieces), retry=retry)


def _stream_of(entry: tuple[Gap, Piece]) -> tuple[type | None, str]:
    match entry[1]:
        case CallPiece(call_id):
            return CallPiece, call_id
        case TextPiece() | ThinkingPiece() as piece:
            return type(piece), ""
        case Turn():
            return Turn, ""
        case _:
            return None, ""


def _texts(group: list[tuple[Gap, Any]]) -> Iterator[tuple[Gap, Piece]]:
    """The same pieces of the clean text, their cuts where they were; the mask stands where the secret began."""
    if isinstance(group[0][1], Turn):
        yield from ((gap, _clean_turn(turn)) for gap, turn in group)
        return
    texts = mask_pieces([whole_text(piece.text) for _, piece in group])
    for (gap, piece), text in zip(group, texts, strict=True):
        yield gap, replace(piece, text=text)


def _clean_turn(turn: Turn) -> Turn:
    parts: tuple[Part, ...] = from_wire(tuple[Part, ...], _plain(to_wire(turn.message.parts)))
    message = Message(role=turn.message.role, parts=parts, vendor=_plain(to_wire(turn.message.vendor)))
    return replace(turn, message=message, detail=_clean_text(turn.detail))


def _clean_text(text: str) -> str:
    return mask(whole_text(text))


def _plain(value: Any) -> Any:
    return change_texts(value, _clean_text)
