"""What a provider is made from: one value, checked before anything is sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from agent_nb.errors import ConfigError
from agent_nb.providers.vendors import Vendor

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[str, ...] = get_args(Effort)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A vendor, a model and how to ask it."""

    vendor: Vendor
    model: str
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    key_variable: str = ""
    """Where the key came from; empty when it was an argument."""
    effort: str | None = None
    max_tokens: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request body, sent as they are."""

    @property
    def name(self) -> str:
        return f"{self.vendor.name}:{self.model}"

    @property
    def server(self) -> str:
        """The address asked, for messages."""
        return self.base_url or self.vendor.base_url or f"{self.vendor.title}'s address"


def check_effort(effort: str | None) -> str | None:
    if effort is not None and effort not in EFFORTS:
        raise ConfigError(f"{effort!r} is not an effort. Use one of {', '.join(EFFORTS)}.")
    return effort


def check_base_url(base_url: str | None) -> str | None:
    if base_url and not base_url.startswith(("http://", "https://")):
        raise ConfigError(f"The base_url {base_url!r} must begin with http:// or https://.")
    return base_url.rstrip("/") if base_url else None


def check_max_tokens(value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f"max_tokens must be a whole number above 0, not {value!r}.")
    return value
