"""The files of a run as the state of an AG-UI front end: `{"files": {path: text}}`."""

from agent_nb._base.wire import Json
from agent_nb.events import FileChanged, FileDelta
from agent_nb.files import apply_patch
from agent_nb.web.draft import Draft


class StateFiles:
    """Knows what the front end has, and gives the JSON patches (RFC 6902) that bring it up to date.

    Binary files are null: events do not hold their contents.
    """

    def __init__(self) -> None:
        self._files: dict[str, str | None] = {}
        """Finished files. What a call is still writing is in `_drafts`, by call id."""
        self._drafts: dict[str, Draft] = {}
        self._shown: dict[str, str | None] | None = None
        """What the front end has; None before the first snapshot."""

    def snapshot(self) -> dict[str, str | None]:
        self._shown = dict(self._files)
        return dict(self._files)

    @property
    def has_snapshot(self) -> bool:
        return self._shown is not None

    def write(self, event: FileDelta) -> list[Json]:
        """Takes a piece of a file. A file whose path is not known yet is shown when it is."""
        draft = self._drafts.get(event.call_id)
        if draft is None or draft.path != event.path:
            draft = self._drafts[event.call_id] = Draft(event.path)
        draft.take(event.offset, event.text)
        if not draft.path or not draft.has_grown:
            return []
        draft.sent = draft.length
        return self._patch(draft.path, draft.text)

    def change(self, event: FileChanged) -> list[Json]:
        """Takes a finished version of a file."""
        self._drafts.pop(event.call_id or "", None)
        if event.action == "deleted":
            self._files.pop(event.path, None)
        elif event.patch is None:
            self._files[event.path] = None
        else:
            self._files[event.path] = apply_patch(self._files.get(event.path) or "", event.patch)
        return self._restored(event.path)

    def drop(self, call_id: str) -> list[Json]:
        """Takes back what a call has left unfinished."""
        draft = self._drafts.pop(call_id, None)
        return self._restored(draft.path) if draft else []

    def drop_all(self) -> list[Json]:
        return [operation for call_id in list(self._drafts) for operation in self.drop(call_id)]

    def _restored(self, path: str) -> list[Json]:
        if path in self._files:
            return self._patch(path, self._files[path])
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
