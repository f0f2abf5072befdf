"""One HTTP client per event loop, shared by every provider and closed with the last of them, or with the loop.

The SDKs would each build their own (40-90 ms of TLS set-up apiece), and Google's would use aiohttp if it is
installed.
"""

import asyncio
import contextlib
import functools
import weakref
from collections.abc import AsyncGenerator, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl

    import httpx2

HEADER_SECONDS = 300.0
"""How long to wait for the headers of a response."""


class _Shared:
    """A loop's client and its users."""

    def __init__(self, client: "httpx2.AsyncClient") -> None:
        self.client = client
        self.users: weakref.WeakSet[Any] = weakref.WeakSet()
        self._open = _open_until_closed(client)

    async def open(self) -> None:
        """Has the client closed at the end of `asyncio.run`, which closes the loop's async generators."""
        await anext(self._open)

    async def close(self) -> None:
        await self._open.aclose()


async def _open_until_closed(client: "httpx2.AsyncClient") -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await client.aclose()


_shared: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared]" = weakref.WeakKeyDictionary()
_watching: "weakref.WeakKeyDictionary[asyncio.Task[Any], tuple[list[httpx2.Response], float]]"
_watching = weakref.WeakKeyDictionary()


async def shared_client(user: object) -> "httpx2.AsyncClient":
    """This loop's client; `user` keeps it open until `release`."""
    loop = asyncio.get_running_loop()
    shared = _shared.get(loop)
    if shared is None or shared.client.is_closed:
        client = await asyncio.to_thread(_make_client)
        shared = _shared.get(loop)
        if shared is None or shared.client.is_closed:
            shared = _shared[loop] = _Shared(client)
            await shared.open()
    shared.users.add(user)
    return shared.client


async def release(user: object) -> None:
    """Stops using the client; the last user on this loop closes it."""
    shared = _shared.get(asyncio.get_running_loop())
    if shared is None:
        return
    shared.users.discard(user)
    if not shared.users:
        _shared.pop(asyncio.get_running_loop(), None)
        await shared.close()


def limit_silence(response: "httpx2.Response", seconds: float) -> None:
    """Makes `seconds` without a byte a read timeout for the body of a response.

    The transport looks up the limit when the body is first read, so it can differ from that for the headers.
    """
    response.request.extensions.setdefault("timeout", {})["read"] = seconds


@contextlib.contextmanager
def responses_opened(found: "list[httpx2.Response]", silence: float) -> Iterator[None]:
    """Collects the responses this task opens inside the block, which an SDK hides, and limits their silence."""
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a stream is read inside a task")
    _watching[task] = (found, silence)
    try:
        yield
    finally:
        _watching.pop(task, None)


async def _collect(response: "httpx2.Response") -> None:
    task = asyncio.current_task()
    if task is not None and (watching := _watching.get(task)):
        found, silence = watching
        found.append(response)
        limit_silence(response, silence)


@functools.cache
def _tls() -> "ssl.SSLContext":
    """Reading the certificates is most of the cost of a client, so the loops share them."""
    import httpx2

    return httpx2.create_ssl_context()


def _make_client() -> "httpx2.AsyncClient":
    import httpx2

    # Redirects are not followed: a key in a custom header would travel to another host.
    return httpx2.AsyncClient(
        verify=_tls(),
        timeout=httpx2.Timeout(HEADER_SECONDS, connect=15.0),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        event_hooks={"response": [_collect]},
    )
