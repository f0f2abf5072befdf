"""Changes to cells of the notebook that a run offers. Together they are its proposal."""

from dataclasses import dataclass
from typing import Literal

from agent_nb._base.constants import CHANGE_TYPE
from agent_nb._base.wire import Json, WireError, from_wire
from agent_nb.core.event_list import EventList
from agent_nb.core.events import ToolFinished
from agent_nb.files.diffs import unified_diff

CellAction = Literal["change", "insert", "delete"]
ChangeDecision = Literal["accepted", "refused", "open"]
"""`open` takes a decision back."""
CellType = Literal["code", "markdown", "raw"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChange:
    """A change to one cell. Secrets in its texts are masked, except on the card that offers it."""

    id: str
    """Identifies the change in the kernel of its run."""
    action: CellAction
    cell_id: str
    """The cell's id in its notebook. An inserted cell gets this id."""
    number: int
    """The cell's number when the change was offered, from 1; for an inserted cell, that of the cell above, or 0. Also 0
    for the cell of `%agent fix`, which is known by its id alone."""
    place: int = 0
    """The position of an inserted cell among those below the same cell."""
    kind: CellType = "code"
    before: str = ""
    after: str = ""
    secrets: tuple[str, ...] = ()
    """What `•••` stands for in the texts on that card; empty elsewhere."""

    @property
    def is_one(self) -> bool:
        """Whether it changes anything. A later call may have taken the change back."""
        return self.action == "delete" or self.before != self.after

    @property
    def title(self) -> str:
        """`Cell 3`, `Cell 3, deleted`, `The failed cell` or `New Markdown cell below cell 3`."""
        if self.action == "change" and not self.number:
            return "The failed cell"
        if self.action != "insert":
            return f"Cell {self.number}{', deleted' if self.action == 'delete' else ''}"
        kind = "Markdown" if self.kind == "markdown" else self.kind
        return f"New {kind} cell {f'below cell {self.number}' if self.number else 'at the top'}"

    @property
    def diff(self) -> str:
        # Cells end without a newline, which a diff would point out.
        before, after = (text and f"{text}\n" for text in (self.before, self.after))
        return unified_diff(before, after, f"cell {self.number}")


def changes_in(events: EventList) -> tuple[CellChange, ...]:
    """The proposal of a run: the last change to each cell, in the order that the notebook gets."""
    changes: dict[str, CellChange] = {}
    for end in events.of(ToolFinished):
        for wire in (bundle[CHANGE_TYPE] for bundle in end.outputs if CHANGE_TYPE in bundle):
            if change := _read(wire):
                changes[change.id] = change
    offered = (change for change in changes.values() if change.is_one)
    return tuple(sorted(offered, key=lambda change: (change.number, change.action == "insert", change.place)))


def _read(wire: Json) -> CellChange | None:
    """Read a change from an event; None if the run's file is damaged there."""
    try:
        return from_wire(CellChange, wire)  # type: ignore[no-any-return]
    except WireError:
        return None
