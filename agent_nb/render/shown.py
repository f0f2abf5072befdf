"""What features show of a finished run: values for the page, and additions to its saved forms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_nb._base.log import log
from agent_nb._base.table import Table
from agent_nb._base.wire import Json, to_wire
from agent_nb.core.feature import features, imported
from agent_nb.render.finished_run import FinishedRun

ShownFeatures = Mapping[str, Mapping[int, Json]]
"""The wire forms of what `FeatureCode.shown` returns, by feature and variant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What features add to a run in HTML, Markdown, text, cells and a terminal."""

    marks: Mapping[int, str] = field(default_factory=dict)
    """Parts of the answer to be marked, by offset in UTF-16 units."""
    above: Sequence[str] = ()
    """Lines above the answer."""
    facts: Sequence[str] = ()
    """Words after the ending in the first line."""
    below: Sequence[Table | str] = ()
    """Tables and lines below the answer."""

    @property
    def lines(self) -> list[str]:
        return [part for part in self.below if isinstance(part, str)]


def shown_features(run: FinishedRun) -> ShownFeatures:
    """Return what features show of each variant."""
    values: dict[str, dict[int, Json]] = {}
    variants = dict(enumerate(run.variants)) | {run.variant: run}
    for number, variant in sorted(variants.items()):
        for name, value in _asked("shown", variant):
            values.setdefault(name, {})[number] = to_wire(value)
    return values


def addition(run: FinishedRun) -> Addition:
    """Return what all features add to a run or a variant."""
    added: list[Addition] = [each for _, each in _asked("addition", run)]
    return Addition(
        marks={start: text for each in added for start, text in each.marks.items()},
        above=[line for each in added for line in each.above],
        facts=[words for each in added for words in each.facts],
        below=[part for each in added for part in each.below],
    )


def value_of(run: FinishedRun, name: str) -> Any:
    """Return the value of a feature that runs have by this name."""
    feature = next(feature for feature in features() if feature.value and feature.value_name == name)
    return imported(feature.code)(feature).value(run)


def _asked(hook: str, run: FinishedRun) -> Iterator[tuple[str, Any]]:
    """Call a hook of all features. A feature that fails shows nothing: the run itself must still be shown."""
    for feature in features():
        try:
            value = getattr(imported(feature.code)(feature), hook)(run) if feature.code else None
        except Exception:  # third-party code
            log.exception("the feature %s failed to show a run", feature.name)
        else:
            if value is not None:
                yield feature.name, value
