"""Tab completion on `%%agent` and `%agent` lines."""

from typing import Any

from IPython.core.error import TryNext

from agent_nb.notebook.magic.commands import COMMANDS
from agent_nb.notebook.magic.options import OPTIONS
from agent_nb.notebook.session import Session


def complete(session: Session, event: Any) -> list[str]:
    """The completions at the cursor; raises `TryNext` on the lines of other magics."""
    line, magic = event.line, session.defaults.magic_name
    if not line.lstrip().startswith((f"%%{magic}", f"%{magic}")):
        raise TryNext
    before = line[: len(line) - len(event.symbol)].split()
    previous = before[-1] if before else ""
    if not line.lstrip().startswith("%%"):
        return _after_command(session, previous) if len(before) > 1 else list(COMMANDS)
    for name, option in OPTIONS.items():
        if previous in option.flags and not option.is_switch:
            return list(option.choices) or _values(session, name)
    return [flag for option in OPTIONS.values() for flag in option.flags]


def _after_command(session: Session, command: str) -> list[str]:
    match command:
        case "load":
            from agent_nb.notebook.magic.store import RunStore

            return list({row["name"]: None for row in RunStore(session.home).rows()})
        case "console":
            return _values(session, "base")
        case "undo":
            return list({name: None for name, _ in session.replaced})
        case "log":
            return ["on", "debug", "off"]
        case _:
            return []


def _values(session: Session, option: str) -> list[str]:
    names = [name for name in session.namespace if not name.startswith("_")]
    match option:
        case "models":
            from agent_nb.providers import catalog

            return [f"{row.vendor}:{row.recommended}" for row in catalog()]
        case "base":
            from agent_nb.run import Run

            return [name for name in names if isinstance(session.namespace[name], Run)]
        case "tools":
            from agent_nb.tools import Tool

            return [name for name in names if isinstance(session.namespace[name], Tool)]
        case "cassette":
            home = session.home
            return sorted(path.relative_to(home).as_posix() for path in home.glob("cassettes/*.jsonl"))
        case "images":
            kinds = (".png", ".jpg", ".jpeg", ".webp", ".gif")
            return names + sorted(
                path.name for path in session.home.iterdir() if path.suffix.lower() in kinds
            )
        case "system":
            from agent_nb.notebook.magic.inputs import system_names

            texts = [name for name in names if isinstance(session.namespace[name], str)]
            return texts + system_names(session.home)
        case "variables":
            return names
        case _:
            return []
