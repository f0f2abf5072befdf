"""The inputs of a run: the conversation so far, the files, the prompt, its images and PDFs."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, cast, get_args

import agent_nb.core.events as ev
from agent_nb._base.text import fenced, whole_text
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, ToolError, check_type, wrong_type
from agent_nb.core.event_list import last_turn
from agent_nb.core.messages import (
    Attachment,
    Document,
    Image,
    Message,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
    user,
)
from agent_nb.engine.approval import ApprovalRules
from agent_nb.files import Content, Files, Workspace, safe_path, unfinished_files
from agent_nb.files.diffs import unified_diff
from agent_nb.images.convert import to_image
from agent_nb.images.pdf import to_attachment
from agent_nb.prompts import (
    document_names,
    image_numbers,
    image_text,
    shortened_file_note,
    unfinished_note,
)
from agent_nb.providers.base import RequestFacts
from agent_nb.run.cut_off import ENTRY, page_in
from agent_nb.run.run import Run
from agent_nb.tools import Toolbox, ToolContext
from agent_nb.tools.base import SCHEMA_PHRASES, Name, Schema

FULL_LENGTH = 50_000
"""User files up to this many characters are shown to the model in full."""
START_LENGTH = 4_000
"""Characters shown of a longer file, if the model can read the rest."""
END_LENGTH = 2_000
"""Characters shown of the end of a file or call that the model had not finished."""
_ONLY_ARGUMENT = re.compile(
    r'\s*\{\s*"\w+"\s*:\s*"((?:[^"\\]|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt])*+)(?:\\(?:u[0-9a-fA-F]{0,3})?|"\s*\}?\s*)?'
)
"""An object with one text, which may end anywhere in the text or after it."""
_EDITS = "I edited files, and this run does not send their contents:"
SCHEMA_PHRASES.update(
    (_EDITS, "\n- deleted `", "\n- changed `", "\n- added `", "`", "There are ", "."),
    (" options for the request before; the files are those of option ",),
)
Messages = Sequence[Message | Mapping[str, Any]]
_ASKS_FOR_PAGE = re.compile(
    r"\b(?:web ?(?:page|site|app)|home ?page|landing page|html|dashboard)s?\b|\.(?:html?|css|js|md|svg)\b"
    r"|\b(?:make|build|create|write|design|draw|generate|change|show|turn|put)\b[^.?!\n]{0,80}\b(?:page|site|slide)s?\b",
    re.IGNORECASE,
)


def attachments_in(messages: Sequence[Message]) -> tuple[Attachment, ...]:
    """The user's images and PDFs in order, without images made by tools or screenshots of elements."""
    user_parts = [_parts_before_elements(message) for message in messages if message.role == "user"]
    return tuple(part for parts in user_parts for part in parts if isinstance(part, Attachment))


def images_in(messages: Sequence[Message]) -> tuple[Image, ...]:
    return tuple(item for item in attachments_in(messages) if isinstance(item, Image))


def _parts_before_elements(message: Message) -> Iterator[Part]:
    return itertools.takewhile(
        lambda part: not (isinstance(part, Text) and part.origin == "elements"), message.parts
    )


def to_message(message: Message | Mapping[str, Any]) -> Message:
    """Convert a chat API dict (`{"role", "content"}`) to a `Message`."""
    if isinstance(message, Message):
        return message
    role = message.get("role") if isinstance(message, Mapping) else None
    if role not in get_args(Role):
        raise ConfigError(f"A message needs a role of system, user, assistant or tool; got {message!r:.80}.")
    content = message.get("content")
    if role == "tool":
        result = ToolResult(
            call_id=str(message.get("tool_call_id", "")),
            name=str(message.get("name", "")),
            text="".join(_texts(content)),
        )
        return Message(role="tool", parts=(result,))
    parts: list[Part] = [Text(text) for text in _texts(content) if text]
    for call in message.get("tool_calls") or ():
        function = call.get("function", call)
        arguments = function.get("arguments", "{}")
        arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
        parts.append(ToolCall(str(call.get("id", "")), str(function.get("name", "")), arguments))
    return Message(role=cast("Role", role), parts=tuple(parts))


def _texts(content: Any) -> Iterator[str]:
    """The texts of a dict's content. Raises `ConfigError` for other blocks, which would be lost."""
    blocks = content if isinstance(content, list | tuple) else [content or ""]
    for block in blocks:
        text = block.get("text") if isinstance(block, Mapping) else block
        if not isinstance(text, str):
            remedy = "Pass images as `images`, or use `messages.Message` with its parts."
            raise ConfigError(f"A block of a message needs a text; got {block!r:.80}. {remedy}")
        yield text


async def files_in(messages: Sequence[Message], toolbox: Toolbox, rules: ApprovalRules) -> Files:
    """Rebuild the files of a conversation from its repeatable calls, or else from the last page in its text."""
    space = Workspace(Files())
    context = ToolContext(files=space, progress=lambda text: None)
    for call in _successful_calls(messages):
        try:
            tool, args = toolbox.prepare(call)
            if rules.repeats(tool) and tool.writes(args):
                await toolbox.run(tool, args, context)
        except ToolError:
            continue
    answers = (message.text for message in reversed(messages) if message.role == "assistant")
    if not space.files and (page := next(filter(None, map(page_in, answers)), None)):
        space.write(ENTRY, page)
    return space.files


def _successful_calls(messages: Sequence[Message]) -> Iterator[ToolCall]:
    """The complete calls that did not fail. Results are matched turn by turn, because vendors reuse call ids."""
    calls: list[ToolCall] = []
    failed: set[str] = set()
    for message in reversed(messages):
        failed.update(p.call_id for p in message.parts if isinstance(p, ToolResult) and not p.ok)
        for call in reversed(message.tool_calls):
            if call.id not in failed and not call.shortened:
                calls.append(call)
        if message.tool_calls:
            failed.clear()
    return reversed(calls)


def describe_unfinished(base: Run) -> str:
    """Text for the model with the ends of the calls that it had written when the run ended; usually empty."""
    turn = last_turn(base.events)
    stops = [event.stop for event in turn.of(ev.TurnFinished)]
    names = {event.call_id: event.name for event in turn.of(ev.ToolStarted)}
    over = {event.call_id for event in turn.of(ev.ToolReady)}
    last = next(reversed(names), "")
    cut = "" if last in over or stops not in ([], ["max_tokens"]) else last
    calls = {event.path: event.call_id for event in turn.of(ev.FileDelta)}
    notes = []

    def add(subject: str, text: str, left: str, call_id: str, language: str = "") -> None:
        note = unfinished_note(subject, len(text), left=left, is_cut=call_id == cut)
        notes.append(f"{note}\n{fenced(text[-END_LENGTH:], language)}" + "\n(cut here)" * (call_id == cut))

    for path, text in unfinished_files(base.events, base.files).items():
        kept = any(text in base.files.versions(each) for each in base.files.paths)
        left = f"`{path}` has what you had written" if kept else "Nothing of it was kept"
        add(f"`{path}`", text, left, calls.get(path, calls.get("", "")), path.rsplit(".", 1)[-1])
    # Calls of a complete turn are in the conversation; no vendor takes an unfinished one back.
    over.update(calls.values(), (end.call_id for end in turn.of(ev.ToolFinished) if end.code != "STOPPED"))
    for call_id in [cut] if stops else names:
        pieces = (piece.text for piece in turn.of(ev.ToolArgsDelta) if piece.call_id == call_id)
        if call_id not in over and (text := _written("".join(pieces))):
            add(f"a call of `{names[call_id]}`", text, "Nothing of it ran", call_id)
    return "\n\n".join(notes)


def _written(arguments: str) -> str:
    """The text in the only argument, such as code, which may be unfinished; otherwise the arguments."""
    only = _ONLY_ARGUMENT.fullmatch(arguments)
    return whole_text(json.loads(f'"{only[1]}"', strict=False)) if only else arguments


def is_long(content: Content) -> bool:
    return isinstance(content, str) and len(content) > FULL_LENGTH


def describe_files(files: Files, *, shorten: bool) -> str:
    """Text for the model with the files. `shorten` shows only the first lines of long files."""
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
    """Text for the model with the user's edits since the last run; empty without edits."""
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


def _edits_without_values(before: Files, after: Files) -> Schema:
    """What a run that sends no values sends instead."""
    parts: list[str | Name] = [_EDITS]
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            verb = "deleted" if path not in after else "changed" if path in before else "added"
            parts += [f"\n- {verb} `", Name(path), "`"]
    return tuple(parts)


def _code(text: str, language: str, *, shorten: bool) -> str:
    if not (shorten and is_long(text)):
        return fenced(text, language)
    start = text[: text.rfind("\n", 0, START_LENGTH) if "\n" in text[:START_LENGTH] else START_LENGTH]
    return f"{fenced(start, language)}\n{shortened_file_note(len(start), len(text))}"


class InputArgs(TypedDict, total=False):
    """The inputs of a run besides its prompt."""

    files: Mapping[str, str | bytes] | None
    images: Any
    base: Run | None
    messages: Messages | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInput:
    prompt: str
    system: str | None
    """System text from `messages`; None for the default."""
    history: tuple[Message, ...]
    question: Message
    files: Files | None
    """None to extract them from the history."""
    images: tuple[Image, ...] = ()
    documents: tuple[Document, ...] = ()
    earlier_images: tuple[Image, ...] = ()
    edited: frozenset[str] = frozenset()
    """Files the user added or edited since the base run that the question does not show in full."""
    shortened: tuple[str, ...] = ()
    """Files of which the question shows only the first lines."""
    base: Run | None = None
    names: frozenset[str] = frozenset()
    """Notebook names that may be sent even with `--data schema`."""
    without_values: Mapping[str, Schema] = field(default_factory=dict)
    """What a run that sends no values sends in place of texts of the question."""
    asked: str = ""
    """The text that is sent in place of the prompt; empty for the prompt itself."""

    @property
    def base_id(self) -> str | None:
        return self.base.id if self.base else None

    @property
    def sent_prompt(self) -> str:
        return self.asked or self.prompt

    def is_about_page(self, prompt: str) -> bool:
        """Whether there is a page, or this prompt or its images ask for one."""
        has_page = self.files is not None and self.files.entry is not None
        return has_page or bool(self.images) or _ASKS_FOR_PAGE.search(prompt) is not None

    def asking(self, text: str) -> "RunInput":
        """The same input, in which this text is sent in place of the prompt."""
        _, *parts = self.question.parts
        return replace(self, asked=text, question=user(text, *parts))

    @property
    def base_settings(self) -> Json:
        return self.base.settings if self.base else {}

    @property
    def base_variants(self) -> tuple[Files, ...]:
        return tuple(variant.files for variant in self.base.variants) if self.base else ()

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The PDFs and images of the question, in its order."""
        return (*self.documents, *self.images)

    @property
    def inputs(self) -> tuple[Image, ...]:
        """All the user's images, so that an image keeps its number throughout the conversation."""
        return (*self.earlier_images, *self.images)

    def facts(self, files: Files, toolbox: Toolbox) -> RequestFacts:
        asking_tools = frozenset(tool.name for tool in toolbox.own if tool.approval == "ask")
        own_tools = frozenset(tool.name for tool in toolbox.own)
        return RequestFacts(files=files, edited=self.edited, own_tools=own_tools, asking_tools=asking_tools)


async def read_images(images: Any) -> list[Attachment]:
    """Read the images and PDFs for `Agent.prepare` without blocking the event loop."""
    # Figures, arrays and other objects are converted first: the caller may change them later.
    files = [
        image if isinstance(image, str | bytes | Path | Attachment) else to_image(image)
        for image in as_sequence(images)
    ]
    return [await off_loop(to_attachment, file) for file in files]


def open_run(prompt: str, input_args: InputArgs, *, can_read: bool) -> RunInput:
    """Build the input of a run; raise `ConfigError` for invalid or contradictory arguments.

    `can_read` is whether the model can read files with a tool, so that long ones may be shortened.
    """
    files, base, messages = input_args.get("files"), input_args.get("base"), input_args.get("messages")
    _check_arguments(prompt, files, base, messages)
    prompt = whole_text(prompt)
    all_messages = [to_message(message) for message in messages or ()]
    conversation = tuple(message for message in all_messages if message.role != "system")
    system = "\n\n".join(message.text for message in all_messages if message.role == "system") or None
    history = base.messages if base is not None else conversation
    own = [to_attachment(item) for item in as_sequence(input_args.get("images"))]
    own_images = tuple(item for item in own if isinstance(item, Image))
    files_once: dict[bytes, Document] = {}
    for item in own:
        if isinstance(item, Document):
            files_once.setdefault(item.data, item)
    documents = tuple(files_once.values())
    earlier_images = images_in(history)
    notes, start = _starting_files(files, base, from_messages=bool(conversation), shorten=can_read)
    texts = [Text(note) for note in notes]
    if base is not None and (cut := describe_unfinished(base)):
        texts.append(Text(f"\n\n{cut}", "unfinished"))
    if own_images and system is None:
        texts.append(Text(f"\n\n{image_text(page=_has_page(start, conversation))}", "images"))
    if own_images and earlier_images:
        texts.append(Text(f"\n\n{image_numbers(len(earlier_images), len(own_images))}", "images"))
    if len(documents) > 1:
        texts.append(Text(f"\n\n{document_names([item.name for item in documents])}", "images"))
    shortened = _shortened_files(files, base) if can_read else ()
    edited = _edited_files(base) - {safe_path(path) for path in files or ()}
    return RunInput(
        prompt=prompt,
        system=system,
        history=history,
        question=user(prompt, *texts, *documents, *own_images),
        files=start,
        images=own_images,
        documents=documents,
        earlier_images=earlier_images,
        edited=edited.union(shortened),
        shortened=shortened,
        base=base,
        without_values={note: other for note, other in notes.items() if other},
    )


def _check_arguments(prompt: object, files: object, base: object, messages: object) -> None:
    if not isinstance(prompt, str | None):
        raise ConfigError(
            f"The prompt is a {type(prompt).__name__}, not text. Describe what the model should make."
        )
    if not prompt or not prompt.strip():
        raise ConfigError("The prompt is empty. Describe what the model should make.")
    check_type("files", files, Mapping | None, "a dict such as {'index.html': page}")
    check_type("base", base, Run | None, "the Run to continue")
    if isinstance(messages, str | Mapping):
        raise wrong_type("messages", messages, "a list of messages")
    if base is not None and messages is not None:
        raise ConfigError("Give either `base` or `messages`, not both: each is a conversation to continue.")


def as_sequence(images: Any) -> Iterable[Any]:
    if images is None:
        return ()
    many = isinstance(images, Sequence | set | Iterator | ValuesView)
    return images if many and not isinstance(images, str | bytes | bytearray | memoryview) else (images,)


def _edited_files(base: Run | None) -> frozenset[str]:
    if base is None or base.given_files is None:
        return frozenset()
    return frozenset(path for path, content in base.given_files.items() if base.files.get(path) != content)


def _shortened_files(files: Mapping[str, str | bytes] | None, base: Run | None) -> tuple[str, ...]:
    """Paths of the user's new files that are too long to be shown in full."""
    inputs = {safe_path(path): content for path, content in (files or {}).items()}
    if base is not None and base.given_files is not None:
        inputs = {path: base.files[path] for path in base.files if path not in base.given_files} | inputs
    return tuple(path for path, content in inputs.items() if is_long(content))


def _has_page(files: Files | None, messages: Sequence[Message]) -> bool:
    if files is not None:
        return files.entry is not None
    return any(message.tool_calls or page_in(message.text) for message in messages)


def _starting_files(
    files: Mapping[str, str | bytes] | None, base: Run | None, *, from_messages: bool, shorten: bool
) -> tuple[dict[str, Schema], Files | None]:
    """Notes for the model, with their text in a run that sends no values if they have one, and the starting files; None
    to extract them from the messages."""
    notes: dict[str, Schema] = {}
    start = base.files if base is not None else Files()
    if base is not None and len(base.variants) > 1:
        note = (
            f"There are {len(base.variants)} options for the request before; the files are those of option"
            f" {base.variant + 1}."
        )
        notes[note] = (note,)
    if base is not None and base.given_files is not None:
        edits = describe_edits(base.given_files, base.files, shorten=shorten)
        notes[edits] = _edits_without_values(base.given_files, base.files)
    if files:
        new_files = Files(dict(files))
        notes[describe_files(new_files, shorten=shorten)] = ()
        for path, content in new_files.items():
            start = start.write(path, content)
    elif from_messages:
        return notes, None
    return {f"\n\n{note}": other for note, other in notes.items() if note}, start
