"""A row of the table of a run's settings. Features declare theirs with it, and `run_settings.py` its own."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal, NamedTuple, TypeVar

Value = TypeVar("Value")


class Setting(NamedTuple):
    """A row of the table of settings. Columns that nobody may forget have no default."""

    sent: Literal["request", "system", "tools", "conversation", "nowhere"]
    """The part of a request that depends on it. A `request` setting is an argument of `agent_nb.model` and a vendor
    parameter of that name, unless the protocol has another form, as for `effort`."""
    matched: Callable[[Any, Any], str] | Literal["system", "batch", "no"]
    """Describes the difference from a cassette with another value. `system`: compared as part of the system text.
    `batch`: a cassette may differ, a saved run of `agent.map` may not. `no`: both may differ."""
    accepted_by: Mapping[str, Literal["accepts", "ignores"]]
    """What `agent_nb.model` does with it, by wire protocol; the others refuse it. Empty for a setting of the agent."""
    stricter: Callable[[Any, Any], Any] | None
    """Returns the stricter of the user's value and another one; None if no value is stricter than another."""
    priced: bool = False
    """Whether token prices depend on it. `price_of` receives these settings."""
    recorded: Literal["always", "set", "no"] = "set"
    """Whether `run.settings` contains it, always or if set. The manifest, `run.request` and the page show these."""
    header: Callable[[Any], str] | None = None
    """Formats the value for the run's header."""
    is_compared: bool = False
    """Whether `compare` has a column for it."""
    dry_run: str | None = None
    """Its label in `--dry-run`, which lists values other than the default."""
    kind: Any = None
    """The type in a file, of a feature's setting."""

    def with_default(self, default: Value) -> Value:
        return field(default=default, metadata={"row": self})
