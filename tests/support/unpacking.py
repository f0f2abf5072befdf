"""Undoes `agent_nb.notebook.live.packing` as the page does, for tests that read what the hub sends."""

import string
from typing import Any

USAGE = ("input", "output", "cached_read", "cached_write", "reasoning")
DIGITS = string.digits + string.ascii_letters
DELTAS = ("file_delta", "text_delta", "thinking_delta", "tool_args_delta")


class Unpacker:
    """Messages in, batches with full events out; what is not a batch stays as it is."""

    def __init__(self) -> None:
        self._channels: dict[int, _Channel] = {}
        self._newest: int | None = None

    def read(self, message: Any) -> dict[str, Any]:
        match message:
            case str():
                channel = self._channels.get(self._newest or 0)
                if channel is not None:
                    count, ticks = (DIGITS.index(digit) for digit in message[:2])
                    channel.at += ticks / 100
                    return channel.batch(channel.last + 1, count, [message[2:]])
                return {"kind": "unknown", "channel": self._newest}
            case [number, first, count, *items]:
                self._newest, channel = number, self._channels.get(number)
                if channel is not None:
                    return channel.batch(first, count, items)
                return {"kind": "unknown", "channel": number}  # this reader came late
            case {"kind": "batch", "first": first, "last": last, "channel": number}:
                self._newest = number
                channel = self._channels[number] = _Channel(message["run"], message["session"])
                return {**message, **channel.batch(first, last - first + 1, message["events"])}
        return dict(message)


class _Channel:
    def __init__(self, run: str, session: str) -> None:
        self.run, self.session = run, session
        self._deltas: dict[int, dict[str, Any]] = {}
        self._variant, self.at, self.last = 0, 0.0, 0

    def batch(self, first: int, count: int, items: list[Any]) -> dict[str, Any]:
        events = [event for item in items if (event := self._event(item)) is not None]
        self.last = first + count - 1
        told = {"run": self.run, "session": self.session, "first": first, "last": self.last}
        return {"kind": "batch", **told, "events": events}

    def _event(self, item: Any) -> dict[str, Any] | None:
        match item:
            case int() | float():
                self.at = item
                return None
            case str():
                return self._go_on(self._variant, item)
            case [variant, str(text)]:
                return self._go_on(variant, text)
            case [variant, cost, *counts]:
                usage = dict(zip(USAGE, [*counts, 0, 0, 0, 0], strict=False))
                told = {"type": "usage_updated", "at": self.at, "usage": usage, "cost": cost}
                return {**told, "estimated": True, **({"variant": variant} if variant else {})}
        variant, self.at = item.get("variant", 0), item["at"]
        if item["type"] in DELTAS:
            self._deltas[variant], self._variant = item, variant
        return dict(item)

    def _go_on(self, variant: int, text: str) -> dict[str, Any]:
        before = self._deltas[variant]
        delta = {**before, "at": self.at, "text": text}
        if "offset" in before:
            delta["offset"] = before["offset"] + len(before["text"])
        self._deltas[variant], self._variant = delta, variant
        return delta
