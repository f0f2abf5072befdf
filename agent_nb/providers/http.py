"""One HTTP client per event loop for all providers: each SDK would set up TLS for its own (40-90 ms)."""

import asyncio
import contextlib
import functools
import socket
import threading
import weakref
from collections.abc import AsyncGenerator, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.threads import off_loop

if TYPE_CHECKING:
    import ssl

    import httpx2

HEADER_SECONDS = 300.0
"""How long to wait for the headers of a response, unless `responses_opened` says otherwise."""
_KEEP_ALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPALIVE": 30, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""Probes after 30 s of silence, then every 15 s, four at most. macOS has a name of its own for the first."""


class _Watch(NamedTuple):
    found: "list[httpx2.Response]"
    silence: float
    strict: bool


class _Shared(NamedTuple):
    client: "httpx2.AsyncClient"
    users: "weakref.WeakSet[Any]"
    opened: AsyncGenerator[None, None]


async def _open_until_closed(client: "httpx2.AsyncClient") -> AsyncGenerator[None, None]:
    """Has the client closed at the end of `asyncio.run`, which closes the loop's async generators."""
    try:
        yield
    finally:
        await client.aclose()


_shared: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared]" = weakref.WeakKeyDictionary()
_watch: ContextVar[_Watch | None] = ContextVar("watch", default=None)
_reading = threading.Lock()


async def shared_client(user: object) -> "httpx2.AsyncClient":
    """This loop's client; `user` keeps it open until `release`."""
    loop = asyncio.get_running_loop()
    shared = _shared.get(loop)
    if shared is None or shared.client.is_closed:
        client = await off_loop(make_client)
        shared = _shared.get(loop)
        if shared is None or shared.client.is_closed:
            shared = _shared[loop] = _Shared(client, weakref.WeakSet(), _open_until_closed(client))
            await anext(shared.opened)
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
        await shared.opened.aclose()


@contextlib.contextmanager
def responses_opened(
    found: "list[httpx2.Response]", silence: float, *, strict: bool = False
) -> Iterator[None]:
    """Collects the responses opened inside the block, which an SDK hides.

    `silence` is how many seconds they may pass without a byte, before and after their headers.
    `strict` has the SDK fail on bytes that are not UTF-8 instead of replacing them.
    """
    token = _watch.set(_Watch(found, silence, strict))
    try:
        yield
    finally:
        _watch.reset(token)


async def _limit_silence(request: "httpx2.Request") -> None:
    if watch := _watch.get():
        request.extensions.setdefault("timeout", {})["read"] = watch.silence


async def _collect(response: "httpx2.Response") -> None:
    if watch := _watch.get():
        if watch.strict and "content-encoding" not in response.headers:
            from agent_nb.providers.fetch import Utf8Body

            response.stream = Utf8Body(response.stream)
        watch.found.append(response)


async def _keep_alive(response: "httpx2.Response") -> None:
    """Has the system probe a silent server, on the open socket: with own options a transport ignores proxies."""
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream else None
    if connection is None:
        return
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEP_ALIVE.items():
            if hasattr(socket, option):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def tls() -> "ssl.SSLContext":
    """Reading the certificates is most of the cost of a client (45 ms), so all share them."""
    with _reading:
        return _tls()


@functools.cache
def _tls() -> "ssl.SSLContext":
    import httpx2

    return httpx2.create_ssl_context()


def make_client() -> "httpx2.AsyncClient":
    import httpx2

    # Redirects are not followed: a key in a custom header would travel to another host.
    return httpx2.AsyncClient(
        **_transport(),
        timeout=httpx2.Timeout(HEADER_SECONDS, connect=15.0),
        event_hooks={"request": [_limit_silence], "response": [_collect, _keep_alive]},
    )


def _transport() -> dict[str, Any]:
    """How the client connects. A browser has its own connections and certificates."""
    import httpx2

    if IN_BROWSER:
        from agent_nb.providers.fetch import FetchTransport

        return {"transport": FetchTransport()}
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
    return {"verify": tls(), "limits": limits}
