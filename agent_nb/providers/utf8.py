"""The body of a response whose bytes must be UTF-8, for an SDK that would replace those that are not."""

import codecs
from collections.abc import AsyncIterator
from typing import Any

import httpx2


class Utf8Body(httpx2.AsyncByteStream):
    """Passes on a body, and raises `DecodingError` at the first byte that is not UTF-8."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        async for chunk in self._stream:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                raise httpx2.DecodingError("The answer is not valid UTF-8.") from None
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
