"""What the page is told of a run besides its events. `make events` writes the TypeScript types of these classes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What the header and the footer show of a run."""

    name: str
    model: str
    demo: bool
    finished: bool
    steps: int | None
    budget: float | None
    stop_hint: str
    """A sentence: what to press when the kernel does not answer."""
    files_name: str | None
    """The variable that holds the files."""
    outcome: str | None
    """Digest that identifies the run's saved output; None until the run has ended."""
    network: bool = False
    """Whether the live preview may load from any https address."""
