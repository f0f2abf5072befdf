"""The numbers of a dashboard, wherever they come from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    axis: str
    labels: tuple[str, ...]
    columns: tuple[tuple[str, tuple[float, ...]], ...]
    """At least one, each as long as `labels`."""
    given: bool
    """Whether they are the user's numbers, not a sample."""
    source: str = ""
    """Where they were computed from; empty if they came with the prompt or are a sample."""

    rows: str = ""
    """How many rows of the user's table these are: `24 of 120`; empty if that is not known."""

    @property
    def ranked(self) -> bool:
        """Whether the labels are categories, largest first. Others follow each other, as months do."""
        return bool(self.source)
