"""Marks the numbers that nothing has computed, and lists them below the answer."""

from dataclasses import dataclass
from itertools import dropwhile

from agent_nb.plugins import Addition, FeatureCode, Run, events
from agent_nb.plugins.engine import MOST_NUMBERS, AnswerNumber

NOT_COMPUTED = "No code was run: these numbers were not computed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNumbers:
    table: tuple[AnswerNumber, ...]
    above: str
    """The line above the answer if no code ran; empty otherwise."""
    below: str
    """The line below the answer with the unsupported numbers; empty if there are none."""


class Numbers(FeatureCode[None]):
    def shown(self, run: Run) -> ShownNumbers | None:
        if not run.answer_numbers:
            return None
        texts = run.unsupported
        suffix = f" and {len(texts) - MOST_NUMBERS} more" if len(texts) > MOST_NUMBERS else ""
        below = f"Not computed: {', '.join(texts[:MOST_NUMBERS])}{suffix}" if texts else ""
        above = NOT_COMPUTED if below and not (run.ran_code or _has_changed_files(run)) else ""
        return ShownNumbers(table=run.answer_numbers, above=above, below=below)

    def addition(self, run: Run) -> Addition | None:
        if (shown := self.shown(run)) is None:
            return None
        return Addition(
            marks={each.start: each.text for each in shown.table if each.path is None and not each.call_id},
            above=[*filter(None, [shown.above])],
            below=[*filter(None, [shown.below])],
        )


def _has_changed_files(run: Run) -> bool:
    changes = run.events.of(events.TurnStarted, events.FileChanged)
    in_turns = dropwhile(
        lambda event: isinstance(event, events.FileChanged), changes
    )  # without initial files
    return any(isinstance(event, events.FileChanged) for event in in_turns)
