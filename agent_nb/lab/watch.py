"""Reads the lab file again when it has changed, because a teacher may edit it in mid-session."""

from pathlib import Path

from agent_nb.errors import ConfigError
from agent_nb.lab.reading import FILE, find_lab, read_lab
from agent_nb.lab.rules import LabRules


class LabWatch:
    """The lab file of a folder, for as long as the kernel runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: tuple[Path, bytes] | None = None
        self._rules: LabRules | None = None
        self._announced: LabRules | None = None
        self.logged_edits: set[tuple[str, str]] = set()
        """Edits by hand that the log has: the path of a file and the hash of its content."""

    def rules(self) -> LabRules | None:
        """The rules as the file says them now, None without a file; raises `ConfigError` if it cannot be read."""
        path = find_lab(self._folder)
        if path is None:
            self._read = self._rules = None
            return None
        # A file far from the notebook is named with its folder, so that it can be found.
        file = FILE if path.parent == self._folder.resolve() else str(path)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror or error}.") from None
        if self._read != (path, data):
            self._rules = read_lab(path, data, file)
            self._read = path, data
        return self._rules

    def announce(self, rules: LabRules, command: str) -> str:
        """What to say before a run about rules that are new or have changed; empty if they are the same as before."""
        before, self._announced = self._announced, rules
        if rules == before:
            return ""
        if before is None:
            title = f": {rules.title}" if rules.title else ""
            return f"This notebook follows the rules of {rules.file}{title}. `{command}` shows them."
        changed = ", ".join(rules.changed(before)) or "its place"
        return f"{rules.file} has changed ({changed}). `{command}` shows the rules."
