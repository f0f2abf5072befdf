"""What the vocabularies share: how a pair is written, and the files of a run while they are being written."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.events import Event, FileChanged, FileDelta
from agent_nb.files import apply_patch

Pair = tuple[str, str]
"""The name of an event and its JSON text."""
Translate = Callable[[Event], Iterator[Pair]]


def pair(name: str, data: Any) -> Pair:
    return name, json.dumps(data, ensure_ascii=False)


@dataclass(slots=True)
class Draft:
    """A file while it is being written.

    Protocols that cannot append to a text send it again as a whole. If that is done when it `has_grown`, by an
    eighth, the total size stays linear.
    """

    path: str
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    sent: int = 0

    def take(self, offset: int, text: str) -> None:
        if offset < self.length:
            self.pieces = [self.text[:offset]]
            self.sent = 0
        self.pieces.append(text)
        self.length = offset + len(text)

    @property
    def has_grown(self) -> bool:
        return self.length > self.sent * 9 // 8

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class FilesSoFar:
    """The files of a run as its events tell of them. Binary files are None: events do not hold their contents."""

    def __init__(self) -> None:
        self.finished: dict[str, str | None] = {}
        self.drafts: dict[str, Draft] = {}
        """What calls are still writing, by call id."""

    def write(self, event: FileDelta) -> Draft:
        """Takes a piece of a file. The path may become known later; then the text starts over."""
        draft = self.drafts.get(event.call_id)
        if draft is None or draft.path != event.path:
            draft = self.drafts[event.call_id] = Draft(event.path)
        draft.take(event.offset, event.text)
        return draft

    def change(self, event: FileChanged) -> None:
        """Takes a finished version of a file."""
        self.drafts.pop(event.call_id or "", None)
        if event.action == "deleted":
            self.finished.pop(event.path, None)
        elif event.patch is None:
            self.finished[event.path] = None
        else:
            self.finished[event.path] = apply_patch(self.finished.get(event.path) or "", event.patch)


class StateFiles:
    """The files as the state of an AG-UI front end, `{"files": {path: text}}`: knows what the front end has.

    Its methods return the JSON patches (RFC 6902) that bring the front end up to date.
    """

    def __init__(self) -> None:
        self._files = FilesSoFar()
        self._shown: dict[str, str | None] | None = None
        """What the front end has; None before the first snapshot."""

    def snapshot(self) -> dict[str, str | None]:
        self._shown = dict(self._files.finished)
        return dict(self._shown)

    @property
    def has_snapshot(self) -> bool:
        return self._shown is not None

    def write(self, event: FileDelta) -> list[Json]:
        """Takes a piece of a file. A file whose path is not known yet is shown when it is."""
        draft = self._files.write(event)
        if not draft.path or not draft.has_grown:
            return []
        draft.sent = draft.length
        return self._patch(draft.path, draft.text)

    def change(self, event: FileChanged) -> list[Json]:
        """Takes a finished version of a file."""
        self._files.change(event)
        return self._restored(event.path)

    def drop(self, call_id: str) -> list[Json]:
        """Takes back what a call has left unfinished."""
        draft = self._files.drafts.pop(call_id, None)
        return self._restored(draft.path) if draft else []

    def drop_all(self) -> list[Json]:
        return [operation for call_id in list(self._files.drafts) for operation in self.drop(call_id)]

    def _restored(self, path: str) -> list[Json]:
        if path in self._files.finished:
            return self._patch(path, self._files.finished[path])
        if self._shown is None or path not in self._shown:
            return []
        del self._shown[path]
        return [{"op": "remove", "path": _pointer(path)}]

    def _patch(self, path: str, content: str | None) -> list[Json]:
        if self._shown is None or (path in self._shown and self._shown[path] == content):
            return []
        operation = "replace" if path in self._shown else "add"
        self._shown[path] = content
        return [{"op": operation, "path": _pointer(path), "value": content}]


def _pointer(path: str) -> str:
    """The place of a file in the state, as a JSON pointer."""
    return "/files/" + path.replace("~", "~0").replace("/", "~1")
