"""The settings of `%config AgentMagics`."""

import os
from typing import Any

from traitlets import Bool, Dict, Enum, Float, Int, TraitError, Unicode, validate
from traitlets.config import Configurable

from agent_nb._base.constants import EFFORTS, MODEL_VARIABLE
from agent_nb.errors import ConfigError
from agent_nb.options import APPROVE
from agent_nb.prompts import check_stack


class Settings(Configurable):
    """The defaults of cells. They can change between cells, so they are read when they are needed."""

    model = Unicode("", help="Model for cells that name none, such as 'anthropic:claude-opus-5-5'.")
    instructions = Unicode("", help="Text appended to the system text of every run.")
    stack = Unicode("", help="Stack to build pages with.")
    effort = Enum(("", *EFFORTS), default_value="", help="How hard the model thinks.")
    agents = Dict(help="Outside agents of your own, as commands: {'mine': ['my-agent', '--acp']}.")
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
        help="Seconds that a vendor may send nothing before the request is retried; None for 300, or 900 at"
        " effort high and above.",
    )
    budget = Float(None, allow_none=True, help="Maximum cost of a run, in US dollars.")
    python_seconds = Float(60.0, min=0.1, help="Maximum duration of a call of run_python, in seconds.")
    files_name = Unicode("files", help="Variable that receives the files; '' for none.")
    save_runs = Bool(True, help="Save finished runs under .agent_nb/runs/.")
    saved_image = Bool(
        False, help="Save a small image of the page in the output, for readers of an untrusted notebook."
    )
    fold_runs = Bool(False, help="Fold the outputs of all runs but the newest to their headers.")
    magic_name = Unicode("agent", help="Name of the magic, in case another extension uses `agent`.")

    @property
    def named_model(self) -> str:
        return self.model or os.environ.get(MODEL_VARIABLE, "")

    @validate("stack")
    def _check_stack(self, proposal: Any) -> Any:
        try:
            return check_stack(proposal["value"]) if proposal["value"] else ""
        except ConfigError as error:
            raise TraitError(str(error)) from None

    @validate("agents")
    def _check_agents(self, proposal: Any) -> Any:
        from agent_nb.agents.known import set_own

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


for _trait in Settings.class_own_traits().values():
    _trait.tag(config=True)  # `%config` lists and sets them all
