"""Reads a conversation: what is asked now, what was done about it, and how the page stands."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_nb.messages import Image, Message, Text, ToolCall, ToolResult
from agent_nb.wire import Json

ENTRY = "index.html"

_FILE_IN_TEXT = re.compile(r"`([^`\n]+)`:\s*\n(`{3,})[\w+-]*\n(.*?)\n?\2[ \t]*(?:\n|$)", re.DOTALL)
_FENCED_PAGE = re.compile(r"(`{3,})html\n(.*?)\n?\1", re.DOTALL)
_WHOLE_PAGE = re.compile(r"(?:<!doctype html|<html).*</html>", re.DOTALL | re.IGNORECASE)
_LINE_NUMBER = re.compile(r"^ *\d+(?:\t| ?[|:→] ?)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Use:
    """A call made for the present prompt, with its result if there is one."""

    call: ToolCall
    result: ToolResult | None

    @property
    def ok(self) -> bool:
        return self.result is None or self.result.ok


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    prompt: str
    images: tuple[Image, ...]
    uses: tuple[Use, ...]
    path: str
    """The page's path."""
    page: str | None
    """The page as it stood when the present prompt came; None when there was none or it was not shown."""
    page_read: str | None
    """What `read_file` gave since the prompt."""
    earlier: bool
    """Whether something was built before the present prompt."""

    def called(self, name: str) -> tuple[Use, ...]:
        return tuple(use for use in self.uses if use.call.name == name)


def read_conversation(messages: Sequence[Message]) -> Conversation:
    place = max((i for i, message in enumerate(messages) if message.role == "user"), default=0)
    before, prompt, after = messages[:place], messages[place : place + 1], messages[place + 1 :]
    words = "\n".join(message.text for message in prompt)
    files = _replayed(before)
    files.update(_files_in(words))
    path = _entry(files)
    return Conversation(
        prompt=_FILE_IN_TEXT.sub("", words).replace("Current files:", "").strip(),
        images=tuple(part for message in prompt for part in message.parts if isinstance(part, Image)),
        uses=_uses(after),
        path=path,
        page=files.get(path),
        page_read=_replayed(after).get(path) if any(c.name == "read_file" for c in _calls(after)) else None,
        earlier=bool(files) or any(message.role == "assistant" for message in before),
    )


def replacements(arguments: Json) -> list[tuple[str, str]]:
    """The `(old, new)` pairs of an `edit_file` call: a single one or a list of them."""
    listed = next((value for value in arguments.values() if isinstance(value, list)), [arguments])
    pairs = [(_starting(item, "old"), _starting(item, "new")) for item in listed if isinstance(item, Mapping)]
    return [(old, new) for old, new in pairs if old]


def _calls(messages: Sequence[Message]) -> list[ToolCall]:
    return [call for message in messages for call in message.tool_calls]


def _uses(messages: Sequence[Message]) -> tuple[Use, ...]:
    results = {p.call_id: p for message in messages for p in message.parts if isinstance(p, ToolResult)}
    return tuple(Use(call, results.get(call.id)) for call in _calls(messages))


def _replayed(messages: Sequence[Message]) -> dict[str, str]:
    """The files as these messages leave them."""
    results = {p.call_id: p for message in messages for p in message.parts if isinstance(p, ToolResult)}
    files: dict[str, str] = {}
    for message in messages:
        for part in message.parts:
            match part:
                case Text(text) if message.role == "user":
                    files.update(_files_in(text))
                case Text(text) if fenced := _FENCED_PAGE.search(text):
                    files[ENTRY] = fenced[2]
                case ToolCall() as call:
                    _apply(files, call, results.get(call.id))
                case _:
                    pass
    return files


def _files_in(text: str) -> dict[str, str]:
    return {found[1]: found[3] for found in _FILE_IN_TEXT.finditer(text)}


def _apply(files: dict[str, str], call: ToolCall, result: ToolResult | None) -> None:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return
    if not isinstance(arguments, dict) or (result and not result.ok):
        return
    path = str(arguments.get("path", ENTRY))
    match call.name:
        case "create_file":
            files[path] = str(arguments.get("content", ""))
        case "edit_file" if path in files:
            for old, new in replacements(arguments):
                count = arguments.get("count", 1)
                files[path] = files[path].replace(old, new, count if isinstance(count, int) else 1)
        case "delete_file":
            files.pop(path, None)
        case "read_file" if result and (found := _WHOLE_PAGE.search(_LINE_NUMBER.sub("", result.text))):
            files[_entry({path: ""})] = found[0]
        case _:
            pass


def _entry(files: Mapping[str, str]) -> str:
    pages = [path for path in files if path.endswith((".html", ".htm"))]
    return ENTRY if ENTRY in pages or not pages else pages[0]


def _starting(item: Mapping[str, Any], prefix: str) -> str:
    return next((str(value) for key, value in item.items() if key.startswith(prefix)), "")
