"""Small files in the user's configuration folder: never beside a notebook, which may be someone else's."""

import dataclasses
import errno
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import locked, write_atomically
from agent_nb._base.log import log
from agent_nb._base.wire import Json, parse_json


def home_folder() -> Path:
    """The user's home folder. Raises `FileNotFoundError` if there is none, as in a container whose user has no name."""
    folder = os.path.expanduser("~")
    if not os.path.isabs(folder):
        raise FileNotFoundError(errno.ENOENT, "this user has no home folder, and HOME is not set")
    return Path(folder)


@dataclass(frozen=True, slots=True)
class UserFile:
    """A JSON file with one object per key."""

    name: str
    section: str
    """The name of the object that contains them."""
    _unwritten: dict[str, Json] = dataclasses.field(default_factory=dict, compare=False)
    """Entries of this session that could not be written."""

    @property
    def path(self) -> Path:
        if sys.platform == "win32":
            base = os.environ.get("APPDATA") or home_folder() / "AppData" / "Roaming"
        else:
            # A relative path is invalid, and would lead to a notebook's folder.
            named = os.environ.get("XDG_CONFIG_HOME", "")
            base = named if os.path.isabs(named) else home_folder() / ".config"
        return Path(base) / "agent_nb" / self.name

    def entries(self) -> dict[str, Json]:
        """Return the stored objects by key; only those of this session if the file is missing or corrupt."""
        try:
            entries = parse_json(self.path.read_bytes())[self.section]
        except (OSError, LookupError, TypeError):
            entries = {}
        is_valid = isinstance(entries, dict) and all(isinstance(entry, dict) for entry in entries.values())
        return {**(entries if is_valid else {}), **self._unwritten}

    def store(self, key: str, entry: dict[str, Any]) -> None:
        """Store an entry; in a folder that cannot be written, for this session."""
        try:
            path = self.path
            with locked(path.with_suffix(".lock"), within=path.parent):
                content = json.dumps({self.section: {**self.entries(), key: entry}}, indent=1)
                write_atomically(path, content.encode(), within=path.parent)
        except (OSError, NotImplementedError) as error:  # some file systems have no locks
            self._unwritten[key] = entry
            log.warning("%s cannot be written (%s), so it is kept for this session only", self.name, error)
