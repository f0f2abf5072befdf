"""The files of a run in progress, which its tools change, and what each change was."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from agent_nb.events import FileAction, LinePatch
from agent_nb.files.diffs import LineChange, compare
from agent_nb.files.file_paths import media_type, safe_path
from agent_nb.files.file_versions import Content
from agent_nb.files.files import Files


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one file: the fields of a `FileChanged` event."""

    path: str
    version: int
    action: FileAction
    size: int
    media_type: str
    call_id: str | None = None
    first_line: int = 0
    added: int = 0
    removed: int = 0
    patch: tuple[LinePatch, ...] | None = None
    """From the previous text, or from an empty file if there was none; None for binary and deleted files."""


class Workspace:
    """The current files of a run. `on_change` is called with each change, in order."""

    def __init__(self, files: Files, on_change: Callable[[Change], None] | None = None) -> None:
        self._files = files
        self._on_change = on_change
        self._lock = threading.RLock()

    @property
    def files(self) -> Files:
        return self._files

    def write(self, path: str, content: Content, call_id: str | None = None) -> Change:
        """Writes a file. Writing the content that it already has is no change and calls nothing."""
        return self._change(safe_path(path), lambda files: files.write(path, content), call_id)

    def delete(self, path: str, call_id: str | None = None) -> Change:
        return self._change(safe_path(path), lambda files: files.delete(path), call_id)

    def _change(self, path: str, step: Callable[[Files], Files], call_id: str | None) -> Change:
        with self._lock:
            before, after = self._files, step(self._files)
            change = _describe(path, before, after, call_id)
            self._files = after
            if after is not before and self._on_change is not None:
                self._on_change(change)
        return change


def starting_change(files: Files, path: str) -> Change:
    """A file that existed before a run, as if it had just been created."""
    return _describe(path, Files(), files, None)


def _describe(path: str, before: Files, after: Files, call_id: str | None) -> Change:
    old, new = before.get(path), after.get(path)
    action: FileAction = "deleted" if new is None else "created" if old is None else "edited"
    lines: LineChange | None = None
    if not isinstance(new, bytes):
        lines = compare(old if isinstance(old, str) else "", new or "")
    return Change(
        path=path,
        version=after.version(path),
        action=action,
        size=after.size(path) if new is not None else 0,
        media_type=media_type(path, old if new is None else new),
        call_id=call_id,
        first_line=lines.first_line if lines and new is not None else 0,
        added=lines.added if lines else 0,
        removed=lines.removed if lines else 0,
        patch=lines.patch if lines and new is not None else None,
    )
