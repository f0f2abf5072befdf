"""What runs share: the model, its tools, its limits, the caller's rules."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent_nb.engine.cost import SharedCosts
from agent_nb.engine.limits import Limits
from agent_nb.engine.tool_runner import Hooks, Policy, ToolRunner
from agent_nb.events import Reason
from agent_nb.images.maker import Studio
from agent_nb.messages import Usage
from agent_nb.providers.base import Provider
from agent_nb.tools import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a run is made of, apart from its question."""

    provider: Provider
    toolbox: Toolbox
    system: str
    limits: Limits
    policy: Policy
    hooks: Hooks
    settings: dict[str, Any]
    price: Callable[[Usage], float | None]
    """Dollars for these tokens; None where the price is not known."""
    runner: type[ToolRunner] = ToolRunner
    """What runs the tools."""
    studio: Studio | None = None
    """Who makes pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Where a run stands among the variants started with it: its number, and what they share."""

    variant: int = 0
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    shared_costs: SharedCosts = field(default_factory=SharedCosts)


NOT_RUN = "Not run: the run ended first."
"""What the end of a run says of a call that it came before."""


class Ended(Exception):  # noqa: N818 - an ending, not an error
    """The run ends here, in the middle of whatever it was doing."""

    def __init__(self, reason: Reason, words: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.words = reason, words
