"""What a feature declares: its option, default, keyword, setting and rule, and where its code is.

Built-in features and those of plugins are equal: `agent_nb/features/` lists the built-in ones. Help and completion
import their declarations, so they stay light; the code is imported when a run is prepared.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from agent_nb._base.command import Command
from agent_nb.core.option import Number, Option, above_zero, count, flag
from agent_nb.core.setting import Setting

__all__ = [
    "RECORDS_GIVEN",
    "ClassRule",
    "Command",
    "Default",
    "Feature",
    "Number",
    "Option",
    "Setting",
    "above_zero",
    "add_feature",
    "count",
    "features",
    "flag",
    "follow",
    "imported",
    "insert",
    "is_built_in",
    "plugins_code",
    "remove_feature",
    "value_types",
]

Given_co = TypeVar("Given_co", covariant=True)
"""What a run gets from the option or the keyword, such as an `AnswerType`."""
_BUILT_IN = "agent_nb.features"
RECORDS_GIVEN = "agent_nb.engine.feature_code:RecordsGiven"
"""The `code` of a feature that only records what was given for it as its setting."""


class Default(NamedTuple):
    """A default of cells, `%config AgentMagics.NAME`. Its choices are those of the option."""

    value: Any
    help: str


class ClassRule(NamedTuple):
    """A rule for classes, `NAME = VALUE` in `lab.toml`."""

    expected: str
    """What the value must be, such as `a whole number of at least 1`."""
    accepts: Callable[[Any], bool]
    refuses: Callable[[Any, Any], str]
    """Called with the rule and the cell's value; returns why the cell may not run, or an empty text."""
    default: Any = None
    """The rule of a `lab.toml` that does not name it; None for no rule."""


class Feature(Generic[Given_co]):
    """A declaration, which is also the key of what was given for it: `options.value`, `draft.get`, `prepared.get`."""

    def __init__(  # noqa: PLR0913 - everything about a feature
        self,
        name: str,
        *,
        option: Option | None = None,
        default: Default | None = None,
        keyword: bool = False,
        setting: Setting | None = None,
        rule: ClassRule | None = None,
        inherits: bool = True,
        sends_values: bool = False,
        refused_by: Mapping[str, str] = {},
        texts: tuple[str, ...] = (),
        commands: tuple[Command, ...] = (),
        value: str = "",
        value_name: str = "",
        code: str = "",
        cell: str = "",
        tools: str = "",
    ) -> None:
        self.name = name
        self.option, self.default, self.setting, self.rule = option, default, setting, rule
        self.keyword = keyword
        """Whether `Agent` has a keyword of this name."""
        self.inherits = inherits
        """Whether a cell takes the base run's value of the setting if it is stricter."""
        self.sends_values = sends_values
        """Whether its option sends values, so that `--data schema` refuses it."""
        self.refused_by = refused_by
        """Why a protocol refuses it; the sentence begins with the name of the model or agent."""
        self.texts = texts
        """Prompts that it adds to a conversation, which `--data schema` may send."""
        self.commands = commands
        self.value, self.value_name = value, value_name or name
        """The type of `run.NAME`, such as `int | None`, for type checkers; empty if runs have no value of this name."""
        self.code, self.cell, self.tools = code, cell, tools
        """Where its `FeatureCode`, its `CellCode` and the tools of `-t NAME` are, as `module:name`; empty if there are
        none. Scripts import no `CellCode`."""


_features: list[Feature[Any]] = []
TABLES: list[Callable[[Feature[Any], bool], None]] = []
"""Called with a plugin's feature that is added, or removed: tables that were built from `features()` follow it."""


def features() -> list[Feature[Any]]:
    """All features, in the order in which their hooks run: the built-in ones, then those of plugins."""
    if not _features:
        _features[:] = importlib.import_module(_BUILT_IN).BUILT_IN
    return _features


def imported(place: str) -> Any:
    """What is at `module:name`. It is here because the engine and `render/` both call the code of features."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def is_built_in(name: str) -> bool:
    return any(feature.name == name for feature in importlib.import_module(_BUILT_IN).BUILT_IN)


def command_of(name: str) -> Command:
    """The command of a feature. Its caller knows the name alone."""
    return next(each for feature in features() for each in feature.commands if each.name == name)


def value_types() -> dict[str, str]:
    """The types of the values that runs have of features, by their names."""
    return {feature.value_name: feature.value for feature in features() if feature.value}


def plugins_code() -> tuple[str, ...]:
    """The names of the plugins' features that take part in runs."""
    return tuple(feature.name for feature in features() if feature.code and not is_built_in(feature.name))


def add_feature(feature: Feature[Any]) -> None:
    features().append(feature)
    for change in TABLES:
        change(feature, True)


def remove_feature(feature: Feature[Any]) -> None:
    features().remove(feature)
    for change in TABLES:
        change(feature, False)


def follow(table: dict[str, Any], column: str) -> None:
    """Let a table have this column of each feature that has one."""

    def change(feature: Feature[Any], is_there: bool) -> None:
        if is_there and (row := getattr(feature, column)):
            insert(table, feature.name, row)
        else:
            table.pop(feature.name, None)

    for feature in features():
        change(feature, True)
    TABLES.append(change)


def insert(table: dict[str, Any], name: str, row: Any) -> None:
    """Add a row, after the one that its column `after` names."""
    rows, names = [*table.items()], [*table]
    after = getattr(row, "after", "")
    rows.insert(names.index(after) + 1 if after in names else len(rows), (name, row))
    table.clear()
    table.update(rows)
