"""How the events of a stream are told apart: server-sent events, or one JSON value per line."""

import json
from typing import Any


def _text(data: Any) -> str:
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))


class Framing:
    """Server-sent events."""

    content_type = "text/event-stream"

    def frame(self, data: Any, event: str = "") -> bytes:
        return (f"event: {event}\n" if event else "").encode() + f"data: {_text(data)}\n\n".encode()

    def comment(self, text: str) -> bytes:
        return f": {text}\n\n".encode()

    def data_start(self, event: bytes) -> int:
        return event.index(b"data: ") + len(b"data: ")


class JsonLines(Framing):
    """One JSON value per line. An event has no name; an empty line stands for a comment."""

    content_type = "application/x-ndjson"

    def frame(self, data: Any, event: str = "") -> bytes:
        return f"{_text(data)}\n".encode()

    def comment(self, text: str) -> bytes:
        return b"\n"

    def data_start(self, event: bytes) -> int:
        return 0


SSE = Framing()
sse = SSE.frame
