"""A cell that has run."""

from typing import NamedTuple


class EndedCell(NamedTuple):
    """A cell that has run."""

    source: str
    time: float
    """When it ended, in seconds since 1970."""
