"""State that persists between `%%agent` cells."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, cast

from IPython import get_ipython
from traitlets import Bool, Dict, Enum, Float, Int, TraitError, TraitType, Unicode, validate
from traitlets.config import Configurable

from agent_nb._base.constants import APPROVE, DEMO_MODEL, EFFORTS, MODEL_VARIABLE
from agent_nb._base.late import late
from agent_nb.core.errors import ConfigError
from agent_nb.notebook.failures import Failures
from agent_nb.notebook.front_end import cell_id, is_attended

if TYPE_CHECKING:  # too slow to import for `%load_ext`
    from agent_nb._base.user_file import UserFile
    from agent_nb.core.feature import Feature
    from agent_nb.engine.draft import Host
    from agent_nb.engine.handle import Handle
    from agent_nb.files import Files
    from agent_nb.tools.mcp.server import Server

UNDO_LIMIT = 10
"""Maximum number of runs for `%agent undo`; low, because a run keeps all its events and files."""
HUBS: list[Any] = []
"""This kernel's `Hub`, once a run was shown in the page. Its module is slow to import."""
_confirm = late("agent_nb.notebook.asking", "confirm")
_refusal = late("agent_nb.notebook.asking", "refusal")
_user_secrets = late("agent_nb.notebook.values.secret_values", "user_secrets")


def secret_source(shell: Any) -> Callable[[], Mapping[str, str]]:
    """The source of the secret values of a shell's variables. Sources of the same shell are equal."""
    return MethodType(_user_secrets, shell)


def _trait(feature: "Feature[Any]") -> TraitType[Any, Any]:
    option, default = feature.option, feature.default
    assert default
    if option is None or option.is_switch:
        return Bool(default.value, help=default.help)
    if option.choices:
        return Enum(option.choices, default_value=default.value, help=default.help)
    if option.number:
        kind = Int if option.number.kind is int else Float
        return kind(default.value, allow_none=True, help=default.help)
    return Unicode(default.value, help=default.help)


class MagicSettings(Configurable):
    """The defaults of cells. They can change between cells, so they are read on use."""

    model = Unicode("", help="Model for cells that name none, such as 'anthropic:claude-opus-5-5'.")
    instructions = Unicode("", help="Text appended to the system text of every run.")
    stack = Unicode("", help="Stack to build pages with.")
    effort = Enum(("", *EFFORTS), default_value="", help="How hard the model thinks.")
    agents = Dict(help="Your own outside agents, as commands: {'mine': ['my-agent', '--acp']}.")
    approve = Enum(
        APPROVE, default_value="ask", help="Tools that need approval: ask, always run or always deny."
    )
    data = Enum(
        ("all", "schema"), default_value="all", help="What models see of your data: all, or only its schema."
    )
    steps = Int(20, help="Maximum number of turns in a run.")
    looks = Int(3, min=0, help="How often a model may look at its page in a run; 0 for never.")
    seconds = Float(None, allow_none=True, help="Maximum duration of a run, in seconds.")
    silence = Float(
        None,
        allow_none=True,
        help="Seconds without data from the vendor before the request is retried; None for 300, or 900 at"
        " effort high and above.",
    )
    budget = Float(None, allow_none=True, help="Maximum cost of a run, in US dollars.")
    python_seconds = Float(60.0, min=0.1, help="Maximum duration of a call of run_python, in seconds.")
    branches = Int(
        3, min=0, help="How many branches of finished runs stay alive, for runs that continue these."
    )
    files_name = Unicode("files", help="Variable that receives the files; '' for none.")
    fold_runs = Bool(False, help="Fold the outputs of all runs but the newest to their headers.")
    stage = Bool(False, help="Show runs on the stage, a panel beside the notebook in JupyterLab.")
    magic_name = Unicode("agent", help="Name of the magic, in case another extension uses `agent`.")

    @property
    def named_model(self) -> str:
        return self.model or os.environ.get(MODEL_VARIABLE, "")

    @classmethod
    def class_traits(cls, **metadata: Any) -> dict[str, TraitType[Any, Any]]:
        """Called by `%config` and its completion. Adds the defaults of features, which `%load_ext` does not import."""
        from agent_nb.core.feature import features

        there = super().class_traits()
        new = {each.name: _trait(each) for each in features() if each.default and each.name not in there}
        for name, trait in new.items():
            setattr(cls, name, trait.tag(config=True))
        if new:
            cls.setup_class(new)
        traits: dict[str, TraitType[Any, Any]] = super().class_traits(**metadata)
        return traits

    def default_of(self, feature: "Feature[Any]") -> Any:
        if not self.has_trait(feature.name):
            self.class_traits()
        return getattr(self, feature.name)

    def add_defaults_in(self, config: Any) -> None:
        """Add the defaults of features, and those of plugins, before a configuration that names them is loaded."""
        names = config.get(type(self).__name__, {}).keys()
        if names - {*self.trait_names()} and names - self.class_traits().keys():
            from agent_nb.plugins import plugins

            plugins()
            self.class_traits()

    def update_config(self, config: Any) -> None:
        self.add_defaults_in(config)
        super().update_config(config)

    @validate("stack")
    def _check_stack(self, proposal: Any) -> Any:
        from agent_nb.core.run_settings import check_stack

        try:
            return check_stack(proposal["value"]) if proposal["value"] else ""
        except ConfigError as error:
            raise TraitError(str(error)) from None

    @validate("agents")
    def _check_agents(self, proposal: Any) -> Any:
        from agent_nb.acp.known import set_own

        try:
            set_own(proposal["value"])
        except ConfigError as error:
            raise TraitError(str(error)) from None
        return proposal["value"]

    @validate("magic_name")
    def _check_magic_name(self, proposal: Any) -> Any:
        if not proposal["value"].isidentifier():
            raise TraitError(f"The magic cannot be called {proposal['value']!r}. Use a name such as 'robot'.")
        return proposal["value"]


for _each in vars(MagicSettings).values():
    if isinstance(_each, TraitType):
        _each.tag(config=True)  # `%config` lists and sets them all


class Session:
    def __init__(self, shell: Any, defaults: MagicSettings) -> None:
        self.shell = shell
        self.defaults = defaults
        self.home = Path.cwd()
        """The working directory at `%load_ext`, the base of relative paths even after `%cd`."""
        self.background: dict[str, Handle] = {}
        self.finishing: set[asyncio.Task[None]] = set()
        self.replaced: deque[tuple[str, Any]] = deque(maxlen=UNDO_LIMIT)
        """Names and their previous values, newest last."""
        self.servers: dict[str, Server] = {}
        self.ended: deque[tuple[str, float]] = deque(maxlen=10)
        """Source and end time of the last cells, newest last."""
        self.pages: dict[str, str] = {}
        """Id of the newest run of each name; the next run of that name replaces its page."""
        self.after_cell: set[Callable[[], None]] = set()
        """Called after each cell."""
        self.failures = Failures()
        self.memory: dict[str, Any] = {}
        """What features keep, by their names."""
        self.demo_noted = False
        """Whether the note on the demo model (no key set) has been shown."""
        self.last_files: Files | None = None
        """The last value assigned to `files` by a run. Any other value is the user's."""

    @property
    def namespace(self) -> dict[str, Any]:
        namespace: dict[str, Any] = self.shell.user_ns
        return namespace

    @property
    def host(self) -> "Host":
        return cast("Host", self)  # it is a `NotebookHost`

    def note_end(self, result: Any) -> None:
        """Called by IPython after each cell."""
        source = getattr(getattr(result, "info", None), "raw_cell", None) or ""
        self.ended.append((source, time.time()))
        if source and not source.lstrip().lstrip("%").startswith(self.defaults.magic_name):
            self.failures.note(result, cell_id(self.shell))
        for function in self.after_cell:
            function()

    def command(self, text: str) -> str:
        return f"%{self.defaults.magic_name} {text}"

    def is_attended(self) -> bool:
        return is_attended(self.shell)

    def confirm(self, question: str) -> bool:
        return bool(_confirm(question))

    def refusal(self, consents: "UserFile", subject: Sequence[str], question: str) -> str:
        return str(_refusal(self, consents, subject, question))


def settings(shell: Any = None) -> MagicSettings:
    """The settings of this kernel; defaults if the extension is not loaded."""
    shell = shell or get_ipython()
    loaded = shell.magics_manager.registry.get("AgentMagics") if shell is not None else None
    return loaded or MagicSettings()


def host() -> "Host":
    """The notebook as features see it; the extension is loaded."""
    magics: Any = settings()
    return cast("Host", magics.session)


def default_model() -> str:
    """The model of cells without `-m`; empty if the configured one is unknown."""
    from agent_nb.providers import default_model_name, full_name

    model = settings().named_model
    try:
        return full_name(model) if model else default_model_name() or full_name(DEMO_MODEL)
    except ConfigError:
        return ""


def shown_hub() -> Any:
    return HUBS[0] if HUBS else None
