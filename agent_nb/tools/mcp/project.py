"""The servers of a project: `.mcp.json` beside the notebook, in the form that other MCP clients read."""

import json
from pathlib import Path
from typing import Any, Literal, TypedDict

from agent_nb._base.text import printable
from agent_nb._base.wire import WireError, from_wire
from agent_nb.errors import ConfigError
from agent_nb.tools.mcp.consent import consent_key
from agent_nb.tools.mcp.server_config import ServerConfig, server_config

FILE = ".mcp.json"


class _Entry(TypedDict, total=False):
    """A server. What else its entry has is for other clients."""

    type: Literal["stdio", "http", "streamable-http"]
    command: str
    url: str
    args: tuple[str, ...]
    env: dict[str, str]
    headers: dict[str, str]


def read_project(folder: Path) -> tuple[dict[str, ServerConfig], list[str]]:
    """The servers by name, and what is wrong with the others, in a sentence each."""
    path = folder / FILE
    try:
        if not path.is_file():
            return {}, []
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        return {}, [f"{FILE} is not valid JSON: {error.msg} in line {error.lineno}."]
    except (OSError, ValueError, RecursionError) as error:
        return {}, [f"{FILE} cannot be read: {error}."]
    entries = content.get("mcpServers") if isinstance(content, dict) else None
    if not isinstance(entries, dict):
        return {}, [f'{FILE} has no object "mcpServers".']
    configs: dict[str, ServerConfig] = {}
    problems = []
    for name, entry in entries.items():
        try:
            configs[name] = _config(folder, name, entry)
        except (ConfigError, WireError) as error:
            problems.append(f"`{printable(name[:40], keep='')}` in {FILE}: {str(error).rstrip('.')}.")
    return configs, problems


def _config(folder: Path, name: str, entry: Any) -> ServerConfig:
    if not name.strip() or "/" in name or len(name) > 40:
        raise ConfigError("its name must have 1 to 40 characters, and no '/'.")
    if printable(name, keep="") != name:
        raise ConfigError("its name has characters that cannot be seen.")
    read: _Entry = from_wire(_Entry, entry)
    programs = [read[key] for key in ("command", "url") if key in read]
    if len(programs) != 1:
        raise ConfigError('it needs either "command" or "url".')
    return server_config(
        (*programs, *read.get("args", ())),
        name=name,
        env=read.get("env"),
        headers=read.get("headers"),
        folder=folder,
        key=consent_key(folder, name, entry),
    )
