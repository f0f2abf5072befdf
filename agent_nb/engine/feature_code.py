"""The hooks of a feature: `FeatureCode` for a request that is prepared, `RunPart` for a run in progress.

Hooks are called in the order of `features()`. State of a run belongs to its `RunPart`, which each variant makes anew; a
replay makes none and shows what was recorded. Only `prepare` and `part` see runs of `Agent` in scripts; cells and other
hosts with a user also call `planned`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from agent_nb.core.errors import ConfigError
from agent_nb.core.events import Event, Reason
from agent_nb.core.feature import Feature
from agent_nb.core.messages import ToolCall, ToolResult
from agent_nb.engine.compaction import Window
from agent_nb.engine.data_gate import DataGate
from agent_nb.engine.description import Description
from agent_nb.engine.draft import CellDraft, CellEnd, CellPrompt, CellStart, Draft
from agent_nb.engine.journal import Journal
from agent_nb.engine.prepared import PreparedRun
from agent_nb.engine.tool_runner import ToolRunner
from agent_nb.files import Files
from agent_nb.providers.base import Request, Turn
from agent_nb.render.shown import Addition
from agent_nb.run.run import Run
from agent_nb.tools.base import BranchedSession

if TYPE_CHECKING:
    from agent_nb.engine.handle import Handle, RunHandle

Given = TypeVar("Given")
StartRuns = Callable[..., Sequence["RunHandle"]]
"""Starts prepared runs together, as variants of each other."""


class Say(NamedTuple):
    """Go on with another turn, after this text of the user, if any."""

    text: str = ""
    hides_turn: bool = False
    """Whether the turn before is no longer sent."""


class Done(NamedTuple):
    reason: Reason = "end_turn"


Next = Say | Done | None
"""What follows; None to leave it to the next feature and the engine."""


@dataclass(slots=True)
class RunEnd:
    """What a run ends with besides its files."""

    answer: Any = None
    """As JSON, in `RunFinished` and `run.answer`."""
    values: dict[str, Any] = field(default_factory=dict)
    """Read as `run.NAME`, by the names of features that declare a value; as JSON."""
    branched_from: BranchedSession | None = None


@dataclass(frozen=True, slots=True)
class PartInputs:
    prepared: PreparedRun
    journal: Journal
    window: Window
    gate: DataGate | None
    files: Callable[[], Files]


class RunPart:
    """A feature's part in one run. An error in it ends the run: a feature may protect something."""

    in_order = False
    """Whether calls of one turn run one after the other."""

    async def begin(self, runner: ToolRunner) -> ToolRunner:
        """What runs the tools, before the first turn."""
        return runner

    def outgoing(self, request: Request) -> Request:
        """The request, before middleware changes it and `--data schema` masks it. Called for each attempt."""
        return request

    def written(self, request: Request) -> Request:
        """The request in another form, after masking, so of built-in features only. It must add no content."""
        return request

    def completed(self, turn: Turn, held: str) -> Turn:
        """The turn as it is kept, before it is priced. Show `held`, its text if the request has `holds_text`."""
        return turn

    def closing(self) -> str:
        """The text before the last turn, in place of the one that asks for a summary."""
        return ""

    def runs_last(self, calls: Sequence[ToolCall]) -> bool:
        """Whether these calls of the last turn are run."""
        return False

    async def after_tools(self, results: Sequence[tuple[str, ToolResult]]) -> Next:
        """Called with the results of a turn by event id. A text of `Say` follows them."""
        return None

    def after_turn(self, turn: Turn, left: int) -> Next:
        """Called after a turn without calls, with the number of turns left; a text is sent if there are two."""
        return None

    def event(self, event: Event) -> None:
        """Called with each event. Override it only if needed: there are thousands."""

    def finish(self, end: RunEnd) -> None:
        """Called once, however the run ends."""

    def close(self) -> None:
        """Release what it holds. Called last."""


class FeatureCode(Generic[Given]):
    """The code of a feature. There is one object for all runs, so it has no state."""

    def __init__(self, feature: Feature[Given]) -> None:
        self.feature = feature

    def read(self, value: Any, names: Mapping[str, Any]) -> Given:
        """What runs get from an option's value or a keyword's; raises `ConfigError`. `names` are the notebook's."""
        option = self.feature.option
        number = option.number if option else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and not (is_number and number.accepts(value)):
            raise ConfigError(f"`{self.feature.name}` must be {number.description}, not {value!r}.")
        if option and option.choices and value not in option.choices:
            raise ConfigError(
                f"`{self.feature.name}` must be one of {', '.join(option.choices)}, not {value!r}."
            )
        return cast("Given", value)

    def prepare(self, draft: Draft) -> None:
        """Change a request that is prepared, and record the setting in `draft.recorded`."""

    def run(self, request: Sequence[PreparedRun], start: StartRuns) -> "Handle | None":
        """Start runs for a request, which has one prepared run for each variant, and return the handle that counts.

        None starts the request itself.
        """
        return None

    def part(self, run: PartInputs) -> RunPart | None:
        """Take part in a run that starts."""
        return None

    def value(self, run: Run) -> Any:
        """What `run.NAME` is: by default the value that the run ended with, or None."""
        return run.values.get(self.feature.name)

    def shown(self, run: Run) -> Any:
        """What the page shows of a finished run or variant: a dataclass, which is annotated as returned, or None.

        The view of the feature in `js/src/features/` draws it. It depends on the run alone, which may be loaded. The
        variant that counts comes with all `variants`.
        """

    def addition(self, run: Run) -> Addition | None:
        """What all saved forms of a finished run or variant add to it."""
        return None


class RecordsGiven(FeatureCode[Given]):
    def prepare(self, draft: Draft) -> None:
        if (given := draft.get(self.feature)) is not None:
            draft.recorded[self.feature.name] = given


class CellCode(Generic[Given]):
    """What a feature does in cells, of a notebook or another host with a user."""

    def __init__(self, feature: Feature[Given]) -> None:
        self.feature = feature

    async def prompt(self, cell: CellPrompt) -> Description | None:
        """A part of the prompt, which follows those of the features before. Also called for replays."""
        return None

    async def planned(self, plan: CellDraft) -> None:
        """Change the runs of a cell, and ask the user. Not called for replays."""

    def started(self, start: CellStart) -> None:
        """Follow a run of a cell."""

    async def ended(self, end: CellEnd) -> None:
        """Change a run of a cell that has ended, also of a replay, before its variables are set."""

    async def save(self, end: CellEnd) -> None:
        """Write files of a run whose variables are set. Interrupts wait until it returns."""

    async def before_view(self, end: CellEnd) -> None:
        """Add to what is shown of a run that has ended. An interrupt cancels it."""
