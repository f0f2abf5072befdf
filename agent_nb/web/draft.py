"""What the vocabularies share: how a pair is written, and a file while it is being written."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from agent_nb.events import Event

Pair = tuple[str, str]
"""The name of an event and its JSON text."""
Translate = Callable[[Event], Iterator[Pair]]


def pair(name: str, data: Any) -> Pair:
    return name, json.dumps(data, ensure_ascii=False)


@dataclass(slots=True)
class Draft:
    """A file while it is being written.

    Protocols that cannot append to a text send it again as a whole. If that is done when it `has_grown`, by an
    eighth, the total size stays linear.
    """

    path: str
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    sent: int = 0

    def take(self, offset: int, text: str) -> None:
        if offset < self.length:
            self.pieces = [self.text[:offset]]
            self.sent = 0
        self.pieces.append(text)
        self.length = offset + len(text)

    @property
    def has_grown(self) -> bool:
        return self.length > self.sent * 9 // 8

    @property
    def text(self) -> str:
        return "".join(self.pieces)
