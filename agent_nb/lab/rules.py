"""The rules of a lab, and the sentences that refuse what they do not allow."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from agent_nb._base.text import listed
from agent_nb.engine.approval_rules import STRICTNESS, Mode
from agent_nb.errors import ConfigError
from agent_nb.providers import full_name
from agent_nb.providers.keys import find_key
from agent_nb.providers.vendors import VENDORS
from agent_nb.tools.toolbox import FAMILIES

LabMode = Literal["full", "hints", "off"]
MCP = "mcp:"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabRules:
    """What a lab file says. A field that is None or empty is no rule, except an empty `tools`: no tools at all."""

    path: Path
    file: str = "lab.toml"
    """The file as sentences name it."""
    digest: str = field(default="", compare=False)
    """The SHA-256 of the file."""
    title: str = ""
    models: tuple[str, ...] = ()
    """Full names, such as `anthropic:claude-haiku-5-5`; the first usable one is the default."""
    budget: float | None = None
    """US dollars for all runs of a student."""
    run_budget: float | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    """Other limits of a run, by name."""
    tools: tuple[str, ...] | None = None
    approve: Mode | None = None
    data: Literal["schema"] | None = None
    variants: int | None = None
    replay: Literal["prefer"] | None = None
    mode: LabMode = "full"
    open: datetime | None = None
    close: datetime | None = None

    def refusal(self, rule: str, sentence: str) -> ConfigError:
        """The error for what a rule does not allow; it names the rule and the file."""
        return ConfigError(f"{sentence} (`{rule}` in {self.file})")

    def check_open(self, now: datetime | None = None) -> None:
        """Raises `ConfigError` unless agents may be used at this time."""
        if self.mode == "off":
            raise self.refusal("mode", "Agents are switched off in this lab.")
        now = now or datetime.now(UTC)
        if self.open and now < self.open:
            raise self.refusal("open", f"This lab opens at {_time(self.open)}; {_clock(now, self.open)}")
        if self.close and now >= self.close:
            raise self.refusal("close", f"This lab closed at {_time(self.close)}; {_clock(now, self.close)}")

    def allows_model(self, name: str) -> bool:
        return not self.models or full_name(name) in self.models

    def check_models(self, names: Iterable[str]) -> None:
        for name in names:
            if not self.allows_model(name):
                raise self.refusal("models", f"This lab allows {listed(self.models)}, not {full_name(name)}.")

    def default_model(self) -> str | None:
        """The first model that needs no key or has one, or else the first, whose error names the key."""
        return next((name for name in self.models if _is_usable(name)), next(iter(self.models), None))

    def check_variants(self, total: int) -> None:
        if self.variants is not None and total > self.variants:
            raise self.refusal("variants", f"This lab allows at most {self.variants} variants, not {total}.")

    def check_approve(self, values: Iterable[str]) -> None:
        """Refuses `--approve` values that ask less often than the lab does."""
        for value in values:
            mode = value.rpartition("=")[2]
            if self.approve and mode in STRICTNESS and _strictness(mode) < _strictness(self.approve):
                raise self.refusal(
                    "approve", f"This lab sets {self.approve!r}, which {value!r} would loosen."
                )

    def check_tools(self, names: Iterable[str], families: Mapping[str, Collection[str]]) -> None:
        """Refuses `-t` names that the lab does not allow, neither by themselves nor by their family."""
        if self.tools is None:
            return
        for name in names:
            groups = [family for family, members in families.items() if name in members]
            groups += [name.partition("/")[0]] if name.startswith(MCP) else []
            if name not in self.tools and not set(groups) & set(self.tools):
                allowed = f"allows {listed(self.tools)}" if self.tools else "allows no tools"
                raise self.refusal("tools", f"This lab {allowed}, not {name}.")

    def left_out(self) -> frozenset[str]:
        """The names of the built-in tools that are not offered. Hints need none of them."""
        allowed = () if self.mode == "hints" else self.tools
        if allowed is None:
            return frozenset()
        return frozenset(
            tool.name
            for family, tools in FAMILIES.items()
            for tool in tools
            if family not in allowed and tool.name not in allowed
        )

    def changed(self, before: "LabRules") -> list[str]:
        """The names of the rules that differ."""
        names = [each.name for each in fields(self) if each.name not in ("path", "file", "digest")]
        return [name for name in names if getattr(self, name) != getattr(before, name)]


def _strictness(mode: str) -> int:
    return [*STRICTNESS].index(mode)  # type: ignore[arg-type]


def _is_usable(name: str) -> bool:
    vendor = VENDORS[name.partition(":")[0]]
    return vendor.offline or vendor.local or find_key(vendor.keys) is not None


def _time(moment: datetime) -> str:
    return moment.isoformat(" ", "minutes")


def _clock(now: datetime, moment: datetime) -> str:
    """What this computer's clock says, in the lab's own time zone, so that a wrong clock is noticed."""
    return f"the clock here says {_time(now.astimezone(moment.tzinfo))}."
