"""Undoes `agent_nb.notebook.packing` as the page does, for tests that read what the hub sends."""

from typing import Any

USAGE = ("input", "output", "cached_read", "cached_write", "reasoning")
DELTAS = ("file_delta", "text_delta", "thinking_delta", "tool_args_delta")


class Unpacker:
    """Messages in, batches with full events out; what is not a batch stays as it is."""

    def __init__(self) -> None:
        self._channels: dict[int, _Channel] = {}

    def read(self, message: Any) -> dict[str, Any]:
        if isinstance(message, list):
            number, first, count, *items = message
            channel = self._channels.get(number)
            if channel is None:  # this reader came late
                return {"kind": "unknown", "channel": number}
            told = {"run": channel.run, "session": channel.session, "first": first, "last": first + count - 1}
            return {"kind": "batch", **told, "events": channel.unpack(items)}
        if message.get("kind") == "batch":
            channel = self._channels[message["channel"]] = _Channel(message["run"], message["session"])
            return {**message, "events": channel.unpack(message["events"])}
        return dict(message)


class _Channel:
    def __init__(self, run: str, session: str) -> None:
        self.run, self.session = run, session
        self._deltas: dict[int, dict[str, Any]] = {}
        self._variant, self._at = 0, 0.0

    def unpack(self, items: list[Any]) -> list[dict[str, Any]]:
        return [event for item in items if (event := self._event(item)) is not None]

    def _event(self, item: Any) -> dict[str, Any] | None:
        match item:
            case int() | float():
                self._at = item
                return None
            case str():
                return self._go_on(self._variant, item)
            case [variant, str(text)]:
                return self._go_on(variant, text)
            case [variant, cost, *counts]:
                usage = dict(zip(USAGE, [*counts, 0, 0, 0, 0], strict=False))
                told = {"type": "usage_updated", "at": self._at, "usage": usage, "cost": cost}
                return {**told, "estimated": True, **({"variant": variant} if variant else {})}
        variant, self._at = item.get("variant", 0), item["at"]
        if item["type"] in DELTAS:
            self._deltas[variant], self._variant = item, variant
        return dict(item)

    def _go_on(self, variant: int, text: str) -> dict[str, Any]:
        before = self._deltas[variant]
        delta = {**before, "at": self._at, "text": text}
        if "offset" in before:
            delta["offset"] = before["offset"] + len(before["text"])
        self._deltas[variant], self._variant = delta, variant
        return delta
