"""What the demo model does in a turn: it thinks, says something, calls tools."""

from dataclasses import dataclass

from agent_nb._base.wire import Json


@dataclass(frozen=True, slots=True)
class Think:
    text: str


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: Json


Action = Think | Say | Call
