"""What the person has allowed: servers of project files, and their tools as they were then.

It is stored in the person's own folder. A project must not be able to allow its servers itself.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import locked, write_atomically
from agent_nb.tools.mcp.config import ServerConfig


def consent_path() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming"
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "agent_nb" / "mcp.json"


def is_allowed(config: ServerConfig) -> bool:
    """Whether the person has allowed this server. One that they added themselves needs no consent."""
    return not config.key or config.key in _read()


def accepted_tools(config: ServerConfig) -> dict[str, str]:
    """The digests of the tools that the person has seen, by name."""
    tools = _read().get(config.key, {}).get("tools", {})
    return {name: digest for name, digest in tools.items() if isinstance(digest, str)}


def remember(config: ServerConfig, tools: dict[str, str]) -> None:
    """Stores that the person has allowed this server, with these tools."""
    path = consent_path()
    with locked(path.with_suffix(".lock"), within=path.parent):
        allowed = {**_read(), config.key: {"name": config.name, "folder": str(config.folder), "tools": tools}}
        write_atomically(path, json.dumps({"allowed": allowed}, indent=1).encode(), within=path.parent)


def _read() -> dict[str, Any]:
    """What is stored; nothing if the file is damaged, so that the person is asked again."""
    try:
        allowed = json.loads(consent_path().read_text(encoding="utf-8"))["allowed"]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    is_valid = isinstance(allowed, dict) and all(isinstance(entry, dict) for entry in allowed.values())
    return allowed if is_valid else {}
