"""Tab completion candidates: options, models, variables, runs and paths, each with a short help text."""

import itertools
import re
import textwrap
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agent_nb._base.constants import ACP, APPROVE, DEMO, STACKS
from agent_nb._base.text import plural
from agent_nb.core.errors import SavedRunError
from agent_nb.core.options import OPTIONS
from agent_nb.notebook.session import Session
from agent_nb.notebook.user_variables import is_of, user_data, user_names

HELP_WIDTH = 44
_IMAGE_FILES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".pdf")
Candidate = tuple[str, str]
"""A completion and its help."""


def saved_runs(session: Session, before: Sequence[str]) -> list[Candidate]:
    from agent_nb.run.store import RunStore

    if before:
        return []
    try:
        newest = {row["name"]: row for row in RunStore(session.home).rows()}
    except SavedRunError:  # `%agent load` reports the error
        return []
    return [(name, f"{row.get('when', '')} {row.get('model', '')}".strip()) for name, row in newest.items()]


def replaced_runs(session: Session, before: Sequence[str]) -> list[Candidate]:
    return [] if before else [(name, _kind(run)) for name, run in dict(session.replaced).items()]


def of_option(session: Session, field: str, prefix: str) -> list[Candidate]:
    """Candidate values of an option; `prefix` is the start of a path being completed."""
    option = OPTIONS[field]
    if option.number:
        return [(option.number.example, option.number.description)]
    match option.completes:
        case "model":
            return _models(session)
        case "run":
            return runs(session) + variants(session)
        case "tool":
            return _tools(session)
        case "variable":
            return variables(session)
        case "image":
            return variables(session, _is_image) + _paths(".", prefix, _IMAGE_FILES)
        case "approval":
            return [(mode, "all tools that ask") for mode in APPROVE]
        case "text":
            from agent_nb.notebook.magic.inputs import system_names

            texts = variables(session, lambda value: isinstance(value, str))
            return texts + [(name, "file") for name in system_names(session.home)]
        case "cassette":
            folder = prefix if "/" in prefix else "cassettes/"
            choices = [(choice, "ask the model") for choice in option.choices]
            return choices + _paths(session.home, folder, (".jsonl",))
        case "stack":
            return [(name, "stack") for name in STACKS]
        case "path":
            return _paths(session.home, prefix, ())
        case _:
            return [(choice, option.flags[-1].strip("-")) for choice in option.choices]


def runs(session: Session, before: Sequence[str] = ()) -> list[Candidate]:
    """Variables that refer to a run; empty after the first argument."""
    return [] if before else variables(session, _is_run)


def variants(session: Session) -> list[Candidate]:
    """The variants of all runs, such as `trio.2`."""
    values = {name: value for name, value in user_data(session.shell).items() if _is_run(value)}
    return [
        (f"{name}.{number}", _kind(variant))
        for name, run in values.items()
        for number, variant in enumerate(run.variants, 1)
    ]


def variables(session: Session, accepts: Callable[[Any], bool] = lambda value: True) -> list[Candidate]:
    return [(name, _kind(value)) for name, value in user_data(session.shell).items() if accepts(value)]


def agents(session: Session, before: Sequence[str] = ()) -> list[Candidate]:
    from agent_nb.acp.known import states

    return [] if before else [(f"{ACP}:{name}", text.partition(":")[0]) for name, text in states().items()]


def _models(session: Session) -> list[Candidate]:
    from agent_nb.acp.known import states
    from agent_nb.acp.offered import stored_models
    from agent_nb.providers.requirements import missing
    from agent_nb.providers.settings import find_key
    from agent_nb.providers.vendors import VENDORS

    models = []
    for vendor in VENDORS.values():
        to_do = missing(vendor)
        needs_key = vendor.keys and to_do == f"set {vendor.key_variable}"
        state = "needs a key" if needs_key else to_do.partition(":")[0] or "no key needed"
        is_ready = not to_do and (vendor.identity or find_key(vendor.keys) or vendor.name == DEMO)
        if vendor.name == ACP:
            models += agents(session)
            models += [
                (f"{ACP}:{name}/{model}", title)
                for name in states()
                for model, title in stored_models(name).items()
            ]
        else:
            models.append((f"{vendor.name}:{vendor.recommended}", "ready" if is_ready else state))
    return models


def _tools(session: Session) -> list[Candidate]:
    from agent_nb.notebook.magic.tool_groups import tool_groups

    candidates = []
    for name, value in user_names(session.shell).items():
        if is_of(value, "agent_nb", "Tool"):
            candidates.append((name, brief(value.spec.description)))
        elif isinstance(value, types.FunctionType) and value.__module__ == "__main__":
            candidates.append((name, "function"))
    candidates.append(("kernel", "all tools for the notebook's variables"))
    candidates.append(("notebook", "all tools for the notebook's cells"))
    tools = itertools.chain(*tool_groups(session).values())
    candidates += [(tool.name, brief(tool.spec.description)) for tool in tools]
    if (session.home / ".mcp.json").exists():  # importing the module is too slow for Tab
        from agent_nb.notebook.magic.mcp import read_servers

        read_servers(session)
    for server in session.servers.values():
        name = f"mcp:{server.name}"
        candidates.append((name, f"all tools of this MCP server, {server.state}"))
        candidates += [(f"{name}/{tool.name}", brief(tool.spec.description)) for tool in server.listed]
    return candidates


def _paths(base: str | Path, prefix: str, suffixes: tuple[str, ...]) -> list[Candidate]:
    """The folders, and the files with these suffixes, in the folder part of `prefix`."""
    folder = prefix[: prefix.rfind("/") + 1]
    try:
        entries = sorted(Path(base, Path(folder).expanduser()).iterdir())
    except (OSError, RuntimeError):  # no such folder; no home for `~`
        return []
    visible = [path for path in entries if not path.name.startswith(".")]
    files = [path for path in visible if path.name.lower().endswith(suffixes) and not path.is_dir()]
    folders = [(f"{folder}{path.name}/", "folder") for path in visible if path.is_dir()]
    return folders + [(f"{folder}{path.name}", "file") for path in files]


def _is_run(value: Any) -> bool:
    return is_of(value, "agent_nb", "Run")  # importing `Run` is too slow for Tab


def _is_image(value: Any) -> bool:
    """Whether a value is probably an image. Text, bytes and arrays are not offered: they can be anything."""
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_image, value))
    kinds = ("agent_nb", "Image"), ("PIL", "Image"), ("matplotlib", "FigureBase")
    return any(is_of(value, *kind) for kind in kinds)


def _kind(value: Any) -> str:
    if not _is_run(value):
        return type(value).__name__
    return f"Run, {value.model.removesuffix(':')}, {plural(len(value.files), 'file')}"


def brief(text: str) -> str:
    clause = re.split(r"[.,:;(]\s|\.$|\s\(", text.strip(), maxsplit=1)[0]
    return textwrap.shorten(clause, HELP_WIDTH, placeholder="…")
