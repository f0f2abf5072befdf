"""The rules of a lab: finds and parses `lab.toml`, and raises errors for what it does not allow."""

import math
import os
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from agent_nb._base.atomic import read_file
from agent_nb._base.constants import ACP, vendor_of
from agent_nb._base.secrets import shortened
from agent_nb._base.text import did_you_mean, listed, printable, sha256
from agent_nb._base.user_file import home_folder
from agent_nb.core.errors import ConfigError
from agent_nb.core.feature import features
from agent_nb.core.run_settings import LIMITS, MOST_VARIANTS, STRICTNESS, Mode
from agent_nb.providers import full_name
from agent_nb.providers.requirements import missing
from agent_nb.providers.vendors import VENDORS
from agent_nb.tools.toolbox import FAMILIES

MCP = "mcp:"
FILE = "lab.toml"
TABLE = "lab"
MAX_BYTES = 100_000
ROOT_VARIABLES = ("JUPYTER_SERVER_ROOT", "JUPYTERHUB_ROOT_DIR")
"""Variables with a server's root folder. Not every server sets one for its kernels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabRules:
    """The content of a lab file. None or empty means no rule, except that an empty `tools` allows no tools."""

    path: Path
    file: str = FILE
    digest: str = field(default="", compare=False)
    title: str = ""
    models: tuple[str, ...] = ()
    """Full names, such as `anthropic:claude-haiku-5-5`; the first usable one is the default."""
    budget: float | None = None
    run_budget: float | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    approve: Mode | None = None
    data: Literal["schema"] | None = None
    variants: int | None = None
    replay: Literal["prefer"] | None = None
    mode: Literal["full", "hints", "off"] = "full"
    open: datetime | None = None
    close: datetime | None = None
    of_features: Mapping[str, Any] = field(default_factory=dict)
    """The rules of features, by name."""

    def refusal(self, rule: str, sentence: str) -> ConfigError:
        return ConfigError(f"{sentence} (`{rule}` in {self.file})")

    def check_open(self, now: datetime | None = None) -> None:
        if self.mode == "off":
            raise self.refusal("mode", "Agents are switched off in this lab.")
        now = now or datetime.now(UTC)
        if self.open and now < self.open:
            raise self.refusal("open", f"This lab opens at {_times(self.open, now)}")
        if self.close and now >= self.close:
            raise self.refusal("close", f"This lab closed at {_times(self.close, now)}")

    def check_models(self, names: Iterable[str]) -> None:
        for name in names:
            if self.models and full_name(name) not in self.models:
                raise self.refusal("models", f"This lab allows {listed(self.models)}, not {full_name(name)}.")

    def default_model(self) -> str | None:
        """Return the first model that needs no key or has one; the fallback is the first, whose error names the key.

        None starts an outside agent, because only the user names one.
        """
        names = [name for name in self.models if vendor_of(name) != ACP]
        usable = (name for name in names if not missing(VENDORS[vendor_of(name)]))
        return next(usable, next(iter(names), None))

    def check_variants(self, total: int) -> None:
        if self.variants is not None and total > self.variants:
            raise self.refusal("variants", f"This lab allows at most {self.variants} variants, not {total}.")

    def check_approve(self, values: Iterable[str]) -> None:
        """Reject `--approve` values that ask less often than the lab."""
        looser = STRICTNESS[: STRICTNESS.index(self.approve)] if self.approve else ()
        for value in values:
            if value.rpartition("=")[2] in looser:
                raise self.refusal(
                    "approve", f"This lab sets {self.approve!r}, which {value!r} would loosen."
                )

    def check_tools(self, names: Iterable[str], families: Mapping[str, Collection[str]]) -> None:
        """Reject `-t` names that the lab allows neither by name nor by family."""
        if self.tools is None:
            return
        for name in names:
            groups = [family for family, members in families.items() if name in members]
            groups += [name.partition("/")[0]] if name.startswith(MCP) else []
            if name not in self.tools and not set(groups) & set(self.tools):
                allowed = f"allows {listed(self.tools)}" if self.tools else "allows no tools"
                raise self.refusal("tools", f"This lab {allowed}, not {name}.")

    def check_given(self, given: Mapping[str, Any]) -> None:
        for feature in features():
            value = given.get(feature.name)
            if feature.rule is None or value is None:
                continue
            rule = self.of_features.get(feature.name, feature.rule.default)
            if rule is not None and (why := feature.rule.refuses(rule, value)):
                raise self.refusal(feature.name, why)

    def left_out(self) -> frozenset[str]:
        allowed = () if self.mode == "hints" else self.tools
        if allowed is None:
            return frozenset()
        return frozenset(
            tool.name
            for family, tools in FAMILIES.items()
            for tool in tools
            if family not in allowed and tool.name not in allowed
        )


def _times(moment: datetime, now: datetime) -> str:
    """Format both times in the lab's time zone, so that a wrong system clock is noticed."""
    here = now.astimezone(moment.tzinfo)
    return f"{moment.isoformat(' ', 'minutes')}; the clock here shows {here.isoformat(' ', 'minutes')}."


def find_lab(folder: Path) -> Path | None:
    """Return the nearest lab file from this folder up to the server's root or the home folder.

    Outside both, only the folder itself is searched: others may write to its parents, such as a temporary folder.
    """
    folder = folder.resolve()
    settings = [os.environ.get(name, "") for name in ROOT_VARIABLES]
    roots = [Path(os.path.expanduser(name)).resolve() for name in settings if name]
    with suppress(FileNotFoundError):
        roots.append(home_folder().resolve())
    root = next((root for root in roots if folder.is_relative_to(root)), folder)
    for place in (folder, *folder.parents):
        if (place / FILE).is_file():
            return place / FILE
        if place == root:
            break
    return None


def read_lab(path: Path, data: bytes, file: str = FILE) -> LabRules:
    """Parse a `lab.toml`; raises `ConfigError` with the line and the remedy."""
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{file} has more than {MAX_BYTES // 1000} kB.")
    try:
        content = tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8.") from None
    except (ValueError, RecursionError) as error:  # invalid TOML, with its position; a very deep table
        raise ConfigError(f"{file} is not valid TOML: {error}.") from None
    for name, value in content.items():
        if name != TABLE:
            hint = did_you_mean(name.lower(), [TABLE]) or f"The rules belong below `[{TABLE}]`."
            raise ConfigError(f"{file}: there is no table or key {name[:40]!r}. {hint}")
        if not isinstance(value, dict):
            raise ConfigError(f"{file}: `{TABLE}` must be a table: write `[{TABLE}]`.")
    values = {name: _value(file, name, value) for name, value in content.get(TABLE, {}).items()}
    if values.get("open") and values.get("close") and values["open"] >= values["close"]:
        raise ConfigError(f"{file}: `close` must be later than `open`.")
    limits = {name: values.pop(name) for name in LIMITS if name in values}
    of_features = {each.name: values.pop(each.name) for each in features() if each.name in values}
    return LabRules(
        path=path, file=file, digest=sha256(data), limits=limits, of_features=of_features, **values
    )


def _value(file: str, name: str, value: Any) -> Any:
    rules = ((feature.name, feature.rule) for feature in features() if feature.rule)
    keys = KEYS | {key: _checked(rule.expected, rule.accepts) for key, rule in rules}
    if name not in keys:
        hint = did_you_mean(name.lower(), keys) or f"The keys are {', '.join(keys)}."
        raise ConfigError(f"{file}: there is no key {name[:40]!r}. {hint}")
    try:
        return keys[name](value)
    except ConfigError as error:
        raise ConfigError(f"{file}: `{name}` {error}") from None


def _checked(expected: str, accepts: Callable[[Any], bool]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not accepts(value):
            raise ConfigError(f"must be {expected}, not {_shown(value)}.")
        return value

    return read


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _title(value: Any) -> str:
    text = _checked("text in quotation marks", lambda item: isinstance(item, str))(value)
    return printable(text, keep="")


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name.strip() for name in value)


def _names(value: Any) -> tuple[str, ...]:
    names = _checked('a list of names such as ["files"]', _is_names)(value)
    return tuple(dict.fromkeys(printable(name.strip(), keep="") for name in names))


def _models(value: Any) -> tuple[str, ...]:
    names = _names(value)
    if not names:
        raise ConfigError('must name at least one model; mode = "off" switches agents off.')
    try:
        return tuple(dict.fromkeys(full_name(name) for name in names))
    except ConfigError as error:
        raise ConfigError(f"names no model. {error}") from None


def _choice(*choices: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            hint = did_you_mean(value.lower(), choices) if isinstance(value, str) else ""
            listed = " or ".join(f'"{choice}"' for choice in choices)
            raise ConfigError(f"must be {listed}, not {_shown(value)}. {hint}".strip())
        return str(value)

    return read


def _moment(value: Any) -> datetime:
    example = "2026-11-01T08:00:00+01:00, without quotation marks"
    if not isinstance(value, datetime):
        raise ConfigError(f"must be a date with a time such as {example}, not {_shown(value)}.")
    if value.tzinfo is None:
        raise ConfigError(f"must include a time zone, such as {example}.")
    return value


KEYS: dict[str, Callable[[Any], Any]] = {
    "title": _title,
    "models": _models,
    "budget": _checked("US dollars of at least 0, such as 0.50", lambda usd: _is_number(usd) and usd >= 0),
    "run_budget": _checked("US dollars above 0, such as 0.50", lambda usd: _is_number(usd) and usd > 0),
    "tools": _names,
    "approve": _choice("ask", "deny"),
    "data": _choice("schema"),
    "variants": _checked(
        f"a whole number from 1 to {MOST_VARIANTS}",
        lambda count: type(count) is int and 1 <= count <= MOST_VARIANTS,
    ),
    "replay": _choice("prefer"),
    "mode": _choice("full", "hints", "off"),
    "open": _moment,
    "close": _moment,
    **dict.fromkeys(LIMITS, _checked("a number above 0", lambda most: _is_number(most) and most > 0)),
}
"""The parser of each key, which is a field of `LabRules` or a limit."""


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str | bool | int | float | list | dict) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return shortened(text, 40)


class LabWatch:
    """Watches the lab file of a folder while the kernel runs. A teacher may edit it at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._announced: LabRules | None = None
        self.logged_edits: set[tuple[str, str]] = set()
        """Logged edits by hand: file path and hash of the content."""

    def rules(self) -> LabRules | None:
        """Return the current rules, None without a file; raises `ConfigError` if it cannot be read."""
        path = find_lab(self._folder)
        if path is None:
            return None
        # A file far from the notebook is shown with its folder.
        file = FILE if path.parent == self._folder.resolve() else str(path)
        try:
            data = read_file(path, MAX_BYTES + 1, start=True)
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror or error}.") from None
        return read_lab(path, data, file)

    def announce(self, rules: LabRules, command: str) -> str:
        """Return a notice about new or changed rules before a run; empty if they are unchanged."""
        previous, self._announced = self._announced, rules
        if rules == previous:
            return ""
        if previous is None:
            title = f": {rules.title}" if rules.title else ""
            return f"This notebook follows the rules of {rules.file}{title}. `{command}` shows them."
        names = [item.name for item in fields(rules) if item.name not in ("path", "file", "digest")]
        changes = [name for name in names if getattr(rules, name) != getattr(previous, name)]
        return f"{rules.file} has changed ({', '.join(changes) or 'its place'}). `{command}` shows the rules."
