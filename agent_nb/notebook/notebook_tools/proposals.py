"""The changes that runs of this kernel offer, and the user's decisions about them.

An event has only the masked texts of a change; the real ones stay here, and the page that offers the change shows them.
On a press of Accept it sends the command `decide` and gets them. It writes a cell only if it is still as it was, and
otherwise takes the decision back. The first decision of any window counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_nb._base.secrets import MASK, as_accepted, exact, own_values
from agent_nb._base.text import showable_text
from agent_nb._base.wire import Json, to_wire
from agent_nb.core.errors import ConfigError
from agent_nb.engine.approval import Consent
from agent_nb.files.cell_changes import CellChange, ChangeDecision
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.values.cells import mask_named
from agent_nb.run.run import Run

MOST_CHANGES = 2_000
"""Maximum changes that wait for a decision. Older ones are still shown, but cannot be accepted."""

_PYTHON = frozenset(("", "python", "py", "python3", "ipython", "ipython3"))
"""Info strings of Python code blocks in Markdown."""


@dataclass(slots=True)
class _Offered:
    change: CellChange
    """The change with its real texts, not masked."""
    above: Sequence[str]
    """For an inserted cell, the ids of the cells above it, the nearest first."""
    decision: ChangeDecision = "open"
    window: str = ""
    """The secret id of the window that decided."""


class Proposals:
    """All changes of this kernel, by their ids, oldest first."""

    def __init__(self) -> None:
        self._by_id: dict[str, _Offered] = {}

    def offer(self, change: CellChange, above: Sequence[str] = ()) -> None:
        """Offer a change in place of the one with the same id. An equal change keeps its decision."""
        previous = self._by_id.get(change.id)
        if previous and previous.change == change:
            return
        self._by_id.pop(change.id, None)
        self._by_id[change.id] = _Offered(change, above or (previous.above if previous else ()))
        for oldest in list(self._by_id)[:-MOST_CHANGES]:
            del self._by_id[oldest]

    def as_shown(self, wire: Json, consent: Consent) -> Json:
        """The wire form of a change as its card shows it: with the texts that Accept compares and writes."""
        offered = self._by_id.get(wire.get("id", ""))
        return exact(to_wire(_as_shown(offered.change, consent))) if offered else wire

    def decide(self, ids: Sequence[str], decision: ChangeDecision, window: str) -> list[Json]:
        """Record a decision about all these changes, or about none, and return what the page writes.

        Only the window that made a decision can take it back, with `open`.
        """
        offered = [self._by_id[name] for name in ids if name in self._by_id]
        if len(offered) < len(ids):
            raise ConfigError("This kernel no longer has that change. Run the cell again.")
        for item in offered:
            if decision != "open" and item.decision != "open":
                raise ConfigError(f"{item.change.title} has already been {item.decision}.")
            if decision == "open" and item.window != window:
                raise ConfigError(f"{item.change.title} has been {item.decision} in another window.")
        for item in offered:
            item.decision, item.window = decision, "" if decision == "open" else window
        return [exact({**to_wire(item.change), "above": [*item.above]}) for item in offered]


proposals = Proposals()


def _as_shown(change: CellChange, consent: Consent) -> CellChange:
    texts, secrets = as_accepted({"before": change.before, "after": change.after}, consent.secrets)
    return replace(change, **texts, secrets=secrets)


def with_decisions(run: Run, decided: Mapping[str, ChangeDecision]) -> Run:
    """A copy of the run, and of its variants, with these decisions about its changes."""
    left: dict[str, ChangeDecision]
    left = {change: decision for change, decision in decided.items() if decision != "open"}
    variants = tuple(replace(variant, decided=left) for variant in run.variants)
    return replace(run, decided=left, variants=variants)


def offer_fix(run: Run, failure: FailedCell | PlainCell | None, consent: Consent) -> CellChange | None:
    """Offer the last Python block of the answer in place of the failed cell, and return the change as it is shown.

    None if there is no block, if it changes nothing, or if it has a mask in place of a secret.
    """
    if not isinstance(failure, FailedCell) or run.reason != "end_turn":
        return None
    from markdown_it import MarkdownIt

    tokens = MarkdownIt().parse(run.text)
    blocks = [token.content for token in tokens if token.type == "fence" and token.info.strip() in _PYTHON]
    before, after = failure.source, blocks[-1].strip("\n") if blocks else ""
    if not after or after == before.rstrip() or MASK in mask_named(after, own_values()):
        return None
    change = CellChange(
        id=f"{run.id}-{run.variant}",
        action="change",
        cell_id=failure.cell_id,
        number=0,
        before=before,
        after=showable_text(after),
    )
    proposals.offer(change)
    return _as_shown(change, consent)
