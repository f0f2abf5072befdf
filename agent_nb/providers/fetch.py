"""HTTP in a browser, where every request is a `fetch` by the page, and validation of UTF-8 bodies.

Adapts the transport of httpx2: chunks become bytes, closing a response aborts the request, waiting for headers counts
as reading rather than connecting, and SDK telemetry headers are dropped, because a server must allow each by name.
"""

import asyncio
import codecs
from collections.abc import AsyncIterator
from typing import Any

import httpx2

_TELEMETRY = "x-stainless-"


class FetchTransport(httpx2.AsyncHTTPTransport):
    """The browser transport of httpx2, with streams that can be read and aborted."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        opening = asyncio.ensure_future(super().handle_async_request(_fetch_request(request)))
        try:
            response = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_abort)
            raise
        except httpx2.ConnectTimeout as error:
            raise httpx2.ReadTimeout(str(error), request=request) from None
        response.stream = _Body(response.stream)
        return response


def _fetch_request(request: httpx2.Request) -> httpx2.Request:
    """Copy the request without telemetry headers. The SDKs read the original headers again with the response."""
    timeout = request.extensions.get("timeout", {})
    return httpx2.Request(
        request.method,
        request.url,
        headers={name: text for name, text in request.headers.items() if not name.startswith(_TELEMETRY)},
        stream=request.stream,
        extensions={**request.extensions, "timeout": {**timeout, "connect": timeout.get("read")}},
    )


def _abort(opening: "asyncio.Task[httpx2.Response]") -> None:
    """Abort a cancelled request, which is possible only once its headers have arrived."""
    if not opening.cancelled() and opening.exception() is None:
        stream: Any = opening.result().stream
        stream.abort_controller_js.abort()


class _Body(httpx2.AsyncByteStream):
    """A response body. Closing it aborts the request, so that the model stops generating."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield bytes(chunk)

    async def aclose(self) -> None:
        await self._stream.aclose()
        self._stream.abort_controller_js.abort()


class Utf8Body(httpx2.AsyncByteStream):
    """Passes a body through; raises `DecodingError` at the first invalid UTF-8."""

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
