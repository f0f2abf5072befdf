"""A host that must hear nothing: every `*.example` over https is this machine, and what arrives is written down."""

import contextlib
import http.server
import re
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

from tests.support.tls import self_signed
from tests.support.widget_stage import CHROMIUM, FLAGS

ADDRESS = "https://canary.example"
_HOST = re.compile(rb"([a-z0-9-]+)\.example")
QUIET = "--disable-background-networking"
"""A default flag of Playwright that keeps the browser from connecting early."""


class Canary:
    """What has reached it: paths over https, datagrams over UDP."""

    def __init__(self, folder: Path) -> None:
        self.heard: list[str] = []
        self.datagrams: list[bytes] = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        key, certificate = self_signed(folder)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        for work in (self._server.serve_forever, self._listen):
            threading.Thread(target=work, daemon=True).start()

    @property
    def stun(self) -> str:
        return f"stun:127.0.0.1:{self._udp.getsockname()[1]}"

    @property
    def flags(self) -> list[str]:
        return flags_for(self._server.server_port)

    def clear(self) -> None:
        self.heard.clear()
        self.datagrams.clear()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._udp.close()

    def _listen(self) -> None:
        while True:
            try:
                self.datagrams.append(self._udp.recv(2048))
            except OSError:  # closed
                return

    def _handler(canary) -> type[http.server.BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler below
        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                canary.heard.append(self.path)
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.send_header("content-length", "0")
                self.end_headers()

            do_GET = do_POST = do_HEAD = do_OPTIONS = answer  # noqa: N815 - names of http.server

            def log_message(self, *args: Any) -> None:
                pass

        return Handler


class Connections:
    """Counts connections that ask for nothing, too: each host under `.example` that a browser has connected to."""

    def __init__(self) -> None:
        self.hosts: set[str] = set()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.flags = flags_for(self._socket.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._note, args=(connection,), daemon=True).start()

    def _note(self, connection: socket.socket) -> None:
        """The first message of TLS names the host in clear."""
        with connection, contextlib.suppress(OSError):
            connection.settimeout(5)
            self.hosts.update(name.decode() for name in _HOST.findall(connection.recv(8192)))


def flags_for(port: int) -> list[str]:
    """Flags with which a browser connects to this port for every host under `.example`."""
    return [*FLAGS, f"--host-resolver-rules=MAP *.example 127.0.0.1:{port}", "--ignore-certificate-errors"]


def with_profile(playwright: Any, canary: Canary | Connections, folder: Path, *flags: str) -> Any:
    """Chromium with a profile on disk: one without never connects early, whatever a page asks for."""
    return playwright.chromium.launch_persistent_context(
        str(folder / "profile"),
        executable_path=CHROMIUM,
        args=[flag for flag in (*canary.flags, *flags) if flag != QUIET],
        ignore_default_args=[QUIET, "--hide-scrollbars"],
    )
