"""Fetches a file over https, from the public internet only.

Host names are resolved first, private addresses are refused, and the connection goes to the address that was
checked. Each redirect is a new request with the same checks.
"""

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Container
from urllib.parse import quote, urljoin, urlsplit

from agent_nb.errors import ConfigError

MAX_BYTES = 20_000_000
SECONDS = 20.0
"""For all requests together."""
REDIRECTS = (301, 302, 303, 307, 308)
_UNQUOTED = "/:?#[]@!$&'()*+,;=%~"
"""Characters of an address that are not quoted; others are, such as letters with accents."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""A gateway translates these to the IPv4 address in their last four bytes."""


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None)
    if ip.version == 6 and ip in _NAT64:
        mapped = ipaddress.IPv4Address(ip.packed[-4:])
    return ip.is_global and not ip.is_multicast and (mapped is None or is_public(str(mapped)))


def host_of(url: str) -> str:
    """The host of an https address in ASCII, with its port if that is not 443."""
    host, port, _ = _place(url)
    try:
        host = host.encode("idna").decode()
    except UnicodeError:
        raise ConfigError(f"{url!r} is not an address: its host is not a name.") from None
    return host if port == 443 else f"{host}:{port}"


def fetch_https(
    url: str,
    *,
    hosts: Container[str] | None = None,
    allowed: Callable[[str], bool] = is_public,
    context: ssl.SSLContext | None = None,
) -> bytes:
    """The body behind an https address. Blocking: call it off the loop.

    With `hosts`, only these are asked: a redirect to another host is refused, since its address may carry data.
    """
    deadline = time.monotonic() + SECONDS
    for _ in range(5):
        if hosts is not None and host_of(url) not in hosts:
            raise ConfigError(f"{url!r} was not read: nobody has allowed its host, {host_of(url)}.")
        host, port, target = _place(url)
        connection = _Pinned(host, port, allowed, context)
        connection.deadline = deadline
        try:
            answer = _get(connection, target)
            if answer.status in REDIRECTS:
                # http.client reads headers as Latin-1; most servers write UTF-8, and these are its bytes.
                url = urljoin(
                    url, quote(answer.getheader("location") or "", safe=_UNQUOTED, encoding="latin-1")
                )
                continue
            if answer.status != 200:
                raise ConfigError(f"{url!r} answered {answer.status} {answer.reason}.")
            return _body(connection, answer, url)
        except (
            OSError,
            http.client.HTTPException,
            ValueError,
        ) as exc:  # the last for odd names and redirects
            raise ConfigError(f"{url!r} could not be read: {exc or type(exc).__name__}.") from None
        finally:
            connection.close()
    raise ConfigError(f"{url!r} redirects too often.")


def _place(url: str) -> tuple[str, int, str]:
    """Host, port and request target."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 443
    except ValueError as error:
        raise ConfigError(f"{url!r} is not an address: {error}.") from None
    if parts.scheme != "https" or not host:
        raise ConfigError(f"Only https addresses are read, not {url!r}.")
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return host, port, quote(target, safe=_UNQUOTED)


class _Pinned(http.client.HTTPSConnection):
    """Connects to the address that was checked, so that DNS cannot change it in between."""

    deadline = 0.0

    def __init__(
        self, host: str, port: int, allowed: Callable[[str], bool], context: ssl.SSLContext | None
    ) -> None:
        self._tls = context or ssl.create_default_context()
        self._allowed = allowed
        super().__init__(host, port, context=self._tls)

    def remaining(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("it took too long")
        return left

    def connect(self) -> None:
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        addresses = [str(entry[4][0]) for entry in found]
        for address in addresses:
            if not self._allowed(address):
                raise ConfigError(f"{self.host!r} is a private address; only the public internet is read.")
        self.sock = self._tls.wrap_socket(self._first_of(addresses), server_hostname=self.host)

    def _first_of(self, addresses: list[str]) -> socket.socket:
        """A connection to the first address that answers; not all may be reachable from here."""
        for address in addresses[:-1]:
            try:
                return socket.create_connection((address, self.port), timeout=self.remaining())
            except OSError:
                continue
        return socket.create_connection((addresses[-1], self.port), timeout=self.remaining())


def _get(connection: _Pinned, target: str) -> http.client.HTTPResponse:
    connection.request("GET", target, headers={"User-Agent": "agent-nb", "Accept": "image/*,*/*;q=0.5"})
    connection.sock.settimeout(connection.remaining())
    return connection.getresponse()


def _body(connection: _Pinned, answer: http.client.HTTPResponse, url: str) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        if connection.sock is not None:
            connection.sock.settimeout(connection.remaining())
        piece = answer.read1(65_536)
        if not piece:
            return b"".join(pieces)
        size += len(piece)
        connection.remaining()
        if size > MAX_BYTES:
            raise ConfigError(f"{url!r} is larger than {MAX_BYTES // 1_000_000} MB.")
        pieces.append(piece)
