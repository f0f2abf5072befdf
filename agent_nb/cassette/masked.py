"""Masks secrets in a cassette before it is written, also where a secret is split over several pieces."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agent_nb._base.secrets import mask, mask_pieces
from agent_nb._base.text import change_texts, whole_text
from agent_nb._base.wire import from_wire, to_wire
from agent_nb.cassette.format import Attempt, Cassette, Gap, RecordedTurn, RecordedVariant, ToolMoment
from agent_nb.messages import Message, Part
from agent_nb.providers.base import CallPiece, CallStarted, Piece, TextPiece, ThinkingPiece, Turn


def masked(cassette: Cassette) -> Cassette:
    return Cassette(
        yours=_plain(cassette.yours),
        ours=cassette.ours,
        variants=tuple(_variant(recorded) for recorded in cassette.variants),
    )


def _variant(recorded: RecordedVariant) -> RecordedVariant:
    cut = recorded.cut and replace(
        recorded.cut, error=recorded.cut.error and _masked_text(recorded.cut.error)
    )
    turns = tuple(_turn(turn) for turn in recorded.turns)
    return replace(recorded, settings=_plain(recorded.settings), turns=turns, cut=cut)


def _turn(turn: RecordedTurn) -> RecordedTurn:
    return RecordedTurn(
        attempts=tuple(_attempt(attempt) for attempt in turn.attempts),
        moments=tuple(_moment(moment) for moment in turn.moments),
    )


def _moment(moment: ToolMoment) -> ToolMoment:
    return replace(moment, data=_plain(dict(moment.data)))


def _attempt(attempt: Attempt) -> Attempt:
    pieces: list[tuple[Gap, Piece]] = []
    for (kind, _), group in itertools.groupby(attempt.pieces, key=_stream_of):
        alike = list(group)
        pieces += [(gap, _other(piece)) for gap, piece in alike] if kind is None else _texts(alike)
    retry = attempt.retry and replace(attempt.retry, why=_masked_text(attempt.retry.why))
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
    """The pieces with their text masked. They keep their boundaries; the mask is where the secret began."""
    if isinstance(group[0][1], Turn):
        yield from ((gap, _masked_turn(turn)) for gap, turn in group)
        return
    texts = mask_pieces([whole_text(piece.text) for _, piece in group])
    for (gap, piece), text in zip(group, texts, strict=True):
        yield gap, replace(piece, text=text)


def _other(piece: Piece) -> Piece:
    """A piece without text. A model can make up the name of a tool."""
    return replace(piece, name=_masked_text(piece.name)) if isinstance(piece, CallStarted) else piece


def _masked_turn(turn: Turn) -> Turn:
    parts: tuple[Part, ...] = from_wire(tuple[Part, ...], _plain(to_wire(turn.message.parts)))
    message = Message(role=turn.message.role, parts=parts, vendor=_plain(to_wire(turn.message.vendor)))
    return replace(turn, message=message, detail=_masked_text(turn.detail))


def _masked_text(text: str) -> str:
    return mask(whole_text(text))


def _plain(value: Any) -> Any:
    return change_texts(value, _masked_text)
