"""One HTTP client per event loop, shared by all providers: a client per SDK would cost 40-90 ms of TLS setup each."""

import asyncio
import contextlib
import functools
import socket
import weakref
from collections.abc import AsyncGenerator, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.secrets import register_credentials
from agent_nb._base.threads import off_loop

if TYPE_CHECKING:
    import ssl

    import httpx2

HEADER_SECONDS = 300.0
"""Default timeout for response headers; `responses_opened` overrides it."""
_KEEP_ALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPALIVE": 30, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""Probe after 30 s of silence, then every 15 s, at most four times. `TCP_KEEPALIVE` is macOS's `TCP_KEEPIDLE`."""
_shared_clients: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared]" = weakref.WeakKeyDictionary()


class _Watch(NamedTuple):
    responses: "list[httpx2.Response]"
    silence: float
    strict: bool


class _Shared(NamedTuple):
    client: "httpx2.AsyncClient"
    users: "weakref.WeakSet[Any]"
    closer: AsyncGenerator[None, None]


async def _open_until_closed(client: "httpx2.AsyncClient") -> AsyncGenerator[None, None]:
    """Close the client at the end of `asyncio.run`, which closes the loop's async generators."""
    try:
        yield
    finally:
        await client.aclose()


_watch: ContextVar[_Watch | None] = ContextVar("watch", default=None)


async def shared_client(user: object) -> "httpx2.AsyncClient":
    """This loop's client, kept open for `user` until `release`."""
    loop = asyncio.get_running_loop()
    shared = _shared_clients.get(loop)
    if shared is None or shared.client.is_closed:
        client = await off_loop(make_client)
        shared = _shared_clients.get(loop)
        if shared is None or shared.client.is_closed:
            shared = _shared_clients[loop] = _Shared(client, weakref.WeakSet(), _open_until_closed(client))
            await anext(shared.closer)
    shared.users.add(user)
    return shared.client


async def release(user: object) -> None:
    """Stop using the client. The last user on this loop closes it."""
    shared = _shared_clients.get(asyncio.get_running_loop())
    if shared is None:
        return
    shared.users.discard(user)
    if not shared.users:
        _shared_clients.pop(asyncio.get_running_loop(), None)
        await shared.closer.aclose()


@contextlib.contextmanager
def responses_opened(
    responses: "list[httpx2.Response]", silence: float, *, strict: bool = False
) -> Iterator[None]:
    """Collect the responses opened inside the block, which the SDK does not expose.

    `silence` is the read timeout in seconds, for headers and body.
    `strict` makes the SDK fail on invalid UTF-8 instead of replacing it.
    """
    token = _watch.set(_Watch(responses, silence, strict))
    try:
        yield
    finally:
        _watch.reset(token)


async def _limit_silence(request: "httpx2.Request") -> None:
    if watch := _watch.get():
        request.extensions.setdefault("timeout", {})["read"] = watch.silence


async def _mask_credentials(request: "httpx2.Request") -> None:
    """Mask what the SDK or the cloud's library has added to the request, such as a token that it has fetched."""
    register_credentials([*request.headers.items(), *request.url.params.multi_items()])


async def _collect(response: "httpx2.Response") -> None:
    if watch := _watch.get():
        if watch.strict and "content-encoding" not in response.headers:
            from agent_nb.providers.fetch import Utf8Body

            response.stream = Utf8Body(response.stream)
        watch.responses.append(response)


async def _keep_alive(response: "httpx2.Response") -> None:
    """Enable TCP keep-alive on the open socket: a transport with socket options would ignore proxies."""
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream else None
    if connection is None:
        return
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEP_ALIVE.items():
            if hasattr(socket, option):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


@functools.cache
def tls() -> "ssl.SSLContext":
    """The shared TLS context: reading the certificates is most of the cost of a client (45 ms)."""
    import httpx2

    return httpx2.create_ssl_context()


def make_client() -> "httpx2.AsyncClient":
    import httpx2

    # Redirects are not followed: a key in a custom header would be sent to another host.
    return httpx2.AsyncClient(
        **_transport(),
        timeout=httpx2.Timeout(HEADER_SECONDS, connect=15.0),
        event_hooks={"request": [_limit_silence, _mask_credentials], "response": [_collect, _keep_alive]},
    )


def _transport() -> dict[str, Any]:
    """Transport arguments of the client. A browser manages connections and certificates itself."""
    import httpx2

    if IN_BROWSER:
        from agent_nb.providers.fetch import FetchTransport

        return {"transport": FetchTransport()}
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
    return {"verify": tls(), "limits": limits}
