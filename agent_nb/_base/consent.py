"""What the user has allowed, in a folder of their own: what a project brings along must not allow itself."""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import locked, write_atomically


def consent_path(kind: str) -> Path:
    """The file for one kind of consent, such as `mcp`."""
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming"
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "agent_nb" / f"{kind}.json"


def consent_key(folder: Path, *what: Any) -> str:
    """Identifies what is allowed. The folder counts, too: the same words mean another thing elsewhere."""
    content = json.dumps([str(folder.resolve()), *what], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def allowed(kind: str) -> dict[str, Any]:
    """What is stored, by key; nothing if the file is damaged, so that the user is asked again."""
    try:
        entries = json.loads(consent_path(kind).read_text(encoding="utf-8"))["allowed"]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    is_valid = isinstance(entries, dict) and all(isinstance(entry, dict) for entry in entries.values())
    return entries if is_valid else {}


def allow(kind: str, key: str, entry: dict[str, Any]) -> None:
    """Stores that the user has allowed this. The entry says what, for those who read the file."""
    path = consent_path(kind)
    with locked(path.with_suffix(".lock"), within=path.parent):
        content = json.dumps({"allowed": {**allowed(kind), key: entry}}, indent=1)
        write_atomically(path, content.encode(), within=path.parent)
