"""The settings of a run as a table: each field of `RunSettings` is a setting, and its row lists what depends on it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args, get_type_hints

from agent_nb._base.constants import ACP, DEMO, REPLAY, STACKS
from agent_nb._base.wire import Json, WireError, from_wire
from agent_nb.core.errors import ConfigError
from agent_nb.core.feature import follow
from agent_nb.core.setting import Setting

MONEY = "usd"
MOST_VARIANTS = 8
BoundKind = Literal["value", "function", "filled"]
FUNCTION, FILLED = "function", "filled by the page"
"""The types of a bound function, and of a bound name that the notebook does not define."""
Mode = Literal["auto", "run", "ask", "deny"]
"""The modes of approval, the strictest last."""
STRICTNESS: tuple[Mode, ...] = get_args(Mode)
SERVED: Mapping[str, Literal["accepts", "ignores"]] = dict.fromkeys(
    ("anthropic_messages", "responses", "interactions", "generate_content", "chat"), "accepts"
)
"""The wire protocols of models on a server, for `Setting.accepted_by`."""
DERIVED = frozenset({"tools", "approve", "sampling", "window", "bind"})
"""Settings that are derived from the agent's tools, rules and model when a run is prepared."""
_OF_FEATURES: dict[str, Setting] = {}
_FACTS = {
    "line": str, "cell": str, "server": Json, "agent": Json, "started": str, "replayed": str, "has_data": bool
}  # fmt: skip
"""Other keys of `run.settings`: the cell's first line without the magic, its text if other than the prompt, the report
of the user's own server about its model, the outside agent, the start in UTC (that of the recording for a replay, unset
for the demo), the replayed cassette, and whether the prompt or the conversation describes the user's data."""
NOTEBOOK_TOOLS = frozenset({"list_cells", "read_cells", "change_cell", "insert_cell", "delete_cell"})
READING_TOOLS = NOTEBOOK_TOOLS | {"list_variables", "describe_variable"}
"""Tools for the notebook that run no code."""
CODE_TOOL = "run_python"
MAX_CODE = 50_000
"""Characters of one call of it."""
ANSWER_TOOL = "final_answer"
"""The tool with which the model ends a run whose answer has a type."""
DATA_TOOLS = READING_TOOLS | {CODE_TOOL}
"""Tools that give the model the user's data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits at which a run ends. Reaching one is an ordinary result, not an error."""

    steps: int = 20
    """Maximum turns of the model, including the first."""
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
        """Build limits with `value(name)` for each limit; `others` overrides the names."""
        values = {item.name: value(others.get(item.name, item.name)) for item in fields(cls)}
        return cls(**{name: limit for name, limit in values.items() if limit is not None})

    def at_most(self, other: "Limits") -> "Limits":
        values: dict[str, Any] = {}
        for name, value in asdict(self).items():
            limits = [limit for limit in (value, getattr(other, name)) if limit is not None]
            values[name] = min(limits, default=None)
        return Limits(**values)


LIMITS = tuple(item.name for item in fields(Limits) if item.name != MONEY)
"""The names of the limits except cost, whose options are named `--budget` and `run_budget`."""


def _switch(flag: str) -> Callable[[Any, Any], str]:
    """Describe as `--lean` or `no --lean`."""
    return lambda then, now: f"{'' if then else 'no '}`{flag}`"


def _choice(flag: str) -> Callable[[Any, Any], str]:
    """Describe as `--data schema` or `no --data schema`."""
    return lambda then, now: f"{'' if then else 'no '}`{flag} {then or now}`"


def _other(noun: str) -> Callable[[Any, Any], str]:
    """Describe as "another stack (`vue` then, `none` now)"."""
    return lambda then, now: f"another {noun} (`{then or 'none'}` then, `{now or 'none'}` now)"


def _stricter_mode(own: Any, other: str) -> str:
    """Return the stricter mode of approval. A function counts as `ask`, because it could be looser."""
    return max(own if isinstance(own, str) else "ask", other, key=STRICTNESS.index)


def bound_kind(type_name: str) -> BoundKind:
    """Return how a page uses a name, from its type in the run's settings."""
    return "function" if type_name == FUNCTION else "filled" if type_name == FILLED else "value"


def _names(bind: Any) -> str:
    return ", ".join(f"`{name}`" for name in bind or ()) or "none"


def _filled_words(names: Sequence[str]) -> str:
    return f"fills {', '.join(names)}" if names else "bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of an agent, and of each run with additions from its model and base run."""

    limits: Limits = Setting(  # noqa: RUF009 - a field
        sent="nowhere",
        matched="no",
        accepted_by={},
        stricter=Limits.at_most,
        recorded="always",
    ).with_default(Limits())
    tools: tuple[str, ...] = Setting(
        sent="tools",
        matched="no",  # fingerprints contain digests of the user's own tools
        accepted_by={},
        stricter=lambda own, other: tuple(name for name in own if name in other),
        recorded="always",
    ).with_default(())
    effort: str | None = Setting(
        sent="request",
        matched="batch",
        accepted_by={**SERVED, DEMO: "ignores", REPLAY: "ignores", ACP: "accepts"},
        stricter=None,
        recorded="always",
        is_compared=True,
    ).with_default(None)
    approve: str = Setting(
        sent="nowhere",
        matched="no",
        accepted_by={},
        stricter=_stricter_mode,
        recorded="always",
        dry_run="Approve",
    ).with_default("ask")
    sampling: Mapping[str, Any] | None = Setting(
        sent="request",
        matched="batch",
        accepted_by={},  # its parameters are arguments of `agent_nb.model`
        stricter=None,
        priced=True,  # a `service_tier`
    ).with_default(None)
    """`max_tokens` and other request parameters, such as `temperature`."""
    stack: str | None = Setting(
        sent="system",
        matched=_other("stack"),
        accepted_by={},
        stricter=None,
        dry_run="Stack",
    ).with_default(None)
    data: Literal["schema", ""] | None = Setting(
        sent="system",
        matched=_choice("--data"),
        accepted_by={},
        stricter=lambda own, other: other if other == "schema" else own,
        header=lambda data: "no values sent",
    ).with_default(None)
    """`schema` if only names, types and shapes of the user's data are sent, empty if all; None for the base run's."""
    bind: Mapping[str, str] | None = Setting(
        sent="system",
        matched=lambda then, now: f"other bound names ({_names(then)} then, {_names(now)} now)",
        accepted_by={},
        stricter=lambda own, other: {name: kind for name, kind in own.items() if name in other},
        header=lambda bind: _filled_words([name for name, kind in bind.items() if kind == FILLED]),
        dry_run="Bound",
    ).with_default(None)
    """The names of the notebook that the page may use, and their types."""
    window: int | None = Setting(
        sent="nowhere",
        matched="no",
        accepted_by={},
        stricter=None,
    ).with_default(None)
    """Maximum tokens of a request and its answer together; None if unknown."""
    lean: bool | None = Setting(
        sent="tools",
        matched=_switch("--lean"),
        accepted_by={},
        stricter=None,
    ).with_default(None)
    """Whether requests are as short as possible; None for the model's default."""
    instructions: str | None = Setting(
        sent="system",
        matched="system",
        accepted_by={},
        stricter=None,
        recorded="no",
    ).with_default(None)
    """The user's system text, which is appended to the default one."""
    network: bool = Setting(
        sent="system",
        matched="no",  # a replayed page never has network access
        accepted_by={},
        stricter=lambda own, other: own and other,
        recorded="no",
    ).with_default(False)
    compact: bool = Setting(
        sent="conversation",
        matched=_switch("--compact"),
        accepted_by={},
        stricter=None,
        recorded="no",
    ).with_default(False)
    looks: int = Setting(
        sent="tools",
        matched="no",
        accepted_by={},
        stricter=min,
        recorded="no",
    ).with_default(3)

    of_features: Mapping[str, Any] = field(default_factory=dict)
    """The settings of features, by name."""

    def value(self, name: str) -> Any:
        return self.of_features.get(name) if name in _OF_FEATURES else getattr(self, name)

    def recorded(self) -> Json:
        values: Json = {}
        for name, row in SETTINGS.items():
            value = self.value(name)
            if isinstance(value, Limits):
                values |= asdict(value)
            elif row.recorded == "always" or (row.recorded == "set" and value):
                values[name] = _plain(value)
        return values

    def matched(self) -> Json:
        """Return the settings that must match a cassette, apart from the system text."""
        return self._set(lambda row: callable(row.matched))

    def matched_in_batch(self) -> Json:
        """Return the settings that must also match a saved run of a batch."""
        return self._set(lambda row: row.matched == "batch")

    def priced(self) -> Json:
        return self._set(lambda row: row.priced)

    def requested(self) -> Json:
        return self._set(lambda row: row.sent == "request")

    def dry_run_lines(self) -> Iterator[str]:
        for name, row in SETTINGS.items():
            value = self.value(name)
            if row.dry_run and value != getattr(_DEFAULTS, name, None):
                yield f"{row.dry_run}: {value}"

    def _set(self, belongs: Callable[[Setting], bool]) -> Json:
        values = {name: self.value(name) for name, row in SETTINGS.items() if belongs(row)}
        return {name: _plain(value) for name, value in values.items() if value}


SETTINGS: dict[str, Setting] = {
    each.name: each.metadata["row"] for each in fields(RunSettings) if each.metadata
}
TYPED = frozenset(SETTINGS)
"""The settings that providers and the engine read, as attributes. All others are those of features."""
for _table in (SETTINGS, _OF_FEATURES):
    follow(_table, "setting")
_DEFAULTS = RunSettings()


def check_stack(stack: str) -> str:
    """Return the stack; raises a ConfigError if it does not exist."""
    if stack not in STACKS:
        raise ConfigError(f"There is no stack {stack!r}. Use {', '.join(STACKS[:-1])} or {STACKS[-1]}.")
    return stack


def read_data(data: Any) -> Literal["schema", ""] | None:
    """Return the setting for `all` or `schema`; None if neither is chosen."""
    if data not in (None, "all", "schema"):
        raise ConfigError(f"`data` must be 'all' or 'schema', not {data!r}.")
    return "" if data == "all" else data


def _plain(value: Any) -> Any:
    return {**value} if isinstance(value, Mapping) else [*value] if isinstance(value, tuple) else value


def stricter(name: str, own: Any, other: Any) -> Any:
    """Return the user's value of a setting, or the value of a base run, a plugin or `lab.toml` if it is stricter."""
    choose = SETTINGS[name].stricter if name in SETTINGS else None
    return own if choose is None or other is None else choose(own, other)


def other_settings(then: Json, now: Json) -> Iterator[str]:
    """Describe the differences between the settings of two fingerprints."""
    for name, row in SETTINGS.items():
        if callable(row.matched) and then.get(name) != now.get(name):
            yield row.matched(then.get(name), now.get(name))


def had_data(recorded: Json) -> bool:
    """Whether the model was given the user's data, or tools to read it."""
    return bool(recorded.get("has_data")) or not DATA_TOOLS.isdisjoint(recorded.get("tools") or ())


def header_words(recorded: Json) -> tuple[str, ...]:
    rows = SETTINGS.items()
    return tuple(row.header(recorded[name]) for name, row in rows if row.header and recorded.get(name))


def check_recorded(recorded: Json) -> None:
    """Raise `WireError` if settings in a file have values of the wrong type."""
    of_features = {name: row.kind for name, row in _OF_FEATURES.items()}
    kinds = {**_FACTS, **get_type_hints(Limits), **get_type_hints(RunSettings), **of_features}
    for name in kinds.keys() & recorded.keys():
        try:
            from_wire(kinds[name], recorded[name])
        except WireError as error:
            raise error.under(name) from None


def count_variants(models: int, variants: int) -> int:
    if not isinstance(variants, int):
        raise ConfigError(f"`variants` must be a whole number, not {variants!r}.")
    total = max(1, models) * variants
    if not 1 <= total <= MOST_VARIANTS:
        raise ConfigError(f"There can be 1 to {MOST_VARIANTS} variants in all, not {total}.")
    return total
