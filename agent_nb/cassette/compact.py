"""What a turn's message has in common with its streamed pieces, so that a cassette holds most texts once."""

import json
from collections.abc import Sequence
from typing import Any

from agent_nb._base.wire import to_wire
from agent_nb.messages import Message, Part, Text, Thinking, ToolCall, Usage
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import CallPiece, CallStarted, Piece, TextPiece, ThinkingPiece

_SHORTEST = 24
"""Shorter texts are written out: a reference would not be shorter."""


def natural_parts(pieces: Sequence[Piece]) -> tuple[Part, ...]:
    """The parts of a message in which every change of kind begins a new part."""
    assembler = Assembler()
    for piece in pieces:
        match piece:
            case TextPiece(text):
                assembler.text(text)
            case ThinkingPiece(text):
                assembler.thinking(text)
            case CallStarted(call_id, name):
                assembler.start_call(call_id, call_id, name)
            case CallPiece(call_id, text):
                assembler.arguments(call_id, text)
            case _:
                pass
    return assembler.turn(stop=None, usage=Usage(), model="").message.parts


def packed_vendor(message: Message) -> Any:
    """The vendor data, with texts and arguments that are also in the parts replaced by references."""
    texts = [_text_of(part) for part in message.parts]
    places = {text: place for place, text in enumerate(texts) if len(text) >= _SHORTEST}
    objects = [
        (place, _parsed(part.arguments))
        for place, part in enumerate(message.parts)
        if isinstance(part, ToolCall) and len(part.arguments) >= _SHORTEST
    ]

    def pack(value: Any) -> Any:
        if isinstance(value, str):
            return {"$text": places[value]} if value in places else value
        if isinstance(value, dict):
            for place, parsed in objects:
                if value == parsed:
                    return {"$args": place}
            return {key: pack(item) for key, item in value.items()}
        return [pack(item) for item in value] if isinstance(value, list) else value

    plain = to_wire(message.vendor)
    packed = pack(plain)
    return packed if unpacked_vendor(packed, message.parts) == plain else plain


def unpacked_vendor(packed: Any, parts: Sequence[Part]) -> Any:
    match packed:
        case {"$text": int(place), **rest} if not rest:
            return _text_of(parts[place])
        case {"$args": int(place), **rest} if not rest:
            return _parsed(_text_of(parts[place]))
        case dict():
            return {key: unpacked_vendor(item, parts) for key, item in packed.items()}
        case list():
            return [unpacked_vendor(item, parts) for item in packed]
        case _:
            return packed


def _text_of(part: Part) -> str:
    match part:
        case Text(text) | Thinking(text):
            return text
        case ToolCall(arguments=arguments):
            return arguments
        case _:
            return ""


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None
