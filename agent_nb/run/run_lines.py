"""What the lines of a run's file say of one variant, as far as they have been read or written."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

import agent_nb.core.events as ev
from agent_nb._base.text import sha256
from agent_nb._base.wire import Json
from agent_nb.files import Content, Files
from agent_nb.files import from_wire as versions_from_wire
from agent_nb.files.diffs import apply_patch

FORMAT, VERSION = "agent-nb.run", 2
SUFFIX = ".run.jsonl"
PACKED = ".gz"
CONVERSATION, END = "conversation", "end"
"""The lines that are neither the header nor an event."""
DELTAS = {kind.type for kind in (ev.TextDelta, ev.ThinkingDelta, ev.ToolArgsDelta, ev.FileDelta)}
HEADER = ("model", "reason", "name", "key", "id", "settings", "prompt")


class VariantLines:
    """The lines of a variant. `first` is the first conversation of the file, and filled with it."""

    def __init__(self, header: Json, first: Json) -> None:
        self._header, self._first = header, first
        self._conversation: Json = {}
        self._messages: list[Any] = []
        self._replaced: list[list[Any]] = []
        self._start: Json = {}
        self._end: Json = {}
        self._was_sent = False
        """Whether a turn has ended, so that a compaction keeps the conversation before it."""
        self.texts: dict[str, str] = {}
        """The text of each file that the next patch changes."""
        self.versions: dict[str, list[Content | None]] = {}
        self.size = 0
        """Of all versions."""

    @property
    def assumed(self) -> Json:
        """What the next conversation line leaves out if it is the same."""
        return self._conversation or self._first

    def add(self, row: Json) -> None:
        if row["type"] == CONVERSATION:
            self._converse({**self.assumed, **row})
            return
        self._start, self._end = self._start or row, row
        match row["type"]:
            case ev.MessageAdded.type:
                self._messages.append(row["message"])
            case ev.TurnFinished.type:
                self._was_sent = True
            case ev.FileChanged.type:
                self._change(row)

    def _converse(self, conversation: Json) -> None:
        self._first.update({} if self._first else conversation)
        if self._conversation and self._was_sent:
            self._replaced.append(self._messages)
        self._conversation, self._messages = conversation, [*conversation["messages"]]

    def _change(self, row: Json) -> None:
        path = row["path"]
        content: Content | None = None
        old_text = self.texts.pop(path, "")
        if row.get("patch") is not None:
            content = self.texts[path] = apply_patch(old_text, row["patch"])
        elif row["action"] != "deleted":
            content = base64.b64decode(row.get("base64", ""), validate=True)
        versions = self.versions.get(path) or [*versions_from_wire(row.get("earlier", ()))]
        if versions and versions[-1] is None:  # created again, as the last one
            self.versions.pop(path, None)
        self.versions[path] = versions
        versions.append(content)
        self.size += len(content or "")

    def give(self, files: Files, shown: Callable[[str], str]) -> bool:
        """Whether the events give exactly these files, with texts mapped by `shown`, in this order."""
        versions = {
            shown(path): [shown(item) if isinstance(item, str) else item for item in files.versions(path)]
            for path in files.paths
        }
        return versions == self.versions and [*map(shown, files)] == _current(self.versions)

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each current file."""
        return {path: sha256(self.versions[path][-1] or "") for path in _current(self.versions)}

    def fields(self) -> Json:
        """The fields of the variant in wire form, without its events and files."""
        values = {name: self._header.get(name) for name in HEADER}
        if fingerprint := self._header["fingerprint"]:
            yours = {"prompt": self._header["prompt"], **fingerprint["yours"]}
            values["fingerprint"] = {**fingerprint, "yours": yours}
        values |= {name: item for name, item in self._conversation.items() if name not in ("type", "variant")}
        values |= {"messages": self._messages, "replaced": self._replaced}
        if self._start:
            values |= {
                "model": self._start["model"],
                "settings": self._start.get("settings", values["settings"]),
            }
            values |= {name: self._end.get(name) for name in ("reason", "usage", "cost", "seconds", "error")}
        return values


def _current(versions: Mapping[str, list[Content | None]]) -> list[str]:
    return [path for path, contents in versions.items() if contents[-1] is not None]
