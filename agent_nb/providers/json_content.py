"""A body as JSON, encoded while it is sent.

It has whole pages in it. An SDK would hold them as text in pieces, as text and as bytes at once.
"""

import json
from collections.abc import AsyncIterator, Iterator
from json.encoder import encode_basestring
from typing import Any

from agent_nb._base.text import whole_text
from agent_nb._base.wire import Json

_CHARACTERS = 32 * 1024


def content_length(body: Json) -> int:
    """The bytes of the body. Not every server takes a request that does not announce them."""
    return sum(map(len, _chunks(body)))


async def content(body: Json) -> AsyncIterator[bytes]:
    for chunk in _chunks(body):
        yield chunk


def _chunks(body: Json) -> Iterator[bytes]:
    pieces: list[str] = []
    length = 0
    for piece in _pieces(body):
        pieces.append(piece)
        length += len(piece)
        if length >= _CHARACTERS:
            yield _encoded("".join(pieces))
            pieces, length = [], 0
    yield _encoded("".join(pieces))


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return whole_text(text).encode()


def _pieces(value: Any) -> Iterator[str]:
    match value:
        case str() if len(value) > _CHARACTERS:
            yield '"'
            for start in range(0, len(value), _CHARACTERS):
                yield encode_basestring(value[start : start + _CHARACTERS])[1:-1]
            yield '"'
        case dict() if value:
            for number, (key, item) in enumerate(value.items()):
                name = key if isinstance(key, str) else json.dumps(key)
                yield f"{',' if number else '{'}{encode_basestring(name)}:"
                yield from _pieces(item)
            yield "}"
        case list() | tuple() if value:
            for number, item in enumerate(value):
                yield "," if number else "["
                yield from _pieces(item)
            yield "]"
        case _:
            yield json.dumps(value, ensure_ascii=False, allow_nan=False)
