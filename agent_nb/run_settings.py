"""The settings of a run, as a table: each field of `RunSettings` is a setting, and its row says what depends on it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, TypeVar, get_type_hints

from agent_nb._base.wire import Json, WireError, from_wire
from agent_nb.errors import ConfigError

MONEY = "usd"
BoundKind = Literal["value", "function", "filled"]
FUNCTION, FILLED = "function", "filled by the page"
"""The types of a bound function, and of a bound name that the notebook does not define."""
Value = TypeVar("Value")


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
        given: dict[str, Any] = {}
        for name, value in asdict(self).items():
            both = [each for each in (value, getattr(other, name)) if each is not None]
            given[name] = min(both, default=None)
        return Limits(**given)


LIMITS = tuple(each.name for each in fields(Limits) if each.name != MONEY)
"""The names of the limits apart from money, which has its own words: `--budget`, `run_budget`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A row of the table. No column has a default: a new setting needs an answer in each."""

    sent: Literal["request", "system", "tools", "conversation", "nowhere"]
    """What of a request depends on it. If a cell asks for a `request` setting, `agent_nb.model` gets it as an argument,
    and the vendor as a parameter of that name, unless the protocol has another form for it, as for `effort`."""
    matched: Callable[[Any, Any], str] | Literal["system", "batch", "no"]
    """How a cassette with another value differs, in words, made from both values. `system`: it is compared as part of
    the system text. `batch`: a cassette may differ, a saved run of `agent.map` may not. `no`: neither must match."""
    priced: bool
    """Whether the price of a token depends on it. `price_of` gets the values of these."""
    recorded: Literal["always", "set", "no"]
    """Whether `run.settings` has it, always or if it is set. The manifest, `run.request` and the page show these."""
    header: Callable[[Any], str] | None
    """What the header of a run says about it."""
    listed_in: tuple[Literal["statement", "comparison"], ...]
    """Whether `run.statement()` names it, and `compare` has a column for it."""
    dry_run: str | None
    """Its label in `--dry-run`, which shows what differs from the default."""

    def with_default(self, default: Value) -> Value:
        return field(default=default, metadata={"row": self})


def _switch(flag: str) -> Callable[[Any, Any], str]:
    """`--lean`, or `no --lean`"""
    return lambda then, now: f"{'' if then else 'no '}`{flag}`"


def _choice(flag: str) -> Callable[[Any, Any], str]:
    """`--data schema`, or `no --data schema`"""
    return lambda then, now: f"{'' if then else 'no '}`{flag} {then or now}`"


def _other(noun: str) -> Callable[[Any, Any], str]:
    """another stack (`vue` then, `none` now)"""
    return lambda then, now: f"another {noun} (`{then or 'none'}` then, `{now or 'none'}` now)"


def bound_kind(type_name: str) -> BoundKind:
    """How a page uses a name, by its type in the settings of the run."""
    return "function" if type_name == FUNCTION else "filled" if type_name == FILLED else "value"


def _names(bind: Any) -> str:
    return ", ".join(f"`{name}`" for name in bind or ()) or "none"


def _filled_words(names: Sequence[str]) -> str:
    return f"fills {', '.join(names)}" if names else "bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What a run is set to. An agent has one, and each of its runs one with what its model and its base add."""

    limits: Limits = Setting(  # noqa: RUF009 - a field
        sent="nowhere",
        matched="no",
        priced=False,
        recorded="always",
        header=None,
        listed_in=(),
        dry_run=None,
    ).with_default(Limits())
    tools: tuple[str, ...] = Setting(
        sent="tools",
        matched="no",  # fingerprints have digests of the user's own tools
        priced=False,
        recorded="always",
        header=None,
        listed_in=(),
        dry_run=None,  # it has a line for the tools
    ).with_default(())
    effort: str | None = Setting(
        sent="request",
        matched="batch",
        priced=False,
        recorded="always",
        header=None,
        listed_in=("statement", "comparison"),
        dry_run=None,
    ).with_default(None)
    approve: str = Setting(
        sent="nowhere",
        matched="no",
        priced=False,
        recorded="always",
        header=None,
        listed_in=(),
        dry_run="Approve",
    ).with_default("ask")
    sampling: Mapping[str, Any] | None = Setting(
        sent="request",
        matched="batch",
        priced=True,  # a `service_tier`
        recorded="set",
        header=None,
        listed_in=("statement",),
        dry_run=None,
    ).with_default(None)
    """`max_tokens` and further parameters that the provider sends, such as `temperature`."""
    stack: str | None = Setting(
        sent="system",
        matched=_other("stack"),
        priced=False,
        recorded="set",
        header=None,
        listed_in=("statement",),
        dry_run="Stack",
    ).with_default(None)
    data: str = Setting(
        sent="system",
        matched=_choice("--data"),
        priced=False,
        recorded="set",
        header=lambda data: "no values sent",
        listed_in=("statement",),
        dry_run=None,
    ).with_default("")
    """`schema` if names, types and shapes of the user's data are sent, and no values."""
    bind: Mapping[str, str] | None = Setting(
        sent="system",
        matched=lambda then, now: f"other bound names ({_names(then)} then, {_names(now)} now)",
        priced=False,
        recorded="set",
        header=lambda bind: _filled_words([name for name, kind in bind.items() if kind == FILLED]),
        listed_in=(),
        dry_run="Bound",
    ).with_default(None)
    """The names of the notebook that the page may use, and their types."""
    window: int | None = Setting(
        sent="nowhere",
        matched="no",
        priced=False,
        recorded="set",
        header=None,
        listed_in=(),
        dry_run=None,
    ).with_default(None)
    """Tokens that a request and its answer may have together; None if that is not known."""
    lean: bool | None = Setting(
        sent="tools",
        matched=_switch("--lean"),
        priced=False,
        recorded="set",
        header=None,
        listed_in=(),
        dry_run=None,
    ).with_default(None)
    """Whether requests are as short as possible; None for what the model prefers."""
    instructions: str | None = Setting(
        sent="system",
        matched="system",
        priced=False,
        recorded="no",
        header=None,
        listed_in=(),
        dry_run=None,
    ).with_default(None)
    """The user's own system text, which is added to the default one."""
    network: bool = Setting(
        sent="system",
        matched="no",  # a replayed page is closed, whatever its recording was
        priced=False,
        recorded="no",
        header=None,
        listed_in=(),
        dry_run=None,
    ).with_default(False)
    compact: bool = Setting(
        sent="conversation",
        matched=_switch("--compact"),
        priced=False,
        recorded="no",
        header=None,
        listed_in=(),
        dry_run=None,
    ).with_default(False)
    looks: int = Setting(
        sent="tools",
        matched="no",
        priced=False,
        recorded="no",
        header=None,
        listed_in=(),
        dry_run=None,
    ).with_default(3)

    def recorded(self) -> Json:
        values: Json = {}
        for name, row in SETTINGS.items():
            value = getattr(self, name)
            if isinstance(value, Limits):
                values |= asdict(value)
            elif row.recorded == "always" or (row.recorded == "set" and value):
                values[name] = _plain(value)
        return values

    def matched(self) -> Json:
        """What must be the same for a cassette to play, apart from the system text."""
        return self._set(lambda row: callable(row.matched))

    def matched_in_batch(self) -> Json:
        """What must be the same for a saved run of a batch besides."""
        return self._set(lambda row: row.matched == "batch")

    def priced(self) -> Json:
        return self._set(lambda row: row.priced)

    def chosen(self) -> dict[str, Any]:
        """The settings of an agent that differ from the default, as `agent.with_settings` takes them."""
        values = {each: getattr(self, each.name) for each in fields(self) if each.name not in DERIVED}
        return {each.name: value for each, value in values.items() if value != each.default}

    def requested(self) -> Json:
        return self._set(lambda row: row.sent == "request")

    def dry_run_lines(self) -> Iterator[str]:
        for each in fields(self):
            value, label = getattr(self, each.name), SETTINGS[each.name].dry_run
            if label and value != each.default:
                yield f"{label}: {value}"

    def _set(self, belongs: Callable[[Setting], bool]) -> Json:
        values = {name: getattr(self, name) for name, row in SETTINGS.items() if belongs(row)}
        return {name: _plain(value) for name, value in values.items() if value}


SETTINGS: Mapping[str, Setting] = {each.name: each.metadata["row"] for each in fields(RunSettings)}
DERIVED = frozenset({"tools", "approve", "sampling", "window", "bind"})
"""The settings that are read from the agent's tools and rules and from its model when a run is prepared."""
_FACTS = {"line": str, "server": Json, "agent": Json, "started": str, "replayed": str}
"""What else `run.settings` can have: the first line of the cell without the magic, what a server of the user's own says
about its model, which outside agent it was, when the run began in UTC (a replay has the date of its recording, and the
demo none), and the cassette that was played."""


def _plain(value: Any) -> Any:
    return {**value} if isinstance(value, Mapping) else [*value] if isinstance(value, tuple) else value


def other_settings(then: Json, now: Json) -> Iterator[str]:
    """How the settings in two fingerprints differ, in words."""
    for name, row in SETTINGS.items():
        if callable(row.matched) and then.get(name) != now.get(name):
            yield row.matched(then.get(name), now.get(name))


def header_words(recorded: Json) -> tuple[str, ...]:
    rows = SETTINGS.items()
    return tuple(row.header(recorded[name]) for name, row in rows if row.header and recorded.get(name))


def check_recorded(recorded: Json) -> None:
    """Raises `WireError` if the settings in a file have values of other types."""
    kinds = {**_FACTS, **get_type_hints(Limits), **get_type_hints(RunSettings)}
    for name in kinds.keys() & recorded.keys():
        try:
            from_wire(kinds[name], recorded[name])
        except WireError as error:
            raise error.under(name) from None
