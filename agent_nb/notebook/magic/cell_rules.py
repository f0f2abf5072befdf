"""The combined plugin rules for a cell. They can only tighten the user's settings."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_nb._base.constants import is_replay
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import Event
from agent_nb.core.options import Options
from agent_nb.core.run_settings import LIMITS, STRICTNESS, Limits, Mode, stricter
from agent_nb.engine.approval import ApprovalRules
from agent_nb.engine.handle import Handle
from agent_nb.notebook.front_end import cell_message
from agent_nb.notebook.magic.tool_groups import tool_groups
from agent_nb.notebook.notebook_tools.saved_cells import is_switched_off, notebook_file
from agent_nb.notebook.session import Session
from agent_nb.plugins import COMMANDS, TOOLS, Cell, Command, Files, Notebook, Rules, Run, reserve, rules_for
from agent_nb.providers import full_name


@dataclass(frozen=True, slots=True)
class CellRules:
    """The rules of all plugins for one cell, applied one after the other."""

    by_plugin: tuple[tuple[str, Rules], ...] = ()

    @classmethod
    def of(cls, session: Session, name: str) -> "CellRules":
        cell = Cell(name=name, tags=cell_tags(session.shell), notebook=notebook_of(session))
        if is_switched_off(cell.notebook.file):
            raise ConfigError(
                "Agents are switched off in this notebook. To use them, remove `agent_nb.off` from its metadata "
                "and save it."
            )
        return cls(tuple(rules_for(cell)))

    def options(self, options: Options) -> Options:
        for name, rules in self.by_plugin:
            before, options = options, rules.options(options)
            looser = {
                "--network": options.network and not before.network,
                "-t": not set(options.tools) <= set(before.tools),
                "--data": options.data not in (before.data, "schema"),
            }
            for option in ("approve", "bind", "budget", *LIMITS):
                looser[f"--{option}"] = getattr(options, option) != getattr(before, option)
            for flag in (flag for flag, is_looser in looser.items() if is_looser):
                raise ConfigError(
                    f"The plugin {name} changes {flag} in its cell rules, which is not allowed."
                )
        return options

    def not_allowed(self, models: Sequence[str]) -> Iterator[tuple[str, Rules]]:
        """The models that may not be called, each with the rules that forbid it. A replay calls none."""
        for _, rules in self.by_plugin:
            for name in models:
                if rules.models and not is_replay(name) and full_name(name) not in rules.models:
                    yield name, rules

    def given(self, given: Mapping[str, Any]) -> None:
        for _, rules in self.by_plugin:
            rules.given(given)

    @property
    def system(self) -> str:
        """The system text that plugins set in place of the built-in one; empty if none does."""
        return "\n\n".join(rules.system for _, rules in self.by_plugin if rules.system)

    def approve(self, values: Iterable[str], default: Mode) -> ApprovalRules:
        """The rules of all `--approve` values, tightened by the plugins."""
        rules = _read_rules(values, default)
        for _, plugin_rules in self.by_plugin:
            rules = rules.at_least(plugin_rules.approve) if plugin_rules.approve else rules
        return rules

    def data(self, data: str) -> str:
        for _, rules in self.by_plugin:
            data = stricter("data", data, rules.data)
        return data

    def limits(self, limits: Limits, models: Sequence[str]) -> Limits:
        for _, rules in self.by_plugin:
            limits = stricter("limits", limits, rules.limits(limits, models))
        return limits

    @property
    def without_tools(self) -> frozenset[str]:
        return frozenset(name for _, rules in self.by_plugin for name in rules.without_tools)

    def notes(self) -> Iterator[str]:
        return (note for _, rules in self.by_plugin for note in rules.notes())

    def follow(self, handle: Handle, warn: Callable[[str], None]) -> None:
        def react(event: Event) -> None:
            for _, rules in self.by_plugin:
                if reaction := rules.event(handle.id, event):
                    if reaction.note:
                        warn(reaction.note)
                    if reaction.stop:
                        handle.stop(reaction.stop)

        if self.by_plugin:
            handle.subscribe(react)

    def end(self, run: Run) -> list[str]:
        return [note for _, rules in self.by_plugin for note in rules.end(run)]


def _read_rules(values: Iterable[str], default: Mode) -> ApprovalRules:
    """The rules of all `--approve` values, such as `auto` and `run_python=ask`. The last one for a tool wins."""
    by_name: dict[str, Mode] = {}
    for value in values:
        name, equals, mode_name = value.rpartition("=")
        mode = next((mode for mode in STRICTNESS if mode == mode_name), None)
        if mode is None or (equals and not name):
            raise ConfigError(
                f"--approve takes ask, auto, deny, or a rule for one tool such as `--approve NAME=ask`, not {value!r}."
            )
        if name:
            by_name[name] = mode
        else:
            default = mode
    return ApprovalRules(default, by_name)


def plugin_commands(builtin_names: Iterable[str]) -> dict[str, Command]:
    """The plugins' commands, which receive a `Notebook`; plugins that reuse a built-in name are disabled."""
    reserve("command", builtin_names)
    return {name: _adapted(command) for name, command in COMMANDS.items() if command.run}


def _adapted(command: Command) -> Command:
    if isinstance(command.run, str):  # of a feature
        return command
    return replace(
        command,
        run=lambda session, arguments: command.call(notebook_of(session), arguments),
        completes=lambda session, before: command.candidates(notebook_of(session), before),
    )


def notebook_of(session: Session) -> Notebook:
    values = list(session.namespace.items())
    runs = {name: value for name, value in values if isinstance(value, Run)}
    return Notebook(
        folder=session.home,
        file=notebook_file(session),
        magic=session.defaults.magic_name,
        runs=runs,
        edits=tuple(_edits(session, runs)),
        families={
            family: [tool.name for tool in tools]
            for family, tools in {**tool_groups(session), **TOOLS}.items()
        },
        ended=tuple(session.ended),
    )


def cell_tags(shell: Any) -> Sequence[str]:
    """The tags of the cell being run. JupyterLab and Notebook 7 send them with the request, other hosts may not."""
    metadata = cell_message(shell).get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    return tags if isinstance(tags, list) else ()


def _edits(session: Session, runs: Mapping[str, Run]) -> Iterator[tuple[Files, Files]]:
    """Pairs of files before and after an edit, made with `with_files` or in the variable `files`."""
    for name, run in runs.items():
        if run.given_files is not None and not name.startswith("_"):
            yield run.given_files, run.files
    files, original = session.namespace.get(session.defaults.files_name), session.last_files
    if isinstance(files, Files) and original is not None and all(run.files != files for run in runs.values()):
        yield original, files
