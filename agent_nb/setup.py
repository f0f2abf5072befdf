"""What runs share: the model, its tools, its limits, the caller's rules."""

from dataclasses import asdict, dataclass
from typing import Any

from agent_nb.calls import Hooks, Policy
from agent_nb.errors import ConfigError
from agent_nb.providers.base import Provider
from agent_nb.tools import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where a run ends by itself. Ending on one is an ordinary result."""

    steps: int = 20
    """Turns of the model."""
    seconds: float | None = None
    usd: float | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and not value > 0:
                raise ConfigError(f"The limit {name!r} must be above 0, not {value!r}.")


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
