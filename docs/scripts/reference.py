"""Writes docs/reference.md from the code: `make reference`."""

import argparse
import inspect
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

import agent_nb
from agent_nb import Files, Run
from agent_nb.agent import Agent
from agent_nb.notebook.magic.commands import COMMANDS
from agent_nb.notebook.magic.magics import AgentMagics
from agent_nb.providers import catalog

TARGET = Path(__file__).parents[1] / "reference.md"
HEAD = """# Reference

Made from the code by `make reference`. Do not edit.

"""


def reference() -> str:
    shell = InteractiveShell()
    magics = AgentMagics(shell)
    sections = [
        ("`%%agent` options", _options(magics)),
        ("`%agent` commands", _commands()),
        ("`%config AgentMagics` settings", _settings(magics)),
        ("Models", _models()),
        ("Python names", _names()),
        ("`Agent`", _members(Agent)),
        ("`Run`", _members(Run)),
        ("`Files`", _members(Files)),
    ]
    return HEAD + "\n\n".join(f"## {title}\n\n{body}" for title, body in sections) + "\n"


def _options(magics: AgentMagics) -> str:
    rows = []
    for action in magics.agent.parser._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        rows.append((_spelling(action), action.help or ""))
    return _table(("option", "meaning"), rows)


def _spelling(action: argparse.Action) -> str:
    value = ""
    if action.nargs != 0:
        choices = "|".join(map(str, action.choices or ()))
        value = choices or str(action.metavar or action.dest.upper())
    names = ", ".join(action.option_strings)
    return f"`{' '.join(filter(None, (names, value)))}`"


def _commands() -> str:
    return _table(("command", "what it does"), [(f"`%agent {name}`", text) for name, text in COMMANDS.items()])


def _settings(magics: AgentMagics) -> str:
    traits = magics.traits(config=True)
    rows = [(f"`{name}`", f"`{getattr(magics, name)!r}`", trait.help) for name, trait in sorted(traits.items())]
    return _table(("setting", "default", "meaning"), rows)


def _models() -> str:
    rows = [(f"`{row.vendor}:`", f"`{row.recommended}`" if row.recommended else "", row.note) for row in catalog()]
    return _table(("vendor", "default model", "note"), rows)


def _names() -> str:
    public = [name for name in agent_nb.__all__ if not name.endswith("_ipython_extension")]
    rows = [(f"`{name}`", _first_line(getattr(agent_nb, name))) for name in public]
    return _table(("name", "meaning"), rows)


def _members(kind: type) -> str:
    rows = []
    for name, member in inspect.getmembers_static(kind):
        if name.startswith("_") or not _first_line(member):
            continue
        call = "" if _is_property(member) else _signature(member)
        rows.append((f"`.{name}{call}`", _first_line(member)))
    return _table(("member", "meaning"), rows)


def _is_property(member: Any) -> bool:
    return not inspect.isroutine(member)


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
