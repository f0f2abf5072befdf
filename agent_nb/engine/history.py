"""Reads conversations: messages from `{"role", "content"}` dicts, and the files and pages in their texts."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast, get_args

from agent_nb._base.text import fenced
from agent_nb.engine.approval_rules import Rules
from agent_nb.errors import ConfigError, ToolError
from agent_nb.events import Event, MessageAdded, TextDelta, TurnRetrying, TurnStarted
from agent_nb.files import Content, Files, Workspace, unified_diff
from agent_nb.files.unfinished import unfinished_files
from agent_nb.messages import Image, Message, Part, Role, Text, ToolCall, ToolResult
from agent_nb.prompts import is_about_elements, shortened_file_note
from agent_nb.prompts.left_out import has_note
from agent_nb.tools import Toolbox, ToolContext

ENTRY = "index.html"
FULL_LENGTH = 50_000
"""Characters up to which a file of the user is shown to the model in full."""
START_LENGTH = 4_000
"""Characters that are shown of a longer one, if the model can read the rest."""
_FENCED_PAGE = re.compile(r"```(?:html|HTML)[^\n`]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_BARE_PAGE = re.compile(r"<!doctype html.*?(?:</html>|\Z)|<html.*?(?:</html>|\Z)", re.DOTALL | re.IGNORECASE)

_JSON_VALUE = re.compile(r'"\s*:\s*"((?:[^"\\]|\\.)*+)', re.DOTALL)


def page_in(text: str) -> str | None:
    """The HTML page in a text: fenced, bare, or as a string of JSON."""
    found = _FENCED_PAGE.search(text)
    if found and "<" in found[1]:
        return found[1].strip()
    bare = _BARE_PAGE.search(text)
    if bare is None:
        return None
    before = itertools.takewhile(lambda value: value.start() < bare.start(), _JSON_VALUE.finditer(text))
    inside = [value[1] for value in before if bare.start() < value.end()]
    return _page_in_json(inside[0]) if inside else bare[0].strip()


def _page_in_json(characters: str) -> str | None:
    try:
        return page_in(json.loads(f'"{characters}"', strict=False))
    except ValueError:
        return None


def images_in(messages: Sequence[Message]) -> tuple[Image, ...]:
    """The images that the user has given, in order; not those made by tools, nor those of elements."""
    given = [_given_parts(message) for message in messages if message.role == "user"]
    return tuple(part for parts in given for part in parts if isinstance(part, Image))


def _given_parts(message: Message) -> Iterator[Part]:
    return itertools.takewhile(
        lambda part: not (isinstance(part, Text) and is_about_elements(part.text)), message.parts
    )


def to_message(given: Message | Mapping[str, Any]) -> Message:
    """A `Message` from itself, or from a `{"role", "content"}` dict as chat APIs use it."""
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
            text="".join(_texts(content)),
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


async def files_in(messages: Sequence[Message], toolbox: Toolbox, rules: Rules) -> Files:
    """The files made in a conversation: by running again the calls that may be, else the last page in its text."""
    space = Workspace(Files())
    context = ToolContext(files=space, progress=lambda text: None)
    for call in _successful_calls(messages):
        try:
            tool, args = toolbox.prepare(call)
            if rules.repeats(tool) and tool.writes(args):
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


def _successful_calls(messages: Sequence[Message]) -> Iterator[ToolCall]:
    """The calls that did not fail and are complete. Results are matched turn by turn: vendors reuse call ids."""
    calls: list[ToolCall] = []
    failed: set[str] = set()
    for message in reversed(messages):
        failed.update(p.call_id for p in message.parts if isinstance(p, ToolResult) and not p.ok)
        if message.tool_calls:
            calls += [
                call
                for call in reversed(message.tool_calls)
                if call.id not in failed and not has_note(call.arguments)
            ]
            failed.clear()
    return reversed(calls)


def unsaved_files(events: Sequence[Event], files: Files, answer: str, toolbox: Toolbox) -> dict[str, str]:
    """Unfinished files that replace no finished one; else the page in the answer, if no tool could write it."""
    found = {path: text for path, text in unfinished_files(events, files).items() if path not in files}
    could_write = any(tool.stream for tool in toolbox)
    if not found and not (files and could_write) and (page := page_in(answer)):
        return {ENTRY: page}
    return found


def unfinished_text(events: Sequence[Event]) -> str:
    """What the model had said in a turn that was cut off; empty if its message is complete or was withdrawn."""
    texts = []
    for event in reversed(events):
        if isinstance(event, TextDelta):
            texts.append(event.text)
        elif isinstance(event, MessageAdded | TurnStarted | TurnRetrying):
            break
    text = "".join(reversed(texts))
    return text if text.strip() else ""  # vendors refuse blank texts


def is_long(content: Content) -> bool:
    return isinstance(content, str) and len(content) > FULL_LENGTH


def describe_files(files: Files, *, shorten: bool) -> str:
    """The given files, as the model reads them. `shorten` shows only the first lines of long files."""
    blocks = []
    for path, content in files.items():
        language = path.rsplit(".", 1)[-1]
        if isinstance(content, str):
            body = _code(content, language, shorten=shorten)
        else:
            body = f"({len(content):,} bytes, binary)"
        blocks.append(f"`{path}`:\n{body}")
    return "Current files:\n\n" + "\n\n".join(blocks)


def describe_edits(before: Files, after: Files, *, shorten: bool) -> str:
    """The user's own edits since the last run, as the model reads them; empty if there are none."""
    notes = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if new is None:
            notes.append(f"I deleted `{path}`.")
        elif isinstance(new, bytes) or isinstance(old, bytes):
            notes.append(f"I replaced `{path}` ({len(new):,} bytes).")
        elif old is None:
            notes.append(f"I added `{path}`:\n{_code(new, path.rsplit('.', 1)[-1], shorten=shorten)}")
        else:
            diff = unified_diff(old, new, path)
            notes.append(f"I changed `{path}`:\n{_code(diff, 'diff', shorten=shorten)}")
    return "\n\n".join(notes)


def _code(text: str, language: str, *, shorten: bool) -> str:
    if not (shorten and is_long(text)):
        return fenced(text, language)
    start = text[: text.rfind("\n", 0, START_LENGTH) if "\n" in text[:START_LENGTH] else START_LENGTH]
    return f"{fenced(start, language)}\n{shortened_file_note(len(start), len(text))}"
