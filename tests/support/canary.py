"""A host that must hear nothing: every `*.example` over https is this machine, and what arrives is written down."""

import http.server
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

from tests.support.tls import self_signed
from tests.support.widget_stage import CHROMIUM, FLAGS

ADDRESS = "https://canary.example"
QUIET = "--disable-background-networking"
"""It would keep the browser from connecting early."""


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
        """With these a browser takes it for every host under `.example`."""
        mapped = f"--host-resolver-rules=MAP *.example 127.0.0.1:{self._server.server_port}"
        return [*FLAGS, mapped, "--ignore-certificate-errors"]

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


def with_profile(playwright: Any, canary: Canary, folder: Path, *flags: str) -> Any:
    """Chromium with a profile on disk: one without never connects early, whatever a page asks for."""
    return playwright.chromium.launch_persistent_context(
        str(folder / "profile"),
        executable_path=CHROMIUM,
        args=[flag for flag in (*canary.flags, *flags) if flag != QUIET],
        ignore_default_args=[QUIET, "--hide-scrollbars"],
    )
