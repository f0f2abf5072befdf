"""What the page receives about a run besides its events. `make events` writes the TypeScript types of these classes.

`docs/internals/widget-protocol.md` describes the messages that carry them.
"""

from dataclasses import dataclass

from agent_nb._base.wire import Json
from agent_nb.run.annotations import Annotation
from agent_nb.run.supported_numbers import AnswerNumber
from agent_nb.run_settings import BoundKind, bound_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """An option that a cell which continues the run repeats."""

    text: str
    """As it stands in the cell: `-t kernel`."""
    label: str
    """In short: `kernel`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundName:
    """A name of the notebook that the page may use."""

    name: str
    kind: BoundKind


def bound_names(settings: Json) -> tuple[BoundName, ...]:
    """The names that the pages of a run with these settings are bound to."""
    types: dict[str, str] = settings.get("bind") or {}
    return tuple(BoundName(name=name, kind=bound_kind(kind)) for name, kind in types.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A failed cell, and what the answer of a run proposes in its place."""

    before: str
    after: str
    cell_id: str
    """The failed cell's id in its notebook; empty if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What the page needs to know of a run from the start; it comes with every batch that begins at event 1."""

    key: str
    """What its output carries as `data-anb-run`; runs of the same request share it."""
    name: str
    model: str
    """Several models of a run with variants are separated by commas."""
    demo: bool
    magic: str = "agent"
    default_model: str = ""
    """The model of cells that name none; empty if the configured one is unknown."""
    repeats: tuple[Repeat, ...] = ()
    """The options of its cell that the next one needs too."""
    network: bool = False
    """Whether the live preview may load from any https address."""
    about: tuple[str, ...] = ()
    """What the header says about the settings of the run: `no values sent`."""
    digest: str | None = None
    """Identifies the run's saved output; None until the run has ended."""
    failed_check: str = ""
    """The check that failed and what was seen; empty until the run has ended."""
    annotations: tuple[Annotation, ...] = ()
    number: int = 0
    """Counts the runs that this kernel has shown."""
    folds: bool = False
    """Whether the outputs of older runs fold to their headers."""
    running_code: tuple[int, ...] = ()
    """The variants in which code runs without asking because the user has allowed it for this run."""
    bound: tuple[BoundName, ...] = ()
    """What its pages are bound to. Such a page has no network."""
    connected: bool = False
    """Whether this kernel has bound them, so that pages can use the names."""
    undone: tuple[str, ...] = ()
    """The names that Undo has put back, each after the token of the call that had changed it: `4f1c fig`."""
    numbers: tuple[AnswerNumber, ...] = ()
    """Numbers in the answer of a loaded run or a replay; other runs have them in `Ready`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    line: str
    """The sentence that says which variables are set, with names in backticks."""
    files_name: str | None
    variant: int
    picked: bool
    paths: tuple[str, ...]
    digest: str
    again: str = ""
    """After a failure, the cell as the user wrote it; empty if it is unknown or has a secret in it."""
    others: tuple[str, ...] = ()
    """The same cell with other models: three at most."""
    failed_check: str = ""
    numbers: tuple[AnswerNumber, ...] = ()
    """Numbers in the answer that an output of the run has, or that nothing has."""
    fix: Fix | None = None
    """Of `%agent fix`, if the answer has a cell."""
