"""Reads a conversation: what is asked now, what was done about it, and how the page stands."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_nb._base.wire import Json
from agent_nb.messages import Image, Message, Text, ToolCall, ToolResult

ENTRY = "index.html"
LAST_STEP = "This is your last step"
"""How the engine's word begins that no further calls will be run."""

_FILE_IN_TEXT = re.compile(r"`([^`\n]+)`:\s*\n(`{3,})([\w+-]*)\n(.*?)\n?\2[ \t]*(?:\n|$)", re.DOTALL)
_HAND_CHANGE = re.compile(r"I (?:changed|deleted|replaced) `([^`\n]+)`")
_FENCED_PAGE = re.compile(r"(`{3,})html\n(.*?)\n?\1", re.DOTALL)


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
    earlier: bool
    """Whether something was built before the present prompt."""
    last_step: bool

    def called(self, name: str) -> tuple[Use, ...]:
        return tuple(use for use in self.uses if use.call.name == name)

    @property
    def page_read(self) -> str | None:
        """The page as `read_file` has given it since the prompt."""
        return next((use.result.text for use in self.called("read_file") if use.ok and use.result), None)


def read_conversation(messages: Sequence[Message]) -> Conversation:
    last_step = bool(messages) and messages[-1].role == "user" and messages[-1].text.startswith(LAST_STEP)
    spoken = messages[:-1] if last_step else messages
    place = max((i for i, message in enumerate(spoken) if message.role == "user"), default=0)
    before, prompt, after = spoken[:place], spoken[place : place + 1], spoken[place + 1 :]
    parts = [part for message in prompt for part in message.parts]
    words = [part.text for part in parts if isinstance(part, Text)]
    files = _replayed((*before, *prompt))
    return Conversation(
        prompt=_FILE_IN_TEXT.sub("", words[0] if words else "").replace("Current files:", "").strip(),
        images=tuple(part for part in parts if isinstance(part, Image)),
        uses=_uses(after),
        path=(path := _entry(files)),
        page=files.get(path),
        earlier=bool(files) or any(message.tool_calls for message in before),
        last_step=last_step,
    )


def _results(messages: Sequence[Message]) -> dict[str, ToolResult]:
    return {p.call_id: p for message in messages for p in message.parts if isinstance(p, ToolResult)}


def _uses(messages: Sequence[Message]) -> tuple[Use, ...]:
    results = _results(messages)
    return tuple(Use(call, results.get(call.id)) for message in messages for call in message.tool_calls)


def _replayed(messages: Sequence[Message]) -> dict[str, str]:
    """The files as these messages leave them; those a person changed by hand are not known any more."""
    results = _results(messages)
    files: dict[str, str] = {}
    for message in messages:
        for part in message.parts:
            match part:
                case Text(text) if message.role == "user":
                    for path in _HAND_CHANGE.findall(text):
                        files.pop(path, None)
                    files.update({found[1]: found[4] for found in _shown_files(text)})
                case Text(text) if fenced := _FENCED_PAGE.search(text):
                    files[ENTRY] = fenced[2]
                case ToolCall() as call if (result := results.get(call.id)) is None or result.ok:
                    _apply(files, call)
                case _:
                    pass
    return files


def _shown_files(text: str) -> list[re.Match[str]]:
    return [found for found in _FILE_IN_TEXT.finditer(text) if found[3] != "diff"]


def _apply(files: dict[str, str], call: ToolCall) -> None:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return
    if not isinstance(arguments, dict):
        return
    path = str(arguments.get("path", ENTRY))
    match call.name:
        case "create_file":
            files[path] = str(arguments.get("content", ""))
        case "edit_file" if path in files:
            files[path] = _edited(files[path], arguments)
        case "delete_file":
            files.pop(path, None)
        case _:
            pass


def _edited(text: str, arguments: Json) -> str:
    for edit in arguments.get("edits") or [arguments]:
        if isinstance(edit, Mapping) and edit.get("old"):
            text = text.replace(str(edit["old"]), str(edit.get("new", "")), int(edit.get("count") or 1))
    return text


def _entry(files: Mapping[str, str]) -> str:
    pages = [path for path in files if path.endswith((".html", ".htm"))]
    return ENTRY if ENTRY in pages or not pages else pages[0]
