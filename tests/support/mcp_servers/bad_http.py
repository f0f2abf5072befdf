"""An HTTP server with one fault, in a thread of this process."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOOLS = [{"name": "work", "inputSchema": {"type": "object", "properties": {}}}]
ANSWERS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "bad", "version": "1"},
    },
    "tools/list": {"tools": TOOLS},
}


class Faulty(BaseHTTPRequestHandler):
    fault = ""
    headers_seen: list[str]

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.headers_seen.append(self.headers.get("authorization", ""))
        if "id" not in message:
            self._send(202, b"")
        elif message["method"] == "tools/call":
            self._fail(message)
        elif message["method"] in ANSWERS:
            self._send(200, _dump(message, result=ANSWERS[message["method"]]))
        else:
            self._send(200, _dump(message, error={"code": -32601, "message": "Method not found"}))

    def do_DELETE(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        self._send(405, b"")

    def _fail(self, message: dict[str, Any]) -> None:
        match self.fault:
            case "drops":
                self.connection.close()
            case "refuses":
                self._send(500, b"oops")
            case "huge":
                self._send(200, b'{"jsonrpc": "2.0", "id": 1, "result": "' + b"x" * 3_000_000 + b'"}')
            case "hangs":
                time.sleep(3)
            case "forgets" if "forgot" in self.headers_seen:
                self._send(200, _dump(message, result={"content": [{"type": "text", "text": "worked"}]}))
            case "forgets":
                self.headers_seen.append("forgot")
                self._send(404, _dump(message, error={"code": -32600, "message": "Session not found"}))

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("mcp-session-id", "one")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Says nothing."""


def _dump(message: dict[str, Any], **answer: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode()


@contextmanager
def faulty_http(fault: str) -> Iterator[tuple[str, list[str]]]:
    """The URL of the server, and the `Authorization` headers that it has seen."""
    seen: list[str] = []
    handler = type("Handler", (Faulty,), {"fault": fault, "headers_seen": seen})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", seen
    finally:
        server.shutdown()
        server.server_close()
