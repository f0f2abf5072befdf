"""Fetches a file over https, from the public internet only."""

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Container
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from agent_nb.core.errors import ConfigError

if TYPE_CHECKING:  # imported when something is fetched
    import httpx2

MAX_BYTES = 20_000_000
SECONDS = 20.0
_V6_PUBLIC = ipaddress.IPv6Network("2000::/3")
_V6_SPECIAL = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
"""Tunnel, test and documentation ranges that older versions of Python treat as public."""
_V4_SPECIAL = ipaddress.IPv4Network("192.0.0.0/24")
"""Special addresses, most of which older versions of Python treat as public."""
_V4_EMBEDDED = tuple(map(ipaddress.IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))
"""Prefixes whose last four bytes are an IPv4 address: mapped addresses and NAT64."""
_ISATAP = (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")
"""Markers before the embedded IPv4 address of an ISATAP address, in any network."""


def is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not ip.is_multicast and ip not in _V4_SPECIAL
    inner = ipaddress.IPv4Address(ip.packed[-4:])
    if any(ip in network for network in _V4_EMBEDDED):
        return is_public(str(inner))
    if ip not in _V6_PUBLIC or any(ip in network for network in _V6_SPECIAL):
        return False
    tunnel = ip.sixtofour or (inner if ip.packed[8:12] in _ISATAP else None)
    return is_public(str(tunnel)) if tunnel else ip.is_global


def host_of(url: str) -> str:
    """The ASCII host of an https URL, with its port unless it is 443."""
    host, port = _host_and_port(url)
    host = f"[{host}]" if ":" in host else host
    return host if port == 443 else f"{host}:{port}"


def fetch_https(
    url: str,
    *,
    hosts: Container[str] | None = None,
    allowed: Callable[[str], bool] = is_public,
    context: ssl.SSLContext | None = None,
) -> bytes:
    """The body at an https URL. Refuses hosts not in `hosts`, also in redirects. Blocks: call it off the loop."""
    import httpx2

    deadline = time.monotonic() + SECONDS
    for _ in range(5):
        if hosts is not None and host_of(url) not in hosts:
            raise ConfigError(f"{url!r} was not read: nobody has allowed its host, {host_of(url)}.")
        try:
            # One connection per request, because its certificate is checked for one host.
            with httpx2.HTTPTransport(
                verify=context or ssl.create_default_context(), trust_env=False
            ) as transport:
                answer = _answer(transport, url, allowed, deadline)
                if not answer.has_redirect_location:
                    return _body(answer, url, deadline)
                url = urljoin(url, answer.headers["location"])
        except (OSError, httpx2.HTTPError, httpx2.InvalidURL, ValueError) as exc:
            raise ConfigError(f"{url!r} could not be read: {exc or type(exc).__name__}.") from None
    raise ConfigError(f"{url!r} redirects too often.")


def _host_and_port(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port or 443
    except ValueError as error:
        raise ConfigError(f"{url!r} is not an address: {error}.") from None
    if parts.scheme != "https" or not host:
        raise ConfigError(f"Only https addresses are read, not {url!r}.")
    return host, port


def _answer(
    transport: "httpx2.HTTPTransport", url: str, allowed: Callable[[str], bool], deadline: float
) -> "httpx2.Response":
    """Connect to the checked addresses in turn, so that DNS cannot change between check and request."""
    import httpx2

    host, port = _host_and_port(url)
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    if not all(map(allowed, addresses)):
        raise ConfigError(f"{host!r} is a private address; only the public internet is read.")
    headers = {"Host": host_of(url), "User-Agent": "agent-nb", "Accept": "image/*,*/*;q=0.5"}
    for address in addresses:
        timeout = httpx2.Timeout(_remaining(deadline)).as_dict()
        target = httpx2.URL(url).copy_with(host=address)
        extensions = {"sni_hostname": host, "timeout": timeout}
        try:
            return transport.handle_request(
                httpx2.Request("GET", target, headers=headers, extensions=extensions)
            )
        except httpx2.ConnectError:
            if address == addresses[-1]:
                raise
    raise OSError("it has no address")


def _body(answer: "httpx2.Response", url: str, deadline: float) -> bytes:
    if answer.status_code != 200:
        raise ConfigError(f"{url!r} returned {answer.status_code} {answer.reason_phrase}.")
    data = bytearray()
    for chunk in answer.iter_raw():
        _remaining(deadline)
        data += chunk
        if len(data) > MAX_BYTES:
            raise ConfigError(f"{url!r} is larger than {MAX_BYTES // 1_000_000} MB.")
    return bytes(data)


def _remaining(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("it took too long")
    return seconds
