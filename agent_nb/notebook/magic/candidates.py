"""What Tab can offer: options, models, variables, runs, paths, each with a few words of help."""

import re
import textwrap
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agent_nb._base.command import Command
from agent_nb._base.model_name import DEMO
from agent_nb.errors import SavedRunError
from agent_nb.notebook.session import Session
from agent_nb.notebook.user_variables import is_of, user_data, user_names
from agent_nb.options import APPROVE, OPTIONS

HELP_WIDTH = 44
_IMAGE_FILES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
_NAME = r"[^\W\d](?:\w|[^\x00-\x7f])*"


class Candidate(NamedTuple):
    """A completion and its help."""

    text: str
    help: str


def flags(given: Collection[str]) -> list[Candidate]:
    """The options that can still be given."""
    return [
        Candidate(flag, _brief(option.help))
        for name, option in OPTIONS.items()
        if option.repeats or name not in given
        for flag in option.flags
    ]


def commands(table: Mapping[str, Command]) -> list[Candidate]:
    """What can follow `%agent`."""
    return [Candidate(name, _brief(command.help)) for name, command in table.items()]


def saved_runs(session: Session, before: Sequence[str]) -> list[Candidate]:
    from agent_nb.run.store import RunStore

    if before:
        return []
    try:
        newest = {row["name"]: row for row in RunStore(session.home).rows()}
    except SavedRunError:  # `%agent load` says what is wrong
        return []
    return [
        Candidate(name, f"{row.get('when', '')} {row.get('model', '')}".strip())
        for name, row in newest.items()
    ]


def replaced_runs(session: Session, before: Sequence[str]) -> list[Candidate]:
    """The names that `%agent undo` takes."""
    return [] if before else [Candidate(name, _kind(run)) for name, run in dict(session.replaced).items()]


def of_option(session: Session, field: str, typed: str) -> list[Candidate]:
    """The values of an option, by its field; `typed` is the start of a path that is continued."""
    option = OPTIONS[field]
    if option.number:
        return [Candidate(option.number.example, option.number.description)]
    match field:
        case "models":
            return _models(session)
        case "base":
            return runs(session)
        case "tools":
            return _tools(session)
        case "variables":
            return _variables(session)
        case "images":
            files = _paths(".", typed, lambda name: name.lower().endswith(_IMAGE_FILES))
            return _variables(session, _is_image) + files
        case "approve":
            return [Candidate(mode, "all tools that ask") for mode in APPROVE]
        case "system":
            from agent_nb.notebook.magic.inputs import system_names

            texts = _variables(session, lambda value: isinstance(value, str))
            return texts + [Candidate(name, "file") for name in system_names(session.home)]
        case "record" | "replay":
            folder = typed if "/" in typed else "cassettes/"
            choices = [Candidate(choice, "ask the model") for choice in option.choices]
            return choices + _paths(session.home, folder, lambda name: name.endswith(".jsonl"))
        case "stack":
            from agent_nb.prompts import STACKS

            return [Candidate(name, "stack") for name in STACKS]
        case "save":
            return _paths(session.home, typed, lambda name: False)
        case _:
            return [Candidate(choice, option.flags[-1].strip("-")) for choice in option.choices]


def runs(session: Session, before: Sequence[str] = ()) -> list[Candidate]:
    """The variables that hold a run; nothing after the first word."""
    return [] if before else _variables(session, _is_run)


def in_braces(session: Session, path: str) -> tuple[str, list[Candidate]]:
    """What was typed of the last part of `{{path`, and what can be there: a variable, a field or a key."""
    head, dot, field = path.rpartition(".")
    if found := re.fullmatch(rf"({_NAME}(?:\.{_NAME})*)(\[[\"']?[^\[\]]*)", path):
        value = _value_at(session, found[1])
        keys = [key for key in value if isinstance(key, str)] if isinstance(value, Mapping) else []
        quote = "'" if found[2].startswith("['") else '"'
        return found[2], [Candidate(f"[{quote}{key}{quote}]", _kind(value[key])) for key in keys]
    if "(" in path:  # a selector, which no list can hold
        return path, []
    if dot:
        value = _value_at(session, head)
        element = [Candidate('element("', "an element of its page")] if _is_run(value) else []
        # The public attributes that are not methods, without reading them.
        names = [name for name in dir(value) if name[0] != "_"]
        fields = [name for name in names if not callable(getattr(type(value), name, None))]
        return field, element + [Candidate(name, "attribute") for name in fields]
    return path, _variables(session)


def _value_at(session: Session, path: str) -> Any:
    """The value of a variable or of a field of a run. Reading other fields could run the user's code."""
    name, _, field = path.partition(".")
    value = session.namespace.get(name)
    if not field:
        return value
    return getattr(value, field, None) if _is_run(value) else None


def _variables(session: Session, accepts: Callable[[Any], bool] = lambda value: True) -> list[Candidate]:
    data = user_data(session.shell)
    return [Candidate(name, _kind(value)) for name, value in data.items() if accepts(value)]


def _models(session: Session) -> list[Candidate]:
    from agent_nb.providers.keys import find_key
    from agent_nb.providers.registry import LISTINGS
    from agent_nb.providers.vendors import VENDORS

    models: dict[str, str] = {}
    for vendor in VENDORS.values():
        # Shorter than in `%agent models`, and without names of variables: JupyterLab writes it in lower case.
        state = "needs a key" if vendor.needs_key else "no key needed"
        ready = find_key(vendor.keys) or vendor.name == DEMO
        if vendor.name in LISTINGS:
            listed = LISTINGS[vendor.name]().items()
            models |= {f"{vendor.name}:{name}": text.partition(":")[0] for name, text in listed}
        else:
            models[f"{vendor.name}:{vendor.recommended}"] = "ready" if ready else state
    return [Candidate(*each) for each in models.items()]


def _tools(session: Session) -> list[Candidate]:
    from agent_nb.notebook.kernel_tools import KERNEL, kernel_tools

    tools = [
        Candidate(name, _brief(value.spec.description))
        for name, value in user_data(session.shell).items()
        if is_of(value, "agent_nb", "Tool")
    ]
    functions = [
        Candidate(name, "function")
        for name, value in user_names(session.shell).items()
        if isinstance(value, types.FunctionType) and value.__module__ == "__main__"
    ]
    group = Candidate(KERNEL, "all tools for the notebook's variables")
    kernel = [Candidate(tool.name, _brief(tool.spec.description)) for tool in kernel_tools(session.shell)]
    found = [*tools, *functions, group, *kernel]
    _read_servers(session)
    for server in session.servers.values():
        name = f"mcp:{server.name}"
        found.append(Candidate(name, f"all tools of this MCP server, {server.state}"))
        found += [Candidate(f"{name}/{tool.name}", _brief(tool.spec.description)) for tool in server.listed]
    return found


def _read_servers(session: Session) -> None:
    """Reads the project's file of MCP servers, if there is one; the module takes longer to load than Tab may."""
    if (session.home / ".mcp.json").exists():
        from agent_nb.notebook.magic.mcp import read_servers

        read_servers(session)


def _paths(base: str | Path, typed: str, accepts: Callable[[str], bool]) -> list[Candidate]:
    """The folders, and the files with an accepted name, in the folder that was typed so far."""
    folder = typed[: typed.rfind("/") + 1]
    try:
        found = sorted(Path(base, Path(folder).expanduser()).iterdir())
    except (OSError, RuntimeError):  # no such folder; no home for `~`
        return []
    shown = [path for path in found if not path.name.startswith(".")]
    folders = [Candidate(f"{folder}{path.name}/", "folder") for path in shown if path.is_dir()]
    files = [path.name for path in shown if accepts(path.name) and not path.is_dir()]
    return folders + [Candidate(f"{folder}{name}", "file") for name in files]


def _is_run(value: Any) -> bool:
    """Whether it is a run, judged by the name of its class, because importing `Run` takes longer than Tab may."""
    return is_of(value, "agent_nb", "Run")


def _is_image(value: Any) -> bool:
    """Whether a variable is likely to be an image: text, bytes and arrays can be anything, so they are not offered."""
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_image, value))
    kinds = ("agent_nb", "Image"), ("PIL", "Image"), ("matplotlib", "FigureBase")
    return any(is_of(value, *kind) for kind in kinds)


def _kind(value: Any) -> str:
    if not _is_run(value):
        return type(value).__name__
    count = len(value.files)
    return f"Run, {value.model.removesuffix(':')}, {count} file{'' if count == 1 else 's'}"


def _brief(text: str) -> str:
    clause = re.split(r"[.,:;(]\s|\.$|\s\(", text.strip(), maxsplit=1)[0]
    return textwrap.shorten(clause, HELP_WIDTH, placeholder="…")
