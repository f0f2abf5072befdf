"""The changes that runs of this kernel offer, and the user's decisions about them.

An event has only the masked texts of a change; the real ones stay here. On a press of Accept the page sends the command
`decide` and gets them (`to_write`). It writes a cell only if it is still as it was, and otherwise takes the decision
back. The first decision of any window counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError
from agent_nb.files.cell_changes import CellAction, CellChange, CellType
from agent_nb.run.protocol import ChangeDecision

MOST_CHANGES = 2_000
"""Changes to keep for decisions. A change beyond them is shown, and cannot be accepted."""


@dataclass(slots=True, kw_only=True)
class ProposedChange:
    change: CellChange
    """With the real texts."""
    above: tuple[str, ...] = ()
    """For an inserted cell, the ids of the cells above it, the nearest first."""
    decision: ChangeDecision = "open"
    window: str = ""
    """The secret id of the window that decided."""

    def to_write(self) -> Json:
        """What the page needs to write the change."""
        change = self.change
        texts = {"before": change.before, "after": change.after, "above": [*self.above]}
        return {
            "id": change.id,
            "action": change.action,
            "cell_id": change.cell_id,
            "kind": change.kind,
            **texts,
        }


class Proposals:
    """All changes of this kernel, by their ids, oldest first."""

    def __init__(self) -> None:
        self._by_id: dict[str, ProposedChange] = {}

    def add(self, proposed: ProposedChange) -> None:
        self._by_id.pop(proposed.change.id, None)
        self._by_id[proposed.change.id] = proposed
        for oldest in list(self._by_id)[:-MOST_CHANGES]:
            del self._by_id[oldest]

    def decide(self, ids: Sequence[str], decision: ChangeDecision, window: str) -> list[ProposedChange]:
        """Record a decision about all these changes, or about none; raises `ConfigError`.

        Only the window that has decided can take that back, with `open`.
        """
        changes = [self._by_id[name] for name in ids if name in self._by_id]
        if len(changes) < len(ids):
            raise ConfigError("This kernel no longer has that change. Run the cell again.")
        for proposed in changes:
            if decision != "open" and proposed.decision != "open":
                raise ConfigError(f"{proposed.change.title} has already been {proposed.decision}.")
            if decision == "open" and proposed.window != window:
                raise ConfigError(f"{proposed.change.title} has been {proposed.decision} in another window.")
        for proposed in changes:
            proposed.decision, proposed.window = decision, "" if decision == "open" else window
        return changes


proposals = Proposals()


class Proposal:
    """The changes of one variant of a run, by the cell's id, in the order of the calls."""

    def __init__(self) -> None:
        self._changes: dict[str, ProposedChange] = {}

    def find(self, cell_id: str) -> CellChange | None:
        proposed = self._changes.get(cell_id)
        return proposed.change if proposed else None

    def offer(
        self, action: CellAction, cell_id: str, number: int, kind: CellType, texts: tuple[str, str]
    ) -> CellChange:
        """Offer a change of an existing cell, in place of the one offered before."""
        previous, (before, after) = self._changes.get(cell_id), texts
        change = CellChange(
            id=previous.change.id if previous else uuid4().hex[:12],
            action=action,
            cell_id=cell_id,
            number=number,
            kind=kind,
            before=before,
            after=after,
        )
        return self._put(ProposedChange(change=change))

    def insert(self, above: Sequence[str], number: int, kind: CellType, source: str) -> CellChange:
        """Offer a new cell below these, the nearest first, and below those offered there before."""
        earlier = [
            proposed.change.cell_id
            for proposed in reversed(self._changes.values())
            if proposed.change.action == "insert" and proposed.change.number == number
        ]
        change = CellChange(
            id=uuid4().hex[:12],
            action="insert",
            cell_id=f"agent-{uuid4().hex[:8]}",
            number=number,
            kind=kind,
            after=source,
        )
        return self._put(ProposedChange(change=change, above=(*earlier, *above)))

    def revise(self, cell_id: str, edit: Callable[[str], str]) -> CellChange:
        """Edit the text of a cell that this proposal inserts."""
        proposed = self._changes[cell_id]
        change = replace(proposed.change, after=edit(proposed.change.after))
        return self._put(replace(proposed, change=change))

    def withdraw(self, cell_id: str) -> CellChange:
        """Take back the change of a cell."""
        proposed = self._changes.pop(cell_id)
        proposed.change = replace(proposed.change, action="withdrawn")
        return proposed.change

    def _put(self, proposed: ProposedChange) -> CellChange:
        self._changes[proposed.change.cell_id] = proposed
        proposals.add(proposed)
        return proposed.change
