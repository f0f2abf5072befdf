"""The servers of a project: `.mcp.json` beside the notebook, in the form that other MCP clients read."""

import json
from pathlib import Path
from typing import Any

from agent_nb._base.text import printable
from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError
from agent_nb.tools.mcp.consent import consent_key
from agent_nb.tools.mcp.server_config import ServerConfig, server_config

FILE = ".mcp.json"
MAX_BYTES = 1_000_000


def read_project(folder: Path) -> tuple[dict[str, ServerConfig], list[str]]:
    """The servers by name, and what is wrong with the others, in a sentence each."""
    path = folder / FILE
    try:
        if not path.is_file():
            return {}, []
        if path.stat().st_size > MAX_BYTES:
            return {}, [f"{FILE} has more than {MAX_BYTES // 1_000_000} MB."]
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
        except ConfigError as error:
            problems.append(f"`{printable(name[:40], keep='')}` in {FILE}: {error}")
    return configs, problems


def _config(folder: Path, name: str, entry: Any) -> ServerConfig:
    if not name.strip() or "/" in name or len(name) > 40:
        raise ConfigError("its name must have 1 to 40 characters, and no '/'.")
    if printable(name, keep="") != name:
        raise ConfigError("its name has characters that cannot be seen.")
    if not isinstance(entry, dict):
        raise ConfigError("it is not an object.")
    if (kind := entry.get("type", "stdio")) not in ("stdio", "http", "streamable-http"):
        raise ConfigError(f"the type {str(kind)[:40]!r} is not supported; use stdio or http.")
    program, arguments = entry.get("command", entry.get("url")), entry.get("args", [])
    if program is None or ("command" in entry and "url" in entry):
        raise ConfigError('it needs either "command" or "url".')
    if not isinstance(arguments, list) or not all(isinstance(part, str) for part in (program, *arguments)):
        raise ConfigError('"command" and "url" are text, and "args" is a list of texts.')
    return server_config(
        (program, *arguments),
        name=name,
        env=_texts(entry, "env"),
        headers=_texts(entry, "headers"),
        folder=folder,
        key=consent_key(folder, name, entry),
    )


def _texts(entry: Json, field: str) -> dict[str, str]:
    value = entry.get(field) or {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ConfigError(f'"{field}" must be an object of texts.')
    return value
