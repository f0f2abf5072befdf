"""The plugin interface and the discovery of plugins.

A plugin is an instance of a subclass of `Plugin`. An installed package names it in the entry point group `agent_nb`
or in `agent_nb.rules` if it has rules for cells; a notebook passes it to `agent_nb.register`. Plugins are loaded before
the first cell or command, in the order of `%agent plugins`: by package, then those of the notebook.

    class Weather(Plugin):
        def tools(self):
            return {"weather": [forecast]}
"""

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agent_nb._base.command import Command
from agent_nb._base.constants import ACP, DEMO, REPLAY
from agent_nb._base.installed import entry_points, load_entry_point
from agent_nb.core import events
from agent_nb.core.errors import ConfigError, FileError, ToolError, check_type
from agent_nb.core.events import Event, Reason
from agent_nb.core.feature import (
    RECORDS_GIVEN,
    ClassRule,
    Default,
    Feature,
    Option,
    Setting,
    above_zero,
    add_feature,
    count,
    features,
    flag,
    remove_feature,
)
from agent_nb.core.messages import Image, Message, Part, Text, ToolCall, ToolResult
from agent_nb.core.options import Options
from agent_nb.core.run_settings import Limits, Mode
from agent_nb.engine.clients import ToolClient, ToolClients
from agent_nb.engine.description import Description
from agent_nb.engine.draft import CellDraft, CellEnd, CellPrompt, CellStart, Draft, Host
from agent_nb.engine.feature_code import CellCode, Done, FeatureCode, Next, PartInputs, RunEnd, RunPart, Say
from agent_nb.engine.prepared import PreparedRun
from agent_nb.files import Files
from agent_nb.providers.base import Request, Turn
from agent_nb.providers.registry import MAKERS, VENDOR_SOURCES
from agent_nb.providers.vendors import VENDORS, Vendor
from agent_nb.render.shown import Addition
from agent_nb.run import Run
from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput
from agent_nb.tools.toolbox import FAMILIES

__all__ = [
    "RECORDS_GIVEN",
    "Addition",
    "Cell",
    "CellCode",
    "CellDraft",
    "CellEnd",
    "CellPrompt",
    "CellStart",
    "ClassRule",
    "Command",
    "ConfigError",
    "Default",
    "Description",
    "Done",
    "Draft",
    "Feature",
    "FeatureCode",
    "FileError",
    "Files",
    "Host",
    "Image",
    "Message",
    "Next",
    "Notebook",
    "Option",
    "Part",
    "PartInputs",
    "Plugin",
    "PreparedRun",
    "Reaction",
    "Request",
    "Rules",
    "Run",
    "RunEnd",
    "RunPart",
    "Say",
    "Setting",
    "Text",
    "Tool",
    "ToolCall",
    "ToolClient",
    "ToolClients",
    "ToolContext",
    "ToolError",
    "ToolOutput",
    "ToolResult",
    "Toolbox",
    "Turn",
    "Vendor",
    "above_zero",
    "check_type",
    "count",
    "events",
    "flag",
    "register",
]

GROUP, RULES_GROUP = "agent_nb", "agent_nb.rules"
TOOLS: dict[str, Sequence[Tool]] = {}
COMMANDS: dict[str, Command] = {}
_TABLES: dict[str, dict[str, Any]] = {
    "vendor": VENDORS,
    "tool": TOOLS,
    "command": COMMANDS,
    "feature": {feature.name: feature for feature in features()},
}
_PACKAGE, _HERE = "agent_nb", "this notebook"
_owners: dict[tuple[str, str], str] = {}
_has_searched = False
_searching = threading.RLock()
"""Held by the thread that loads plugins, so that runs wait for them: they may have rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """A plugin's read-only view of the notebook."""

    folder: Path
    """The working directory at `%load_ext`."""
    file: Path | None = None
    magic: str = "agent"
    runs: Mapping[str, Run]
    edits: Sequence[tuple[Files, Files]] = ()
    """Files edited by the user: their state at the end of the run, and now."""
    families: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Tool families and their tools, which `-t` accepts besides variables and servers."""
    ended: Sequence[tuple[str, float]] = ()
    """Sources and end times of the last executed cells, the newest last."""

    def command(self, text: str) -> str:
        """Return a line such as `%agent lab`, with the magic's configured name."""
        return f"%{self.magic} {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    name: str
    tags: Sequence[str] = ()
    notebook: Notebook


class Reaction(NamedTuple):
    """A plugin's reaction to an event: a line for the user, the end of the run, or both."""

    note: str = ""
    stop: Reason | None = None


class Rules:
    """The rules of a plugin for one cell. They can only be stricter than the user's settings."""

    source: str = ""
    """The origin of the rules in messages, such as `lab.toml`."""
    approve: Mode | None = None
    """The minimum strictness of approval."""
    data: Literal["schema"] | None = None
    """`schema` if no values of the notebook may be sent."""
    models: Sequence[str] = ()
    """The only models that cells may use, as `vendor:model`; empty for all."""
    default_model: str | None = None
    """The model of cells for which the user sets none. The user is asked about it once; never an outside agent."""
    without_tools: Collection[str] = ()
    """The names of built-in tools that are not offered."""
    system: str | None = None
    """The system text to send instead of the built-in one; the user's own text is kept."""

    def options(self, options: Options) -> Options:
        """Return the options to use instead of the cell's own; raises `ConfigError` to reject them."""
        return options

    def given(self, given: Mapping[str, Any]) -> None:
        """Called with what the options and defaults give to features, by name; raises `ConfigError` to reject it."""

    def limits(self, limits: Limits, models: Sequence[str]) -> Limits:
        """Return the limits of a run on these models. A replay has none. Raises `ConfigError` to reject the run."""
        return limits

    def notes(self) -> Iterable[str]:
        """Return lines to show before the run."""
        return ()

    def event(self, run_id: str, event: Event) -> Reaction | None:
        """Called with each event of the run, on its event loop, so it must be fast."""
        return None

    def end(self, run: Run) -> Iterable[str]:
        """Called in a thread when the run has ended and its variables are set; returns lines for the user."""
        return ()


class Plugin:
    """Base class of plugins. All methods are optional; each is called once, when the plugin is loaded."""

    def vendors(self) -> Iterable[Vendor]:
        """Return vendors, the part before the colon in `vendor:model`."""
        return ()

    def tools(self) -> Mapping[str, Sequence[Tool]]:
        """Return tools by family: `-t FAMILY` or `-t TOOL` offers them to a model."""
        return {}

    def commands(self) -> Iterable[Command]:
        """Return commands such as `%agent lab`. They are called with a `Notebook`."""
        return ()

    def features(self) -> Iterable[Feature[Any]]:
        """Return features, as those of `agent_nb/features/`."""
        return ()

    def rules(self, cell: Cell) -> Rules | None:
        """Return the rules for this cell. Called before each cell; raises `ConfigError` to reject it."""
        return None

    @property
    def has_rules(self) -> bool:
        return type(self).rules is not Plugin.rules


@dataclass(slots=True)
class LoadedPlugin:
    name: str
    origin: str
    """The package that it comes from, or `this notebook`."""
    has_rules: bool
    plugin: Plugin | None = None
    problem: str = ""
    is_off: bool = False
    """Whether the user disabled it because it could not be loaded."""
    adds: tuple[str, ...] = ()


_loaded: list[LoadedPlugin] = []


def plugins() -> list[LoadedPlugin]:
    global _has_searched  # noqa: PLW0603 - a process has one set of plugins
    with _searching:
        if not _has_searched:
            _has_searched = True
            for kind, table in _TABLES.items():
                reserve(kind, table)
            reserve("tool", FAMILIES)
            _loaded[:0] = [_load(point) for point in entry_points(GROUP, RULES_GROUP)]
    return _loaded


def register(plugin: Plugin, name: str = "") -> None:
    """Add a plugin for this kernel, replacing one registered under the same name.

    The default name is that of the class.
    """
    name = name or type(plugin).__name__
    for previous in [entry for entry in plugins() if entry.name == name and entry.origin == _HERE]:
        _remove(previous)
        _loaded.remove(previous)
    loaded = LoadedPlugin(name, _HERE, has_rules=getattr(plugin, "has_rules", False))
    _add(loaded, plugin)
    _loaded.append(loaded)


def reserve(kind: str, names: Iterable[str]) -> None:
    """Reserve names for the package itself; plugins that already use them are removed."""
    for name in names:
        owner = _owners.get((kind, name), _PACKAGE)
        for loaded in [entry for entry in _loaded if entry.name == owner != _PACKAGE]:
            _remove(loaded)
            loaded.problem = _clash(kind, name, _PACKAGE, owner)
        _owners[kind, name] = _PACKAGE


def switch_off(name: str) -> None:
    """Let cells run without the rules of a plugin that cannot be loaded."""
    matches = [entry for entry in plugins() if entry.name == name]
    if not matches:
        raise ConfigError(f"There is no plugin {name!r}.")
    if not matches[0].problem:
        raise ConfigError(f"`{name}` is loaded. Only a plugin that cannot be loaded is switched off.")
    matches[0].is_off = True


def rules_for(cell: Cell) -> list[tuple[str, Rules]]:
    """Return the rules for a cell by plugin; raises `ConfigError` if a plugin rejects it or its rules are unknown."""
    applicable = []
    for entry in plugins():
        if entry.problem and entry.has_rules and not entry.is_off:
            off = cell.notebook.command(f"plugins off {entry.name}")
            raise ConfigError(
                f"The plugin {entry.name} of {entry.origin} has rules for cells and cannot be loaded: "
                f"{entry.problem} `{off}` runs cells without it."
            )
        if entry.plugin and entry.has_rules and (rules := entry.plugin.rules(cell)):
            applicable.append((entry.name, rules))
    return applicable


def _load(point: EntryPoint) -> LoadedPlugin:
    entry = LoadedPlugin(
        point.name, point.dist.name if point.dist else "", has_rules=point.group == RULES_GROUP
    )
    try:
        _add(entry, load_entry_point(point))
    except (ConfigError, ImportError) as error:
        entry.problem = str(error)
    except Exception as error:  # third-party code; its failure must not break anything else
        entry.problem = f"{type(error).__name__}: {error}."
    return entry


def _add(entry: LoadedPlugin, plugin: object) -> None:
    """Register everything that a plugin adds, or nothing if one of its names is taken."""
    if not isinstance(plugin, Plugin):
        raise ConfigError(f"It is of type {type(plugin).__name__}, not a `Plugin`.")
    if plugin.has_rules and not entry.has_rules:
        raise ConfigError(f"It has rules for cells, so its entry point belongs in the group `{RULES_GROUP}`.")
    added = [*plugin.features()]
    commands = [*plugin.commands(), *(command for feature in added for command in feature.commands)]
    additions: dict[str, Mapping[str, Any]] = {
        "vendor": {vendor.name: vendor for vendor in plugin.vendors()},
        "tool": plugin.tools(),
        "command": {command.name: command for command in commands},
        "feature": {feature.name: feature for feature in added},
    }
    names = [(kind, name) for kind, rows in additions.items() for name in rows]
    for kind, name in names:
        if owner := _owners.get((kind, name)):
            raise ConfigError(_clash(kind, name, owner, entry.name))
    for feature in additions["feature"].values():
        if feature.value and feature.name in {*dir(Run), *Run.__dataclass_fields__}:
            raise ConfigError(
                f"Runs have an attribute `{feature.name}`, so no feature with a value can be called so."
            )
    for kind, rows in additions.items():
        _TABLES[kind].update(rows)
    for feature in additions["feature"].values():
        add_feature(feature)
    _owners.update(dict.fromkeys(names, entry.name))
    entry.plugin = plugin
    entry.adds = (*(f"{kind} {name}" for kind, name in names), *(("rules",) if plugin.has_rules else ()))


def _clash(kind: str, name: str, first: str, second: str) -> str:
    return f"Both {first} and {second} add the {kind} `{name}`."


def _remove(entry: LoadedPlugin) -> None:
    for kind, name in [key for key, owner in _owners.items() if owner == entry.name]:
        if kind == "feature":
            remove_feature(_TABLES[kind][name])
        del _owners[kind, name], _TABLES[kind][name]
    entry.plugin, entry.adds = None, ()


VENDOR_SOURCES.append(plugins)
MAKERS.update(
    {
        DEMO: "agent_nb.demo:DemoProvider",
        REPLAY: "agent_nb.cassette.player:replay",
        ACP: "agent_nb.acp.provider:AgentProvider",
    }
)
