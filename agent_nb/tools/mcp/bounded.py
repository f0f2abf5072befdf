"""HTTP with answers of bounded length: the `mcp` package reads an answer whole, however long it is."""

from collections.abc import AsyncIterator

import httpx2

from agent_nb.errors import AgentError

MAX_ANSWER = 32_000_000


class TooLongError(AgentError):
    """An answer is longer than a result may be."""


async def bound_length(response: httpx2.Response) -> None:
    """A hook that ends an answer that is too long. Of a stream of events, each event has a bound of its own."""
    if "event-stream" not in response.headers.get("content-type", ""):
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for chunk in self._stream:
            length += len(chunk)
            if length > MAX_ANSWER:
                raise TooLongError(f"The answer has more than {MAX_ANSWER // 1_000_000} MB.")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
