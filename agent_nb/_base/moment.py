"""When something happened, by a clock that can be set and by one that cannot."""

import time
from typing import NamedTuple

TOLERANCE = 2.0
"""Seconds that the clocks may drift apart, or a drive's clock differ from the computer's."""


class Moment(NamedTuple):
    """A point in time."""

    wall: float
    """Seconds since 1970."""
    steady: float
    """Seconds of a clock that nobody can set. It may stand still while the computer sleeps."""

    @classmethod
    def now(cls) -> "Moment":
        return cls(time.time(), time.monotonic())

    def set_back_since(self, before: "Moment") -> bool:
        """Whether the clock was set back between the two."""
        return self.wall - before.wall < self.steady - before.steady - TOLERANCE


class EndedCell(NamedTuple):
    """A cell that has run."""

    source: str
    execution_count: int | None
    moment: Moment
    """When it ended."""
