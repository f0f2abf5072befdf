"""Writes docs/reference.md, and the table of docs/how-to/agents.md, from the code: `make reference`."""

import argparse
import ast
import dataclasses
import inspect
import itertools
from functools import cached_property
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

import agent_nb
from agent_nb import Files, Prepared, Run
from agent_nb.acp.known import KNOWN_AGENTS
from agent_nb.agent import Agent
from agent_nb.notebook.magic.commands import COMMANDS
from agent_nb.notebook.magic.magics import AgentMagics
from agent_nb.notebook.parsing import parser
from agent_nb.pages.find_element import Element
from agent_nb.plugins import COMMANDS as PLUGIN_COMMANDS
from agent_nb.plugins import plugins
from agent_nb.providers.vendors import VENDORS

TARGET = Path(__file__).parents[1] / "reference.md"
AGENTS = TARGET.with_name("how-to") / "agents.md"
AGENTS_HEADS = ("model", "agent", "install", "without asking")
HEAD = """# Reference

Made from the code by `make reference`. Do not edit.

"""


def reference() -> str:
    shell = InteractiveShell()
    magics = AgentMagics(shell)
    sections = [
        ("`%%agent` options", _options()),
        ("`%agent` commands", _commands()),
        ("`%config AgentMagics` settings", _settings(magics)),
        ("Models", _models()),
        ("Python names", _names()),
        ("`Agent`", _members(Agent)),
        ("`Prepared`", _members(Prepared, fields=False)),
        ("`Run`", _members(Run)),
        ("`Element`", _members(Element)),
        ("`Files`", _members(Files)),
    ]
    return HEAD + "\n\n".join(f"## {title}\n\n{body}" for title, body in sections) + "\n"


def _options() -> str:
    rows = [(_spelling(action), action.help or "") for action in parser()._actions]
    return _table(("option", "meaning"), rows)


def _spelling(action: argparse.Action) -> str:
    value = ""
    if action.nargs != 0:
        choices = "|".join(map(str, action.choices or ()))
        value = choices or str(action.metavar or action.dest.upper())
    names = ", ".join(action.option_strings)
    return f"`{' '.join(filter(None, (names, value)))}`"


def _commands() -> str:
    plugins()
    commands = (*COMMANDS.values(), *PLUGIN_COMMANDS.values())
    rows = [(f"`%agent {command.usage}`", command.help) for command in commands]
    return _table(("command", "meaning"), rows)


def _settings(magics: AgentMagics) -> str:
    traits = magics.class_traits(config=True)  # with those of features
    rows = [
        (f"`{name}`", f"`{getattr(magics, name)!r}`", trait.help) for name, trait in sorted(traits.items())
    ]
    return _table(("setting", "default", "meaning"), rows)


def _models() -> str:
    rows = [
        (f"`{vendor.name}:`", f"`{vendor.recommended}`" if vendor.recommended else "", vendor.note)
        for vendor in VENDORS.values()
    ]
    return _table(("vendor", "default model", "note"), rows)


def agents_page() -> str:
    """The page about outside agents with the table of the known ones."""
    before, table, after = AGENTS.read_text(encoding="utf-8").partition(f"| {' | '.join(AGENTS_HEADS)} |\n")
    assert table, f"{AGENTS} has no table with the heads {AGENTS_HEADS}"
    rows = [
        (
            f"`acp:{row.name}`",
            row.title,
            f"`{row.install}`{f' ({row.needs})' if row.needs else ''}",
            row.unasked,
        )
        for row in KNOWN_AGENTS
    ]
    _, gap, remainder = after.partition("\n\n")
    return before + _table(AGENTS_HEADS, rows) + gap + remainder


def _names() -> str:
    public = [name for name in agent_nb.__all__ if not name.endswith("_ipython_extension")]
    rows = [(f"`{name}`", _first_line(getattr(agent_nb, name))) for name in public]
    return _table(("name", "meaning"), rows)


def _members(kind: type, *, fields: bool = True) -> str:
    classes = [each for each in reversed(kind.__mro__) if each.__module__.startswith("agent_nb")]
    rows = _fields(classes[0]) if fields else []
    members = {name: member for each in classes for name, member in vars(each).items()}
    for name, member in sorted(members.items()):
        is_member = inspect.isfunction(member) or isinstance(member, property | cached_property)
        if is_member and not name.startswith("_") and (meaning := _first_line(member)):
            call = _signature(member) if inspect.isfunction(member) else ""
            rows.append((f"`.{name}{call}`", meaning))
    return _table(("member", "meaning"), rows)


def _fields(kind: type) -> list[tuple[str, ...]]:
    """The public fields of a dataclass with the text below each in the source, or else their type."""
    if not dataclasses.is_dataclass(kind):
        return []
    (definition,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)
    rows: list[tuple[str, ...]] = []
    for node, below in itertools.zip_longest(definition.body, definition.body[1:]):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            text = below.value if isinstance(below, ast.Expr) else None
            meaning = text.value if isinstance(text, ast.Constant) else f"`{ast.unparse(node.annotation)}`"
            rows.append((f"`.{node.target.id}`", str(meaning)))
    return [row for row in rows if not row[0].startswith("`._")]


def _signature(member: Any) -> str:
    parameters = inspect.signature(member).parameters.values()
    names = [str(each.replace(annotation=each.empty)) for each in parameters if each.name != "self"]
    return f"({', '.join(names)})"


def _first_line(value: Any) -> str:
    return (inspect.getdoc(value) or "").partition("\n")[0]


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    cells = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in [heads, *rows]]
    return "\n".join(f"| {row} |" for row in [cells[0], " | ".join("---" for _ in heads), *cells[1:]])


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    AGENTS.write_text(agents_page(), encoding="utf-8")
