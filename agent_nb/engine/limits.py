"""Limits at which a run ends by itself."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

from agent_nb.errors import ConfigError

MONEY = "usd"


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

    @classmethod
    def read(cls, value: Callable[[str], Any], **others: str) -> "Limits":
        """The limits with these values. `value` gets the name of a limit, or the one that `others` has for it."""
        given = {each.name: value(others.get(each.name, each.name)) for each in fields(cls)}
        return cls(**{name: limit for name, limit in given.items() if limit is not None})

    def at_most(self, other: "Limits") -> "Limits":
        """The lower of each limit."""
        given: dict[str, Any] = {}
        for name, value in asdict(self).items():
            both = [each for each in (value, getattr(other, name)) if each is not None]
            given[name] = min(both, default=None)
        return Limits(**given)


LIMITS = tuple(each.name for each in fields(Limits) if each.name != MONEY)
"""The names of the limits apart from money, which has its own words: `--budget`, `run_budget`."""
