"""What features change before a run starts: a request, and the runs of a cell."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from agent_nb._base.user_file import UserFile
from agent_nb.core.feature import Feature
from agent_nb.core.run_settings import RunSettings
from agent_nb.engine.description import Description
from agent_nb.engine.handle import Handle
from agent_nb.engine.prepared import PreparedRun
from agent_nb.engine.run_input import RunInput
from agent_nb.pages.page_check import PageViewer
from agent_nb.providers.base import Provider
from agent_nb.run.run import Run
from agent_nb.tools import Tool, Toolbox

if TYPE_CHECKING:
    from agent_nb.engine.clients import ToolClients
    from agent_nb.files.notebook_cells import CellContent
    from agent_nb.tools.base import Branch

Given = TypeVar("Given")
DECLINED = "you did not allow it"
"""What `Host.refusal` returns if the user was asked."""


@dataclass(slots=True, kw_only=True)
class GivenValues:
    given: Mapping[str, Any]
    """What was given for features, by their names."""

    def get(self, feature: Feature[Given]) -> Given | None:
        return self.given.get(feature.name)


@dataclass(slots=True, kw_only=True)
class Draft(GivenValues):
    """A request that is being prepared, which features change."""

    provider: Provider
    run_input: RunInput
    toolbox: Toolbox
    all_tools: Toolbox
    settings: RunSettings
    viewer: PageViewer | None
    cell: str | None
    """The cell's prompt, before its `{{name}}` are replaced; empty if other cells are part of it."""
    runs_by: Literal["engine", "agent", "recording"]
    """Whether turns are those of the engine, of an outside agent, or of a recording."""
    several: bool
    """Whether the run is one of several variants."""
    sends_values: bool
    makes_page: bool
    is_bound: bool
    system: str
    """The built-in text, which is not sent if the conversation has its own."""
    needs: set[str] = field(default_factory=set)
    """The requirements of tools that are met, such as attached images."""
    recorded: dict[str, Any] = field(default_factory=dict)
    """The settings of features, by their names."""
    sections: list[str] = field(default_factory=list)
    """Texts between those of the package and the user's instructions."""
    specs: frozenset[str] | None = None
    """The only tools that are named to the model; None for all."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What features keep for their `RunPart`, by their names."""


class Host(Protocol):
    """Where a cell runs: a notebook, a terminal, marimo."""

    home: Path
    memory: dict[str, Any]
    """Kept for the session."""

    @property
    def namespace(self) -> dict[str, Any]:
        """The user's variables."""

    def command(self, text: str) -> str:
        """Return a line such as `%agent use`, with the magic's configured name."""

    def value(self, name: str) -> Any:
        """The user's variable of this name; raises `ConfigError` if there is none."""

    async def cells(self) -> "Sequence[CellContent]":
        """The cells of the notebook as it is open, or else as saved; raises `ConfigError` if it cannot be read."""

    def tools(self, names: Sequence[str]) -> Sequence[Tool]:
        """New tools by the names that `-t` takes, such as `kernel`; raises `ConfigError` for an unknown name."""

    async def branch(self) -> "Branch":
        """A new branch of the session. The caller ends it."""

    @property
    def notebook_file(self) -> Path | None:
        """The notebook's file; None if it is unknown."""

    @property
    def cell_number(self) -> int:
        """The execution count of the cell that runs, or of the next one. Can be read in any thread."""

    async def front_end(self) -> tuple[str, bool | None]:
        """What shows the notebook, in a few words, and whether a page of it answers; None if it cannot be asked."""

    async def open_view(self, line: str, prompt: str, given: Mapping[str, Any] = {}) -> "ToolClients":
        """A live run without a model, shown in the cell's output, for clients that call tools.

        `line` has its name and options, such as `lent -t kernel --seconds 3600`, and the rules of cells apply, also to
        what is `given` for features besides. It works in the background; when it has ended, its variable is set and it
        is saved.
        """

    def has_run(self, run: Run) -> bool:
        """Whether exactly the code of the run has run in this kernel."""

    def say(self, text: str) -> None:
        """Print a line, masked."""

    def is_attended(self) -> bool: ...
    def confirm(self, question: str) -> bool: ...
    def refusal(self, consents: UserFile, subject: Sequence[str], question: str) -> str:
        """Why the user has not allowed this subject, a path and what is asked about it; empty if they have."""


@dataclass(slots=True, kw_only=True)
class CellPrompt(GivenValues):
    """A cell whose prompt is read."""

    text: str
    """The cell's text, before its `{{name}}` are replaced."""
    host: Host
    sends_values: bool
    connect: Callable[[], object]
    """Connects to the page, if the user watches it, so that it can be asked for cells of the notebook."""
    about: Any = None
    """The executed cell that `%agent fix` or `explain` is about."""
    uses: Sequence[str] = ()
    """The variables that this cell uses, which are described."""
    describe: Callable[[str], Awaitable[Description]] = field(init=False)
    """Describes the value at a path, masked, or its schema if no values are sent; raises `ConfigError`."""
    titles: dict[str, str] = field(default_factory=dict)
    """What replaces `{{cell:ID}}` in the text, by id."""
    instructions: list[str] = field(default_factory=list)
    """Texts that follow the user's instructions."""
    tools: list[str] = field(default_factory=list)
    """What is offered besides the tools of `-t`, by the same names."""


@dataclass(slots=True, kw_only=True)
class CellDraft(GivenValues):
    """The runs of a cell, just before they start. A replay has none."""

    runs: list[PreparedRun]
    host: Host
    has_system: bool
    """Whether a plugin sets the system text."""
    notes: list[str] = field(default_factory=list)
    dry_run: list[str] = field(default_factory=list)
    """Lines for `--dry-run`."""


@dataclass(slots=True, kw_only=True)
class CellStart(GivenValues):
    """A run of a cell that has started, also a replay."""

    handle: Handle
    host: Host
    warn: Callable[[str], None]
    keep: Callable[[Run], Path] | None = None
    """Saves a run that has ended, again if the user has decided on its changes."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What features keep for the end of the run, by their names."""


@dataclass(slots=True, kw_only=True)
class CellEnd(GivenValues):
    """A run of a cell that has ended, before it is shown. `CellCode.ended` may replace it."""

    run: Run
    host: Host
    viewer: PageViewer | None
    asks: bool
    """Whether the user can be asked."""
    is_replay: bool
    is_drawn: bool
    """Whether the user's browser draws the run."""
    raises: bool = True
    """Whether a run that failed or was stopped fails the cell."""
    kept: Mapping[str, Any]
    """That of `CellStart`."""
    paths: list[str] = field(default_factory=list)
    """Where files were written."""
    notes: list[str] = field(default_factory=list)
    image: bytes = b""
    """A small PNG of the page, for readers who do not see the page."""
    errors: list[tuple[str, str]] = field(default_factory=list)
    """Titles and messages; the first fails the cell."""
