"""HTTP in a browser, where every request is a `fetch` by the page, and bodies that must be UTF-8.

httpx2 brings the transport. Here its chunks become bytes, a closed response ends the request, waiting for headers is
not taken for connecting, and headers that only count SDKs are left out: a server must allow each one by name.
"""

import asyncio
import codecs
from collections.abc import AsyncIterator
from typing import Any

import httpx2

_COUNTS_SDKS = "x-stainless-"


class FetchTransport(httpx2.AsyncHTTPTransport):
    """The transport of httpx2 for a browser, on which streams can be read and stopped."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        opening = asyncio.ensure_future(super().handle_async_request(_as_fetched(request)))
        try:
            response = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_abort)
            raise
        except httpx2.ConnectTimeout as error:
            raise httpx2.ReadTimeout(str(error), request=request) from None
        response.stream = _Body(response.stream)
        return response


def _as_fetched(request: httpx2.Request) -> httpx2.Request:
    """A copy, because the SDKs read their own headers again when the response comes."""
    timeout = request.extensions.get("timeout", {})
    return httpx2.Request(
        request.method,
        request.url,
        headers={name: text for name, text in request.headers.items() if not name.startswith(_COUNTS_SDKS)},
        stream=request.stream,
        extensions={**request.extensions, "timeout": {**timeout, "connect": timeout.get("read")}},
    )


def _abort(opening: "asyncio.Task[httpx2.Response]") -> None:
    """Ends a request that nobody waits for any longer. It cannot be ended before its headers have come."""
    if not opening.cancelled() and opening.exception() is None:
        stream: Any = opening.result().stream
        stream.abort_controller_js.abort()


class _Body(httpx2.AsyncByteStream):
    """The body of a response. Closing it aborts the request, so that a stopped model writes no more."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield bytes(chunk)

    async def aclose(self) -> None:
        await self._stream.aclose()
        self._stream.abort_controller_js.abort()


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
