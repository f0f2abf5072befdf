"""Server-sent events."""

import json
from typing import Any


def _text(data: Any) -> str:
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))


class Framing:
    """How the events of a stream are told apart."""

    content_type = "text/event-stream"

    def frame(self, data: Any, event: str = "") -> bytes:
        return (f"event: {event}\n" if event else "").encode() + f"data: {_text(data)}\n\n".encode()

    def comment(self, text: str) -> bytes:
        return f": {text}\n\n".encode()

    def data_start(self, event: bytes) -> int:
        return event.index(b"data: ") + len(b"data: ")


SSE = Framing()
sse = SSE.frame
