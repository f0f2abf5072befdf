"""Tab after `%%agent`: options, and the values they take."""

from typing import Any

from IPython.core.error import TryNext

from agent_nb.notebook.magic.commands import COMMANDS


def complete(shell: Any, event: Any) -> list[str]:
    """What may stand at the cursor on a `%%agent` or `%agent` line."""
    magics = shell.magics_manager.registry.get("AgentMagics")
    line = event.line
    if magics is None or not line.lstrip().startswith((f"%%{magics.magic_name}", f"%{magics.magic_name}")):
        raise TryNext
    words = line[: len(line) - len(event.symbol)].split()
    previous = words[-1] if words else ""
    if not line.lstrip().startswith("%%"):
        return _after_command(magics, previous) if len(words) > 1 else list(COMMANDS)
    for action in magics.agent.parser._actions:
        if previous in action.option_strings and action.nargs != 0:
            return _values(shell, action.dest) or [str(choice) for choice in action.choices or ()]
    return [option for action in magics.agent.parser._actions for option in action.option_strings]


def _after_command(magics: Any, command: str) -> list[str]:
    match command:
        case "load":
            from agent_nb.notebook.magic.store import RunStore

            return list({row["name"]: None for row in RunStore(magics.home).rows()})
        case "console":
            return _values(magics.shell, "base")
        case "undo":
            return list({name: None for name, _ in magics.earlier})
        case "log":
            return ["on", "debug", "off"]
        case _:
            return []


def _values(shell: Any, destination: str) -> list[str]:
    names = [name for name in shell.user_ns if not name.startswith("_")]
    match destination:
        case "model":
            from agent_nb.providers import catalog

            return [f"{row.vendor}:{row.recommended}" for row in catalog()]
        case "base":
            from agent_nb.run import Run

            return [name for name in names if isinstance(shell.user_ns[name], Run)]
        case "tool":
            from agent_nb.tools import Tool

            return [name for name in names if isinstance(shell.user_ns[name], Tool)]
        case "cassette":
            home = shell.magics_manager.registry["AgentMagics"].home
            return sorted(path.relative_to(home).as_posix() for path in home.glob("cassettes/*.jsonl"))
        case "image":
            home = shell.magics_manager.registry["AgentMagics"].home
            kinds = (".png", ".jpg", ".jpeg", ".webp", ".gif")
            return names + sorted(path.name for path in home.iterdir() if path.suffix.lower() in kinds)
        case "system":
            from agent_nb.notebook.magic.inputs import system_names

            texts = [name for name in names if isinstance(shell.user_ns[name], str)]
            return texts + system_names(shell.magics_manager.registry["AgentMagics"].home)
        case "variables":
            return names
        case _:
            return []
