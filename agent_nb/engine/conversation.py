"""What a conversation holds: messages from plain `{"role", "content"}` dicts, the files and pages in its texts."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast, get_args

from agent_nb.errors import ConfigError, ToolError
from agent_nb.events import Event, FileDelta, MessageAdded, TurnRetrying, TurnStarted
from agent_nb.files import Files, Workspace, unified_diff
from agent_nb.messages import Image, Message, Part, Role, Text, ToolCall, ToolResult
from agent_nb.tools import Toolbox, ToolContext

ENTRY = "index.html"
_FENCED_PAGE = re.compile(r"```(?:html|HTML)[^\n]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_BARE_PAGE = re.compile(r"<!doctype html.*?(?:</html>|\Z)|<html.*?(?:</html>|\Z)", re.DOTALL | re.IGNORECASE)


def page_in(text: str) -> str | None:
    """The HTML page that a text contains, fenced or bare."""
    found = _FENCED_PAGE.search(text)
    if found and "<" in found[1]:
        return found[1].strip()
    bare = _BARE_PAGE.search(text)
    return bare[0].strip() if bare else None


def images_in(messages: Sequence[Message]) -> tuple[Image, ...]:
    """The pictures that the person has given, in order; not those that tools made."""
    spoken = [part for message in messages if message.role == "user" for part in message.parts]
    return tuple(part for part in spoken if isinstance(part, Image))


def to_message(given: Message | Mapping[str, Any]) -> Message:
    """Our message from ours, or from the `{"role", "content"}` dicts that chat APIs use."""
    if isinstance(given, Message):
        return given
    role = given.get("role") if isinstance(given, Mapping) else None
    if role not in get_args(Role):
        raise ConfigError(f"A message needs a role of system, user, assistant or tool; got {given!r:.80}.")
    parts: list[Part] = []
    content = given.get("content")
    if role == "tool":
        result = ToolResult(
            call_id=str(given.get("tool_call_id", "")),
            name=str(given.get("name", "")),
            text=_as_text(content),
        )
        return Message(role="tool", parts=(result,))
    parts += [Text(text) for text in _texts(content) if text]
    for call in given.get("tool_calls") or ():
        function = call.get("function", call)
        arguments = function.get("arguments", "{}")
        parts.append(
            ToolCall(
                str(call.get("id", "")),
                str(function.get("name", "")),
                arguments if isinstance(arguments, str) else json.dumps(arguments),
            )
        )
    return Message(role=cast("Role", role), parts=tuple(parts))


def _texts(content: Any) -> Iterable[str]:
    if isinstance(content, str):
        return [content]
    if isinstance(content, Sequence):
        return [str(block.get("text", "")) if isinstance(block, Mapping) else str(block) for block in content]
    return []


def _as_text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(_texts(content))


async def files_in(messages: Sequence[Message], toolbox: Toolbox) -> Files:
    """The files a conversation has made: its repeatable tool calls played again, else the page in its text."""
    space = Workspace(Files())
    context = ToolContext(files=space, progress=lambda text: None)
    for call in _calls_that_held(messages):
        try:
            tool, args = toolbox.prepare(call)
            if tool.repeatable and tool.writes(args):
                await toolbox.run(tool, args, context)
        except ToolError:
            continue
    if not space.files:
        pages = [
            page for message in messages if message.role == "assistant" and (page := page_in(message.text))
        ]
        if pages:
            space.write(ENTRY, pages[-1])
    return space.files


def _calls_that_held(messages: Sequence[Message]) -> Iterator[ToolCall]:
    """The calls that did not fail. A result is of the turn before it: vendors use an id again in a later turn."""
    held: list[ToolCall] = []
    failed: set[str] = set()
    for message in reversed(messages):
        failed.update(p.call_id for p in message.parts if isinstance(p, ToolResult) and not p.ok)
        if message.tool_calls:
            held += [call for call in reversed(message.tool_calls) if call.id not in failed]
            failed.clear()
    return reversed(held)


def drafts(events: Sequence[Event]) -> dict[str, str]:
    """The files that the last turn was writing and did not finish, as far as it came."""
    # From the end, because a run that ended by itself has a short last turn and a long one before.
    last_turn = itertools.takewhile(lambda event: not _ends_drafts(event), reversed(events))
    pieces: dict[str, list[str]] = {}
    for event in reversed([event for event in last_turn if isinstance(event, FileDelta)]):
        if event.offset == 0:
            pieces[event.path] = []
        pieces[event.path].append(event.text)
    return {path: "".join(texts) for path, texts in pieces.items()}


def _ends_drafts(event: Event) -> bool:
    if isinstance(event, MessageAdded):
        return event.message.role == "tool"
    return isinstance(event, TurnStarted | TurnRetrying)


def fenced(text: str, language: str = "") -> str:
    """A Markdown code block whose fence is longer than any inside it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def describe_files(files: Files) -> str:
    """Seeded files as the model reads them."""
    blocks = []
    for path, content in files.items():
        language = path.rsplit(".", 1)[-1]
        body = fenced(content, language) if isinstance(content, str) else f"({len(content):,} bytes, binary)"
        blocks.append(f"`{path}`:\n{body}")
    return "Current files:\n\n" + "\n\n".join(blocks)


def describe_edits(before: Files, after: Files) -> str:
    """What the person changed by hand since the last run, told to the model; empty when nothing."""
    told = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if new is None:
            told.append(f"I deleted `{path}`.")
        elif isinstance(new, bytes) or isinstance(old, bytes):
            told.append(f"I replaced `{path}` ({len(new):,} bytes).")
        elif old is None:
            told.append(f"I added `{path}`:\n{fenced(new, path.rsplit('.', 1)[-1])}")
        else:
            told.append(f"I changed `{path}`:\n{fenced(unified_diff(old, new, path), 'diff')}")
    return "\n\n".join(told)
