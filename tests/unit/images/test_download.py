"""Files over https, from the public internet alone: addresses, redirects, sizes, kinds, patience."""

import http.server
import socket
import ssl
import threading
from pathlib import Path

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.images import download
from agent_nb.images.convert import to_image
from agent_nb.images.download import fetch_https, host_of, is_public
from tests.support.tls import self_signed

PNG = b"\x89PNG and the rest"
ANSWERS = {
    "/red.png": (200, PNG, {}),
    "/big": (200, b"x" * 5000, {}),
    "/away": (302, b"", {"location": "/red.png"}),
    "/caf%C3%A9.png": (200, PNG, {}),
    "/accent": (302, b"", {"location": "/caf\xc3\xa9.png"}),
    "/off": (302, b"", {"location": "https://[::1/red.png"}),
    "/inside": (302, b"", {"location": "https://10.0.0.1/secret"}),
    "/site-local": (302, b"", {"location": "https://[fec0::1]/secret"}),
    "/compatible": (302, b"", {"location": "https://[::127.0.0.1]/secret"}),
    "/decimal": (302, b"", {"location": "https://167772161/secret"}),
    "/plain": (302, b"", {"location": "http://localhost/red.png"}),
    "/round": (302, b"", {"location": "/round"}),
}


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"]
)
def test_the_open_internet_is_public(address: str):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.0.0.1",
            "192.168.1.1",
            "172.16.0.1",
            "169.254.1.1",
            "100.64.0.1",
            "0.0.0.0",
            "192.0.0.8",
            "192.0.0.200",
        ),
        *(
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "fe80::1%eth0",
            "fc00::1",
            "::ffff:127.0.0.1",
            "2002:7f00:1::",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::8.8.8.8",
            "64:ff9b:1:a00:0:100::",
            "fec0::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:0:127.0.0.1",
            "::ffff:0:8.8.8.8",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:db8::1",
            "2001:20::1",
            "3fff::1",
            "100::1",
            "5f00::1",
            "4000::1",
            "ff02::1",
            "2606:4700::5efe:10.0.0.1",
            "2606:4700::200:5efe:127.0.0.1",
        ),
    ],
)
def test_private_addresses_are_not_public(address: str):
    assert not is_public(address)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def https_server(certificate):
    """A real TLS server on localhost with a few paths."""
    key, cert = certificate

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, body, headers = ANSWERS.get(self.path.partition("?")[0], (404, b"", {}))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    trust = ssl.create_default_context(cafile=str(cert))

    def fetch(path: str, **settings) -> bytes:
        only_here = settings.pop("allowed", lambda address: address in ("127.0.0.1", "::1"))
        url = f"https://{settings.pop('host', 'localhost')}:{server.server_port}{path}"
        return fetch_https(url, allowed=only_here, context=trust, **settings)

    fetch.host = f"localhost:{server.server_port}"
    yield fetch
    server.shutdown()
    server.server_close()


def test_a_file_is_read_over_https(https_server):
    assert https_server("/red.png?size=1") == PNG
    assert https_server("/away") == PNG


def test_the_certificate_must_be_that_of_the_host(https_server):
    with pytest.raises(ConfigError, match=r"could not be read: .*certificate"):
        https_server("/red.png", host="127.0.0.1")


@pytest.mark.parametrize("path", ["/café.png", "/caf%C3%A9.png", "/café.png?größe=1", "/accent"])
def test_accents_in_an_address_are_quoted(https_server, path: str):
    assert https_server(path) == PNG


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://example.com:99999/a.png", "is not an address: Port out of range"),
        ("https://[::1/a.png", "is not an address: Invalid IPv6"),
        (f"https://{'a' * 70}.example/a.png", "is not an address: "),
    ],
    ids=["port", "bracket", "label"],
)
def test_what_is_no_address_is_refused(url: str, message: str):
    with pytest.raises(ConfigError, match=message):
        to_image(url)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/off", "could not be read: Invalid"),
        ("/inside", "private"),
        ("/site-local", "private"),
        ("/compatible", "private"),
        ("/decimal", "private"),
        ("/plain", "Only https"),
        ("/round", "too often"),
        ("/none", "404"),
    ],
)
def test_a_bad_address_is_refused(https_server, path: str, message: str):
    with pytest.raises(ConfigError, match=message):
        https_server(path)


def test_a_redirect_leaves_no_allowed_host(https_server):
    here = https_server.host
    assert https_server("/away", hosts={here}) == PNG
    with pytest.raises(ConfigError, match=r"nobody has allowed its host, 10\.0\.0\.1"):
        https_server("/inside", hosts={here}, allowed=lambda address: True)
    with pytest.raises(ConfigError, match="nobody has allowed its host, localhost"):
        https_server("/red.png", hosts=set())


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.ORG/a?b", "example.org"),
        ("https://example.org:443", "example.org"),
        ("https://example.org:8443/", "example.org:8443"),
        ("https://example.org@evil.example/", "evil.example"),
        ("https://b\u00fccher.example/", "xn--bcher-kva.example"),
        ("https://\u0435xample.org/", "xn--xample-2of.org"),
    ],
)
def test_a_host_is_named_as_the_network_knows_it(url: str, host: str):
    assert host_of(url) == host


def test_a_large_file_is_refused(https_server, monkeypatch):
    monkeypatch.setattr(download, "MAX_BYTES", 1000)
    with pytest.raises(ConfigError, match="larger"):
        https_server("/big")


def test_the_name_is_checked_before_connecting(https_server):
    with pytest.raises(ConfigError, match="private"):
        https_server("/red.png", allowed=is_public)


def test_a_name_that_changes_its_address_is_asked_once(https_server, monkeypatch):
    resolve, asked = socket.getaddrinfo, []

    def rebinding(host, *rest, **options):
        if host == "localhost":
            asked.append(host)
            host = "127.0.0.1" if len(asked) == 1 else "10.0.0.1"
        return resolve(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    assert https_server("/red.png") == PNG
    assert asked == ["localhost"]
    asked.clear()
    with pytest.raises(ConfigError, match="private"):  # the redirect, too, is resolved and checked
        https_server("/away", allowed=lambda address: address == "127.0.0.1")


def test_a_slow_server_is_given_up(https_server, monkeypatch):
    monkeypatch.setattr(download, "SECONDS", 0.0)
    with pytest.raises(ConfigError, match="could not be read"):
        https_server("/red.png")
