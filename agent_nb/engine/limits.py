"""Limits at which a run ends by itself."""

from dataclasses import asdict, dataclass
from typing import Any

from agent_nb.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits at which a run ends by itself. Reaching one is an ordinary result, not an error."""

    steps: int = 20
    """Turns of the model, the first request included."""
    seconds: float | None = None
    usd: float | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            number = int if name == "steps" else int | float
            if value is None and name != "steps":
                continue
            if not isinstance(value, number) or isinstance(value, bool) or not value > 0:
                kind = "a whole number" if name == "steps" else "a number"
                raise ConfigError(f"The limit {name!r} must be {kind} above 0, not {value!r}.")

    def at_most(self, other: "Limits") -> "Limits":
        """The lower of each limit."""
        given: dict[str, Any] = {}
        for name, value in asdict(self).items():
            both = [each for each in (value, getattr(other, name)) if each is not None]
            given[name] = min(both, default=None)
        return Limits(**given)
