"""What a run is configured with: the model, its tools, its limits, the caller's rules."""

import uuid
from dataclasses import dataclass, field
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.engine.approval import AllowedHosts
from agent_nb.engine.approval_rules import Rules
from agent_nb.engine.cost import CostMeter, Price
from agent_nb.engine.limits import Limits
from agent_nb.engine.middleware import Hooks
from agent_nb.images.maker import Studio
from agent_nb.looking.element_look import SharedLook
from agent_nb.looking.page_check import PageViewer
from agent_nb.providers.base import Provider
from agent_nb.tools import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request was asked to be, besides its prompt. All of it must match for a replay and for a saved run."""

    instructions: str | None = None
    """The user's own system text, which is added to the default one."""
    stack: str | None = None
    compact: bool = False
    """Whether the conversation so far is to be compacted."""
    lean: bool = False
    data: str = ""
    """`schema` if no values of the user's data are sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """Everything a run needs besides its conversation and files."""

    provider: Provider
    toolbox: Toolbox
    """The tools that the model is offered."""
    system: str
    limits: Limits
    rules: Rules
    """Which tool calls need approval, and from whom."""
    hooks: Hooks
    asked: Asked
    settings: dict[str, Any]
    price: Price
    window: int | None = None
    """Tokens that a request and its answer may have together; None when that is unknown."""
    studio: Studio | None = None
    """Makes and edits images."""
    viewer: PageViewer | None = None
    """Looks at the page that the run makes; None if nothing can."""
    looks: int = 0
    """How often the model may look at the page."""


@dataclass(frozen=True, slots=True)
class VariantGroup:
    """What variants started together share: id, budget, the hosts that the user has allowed, the look at elements."""

    run_id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    meters: list[CostMeter] = field(default_factory=list)
    hosts: AllowedHosts = field(default_factory=AllowedHosts)
    look: SharedLook = field(default_factory=SharedLook)
    fingerprint: Json = field(default_factory=dict)
