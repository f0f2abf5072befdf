"""What a run begins with: the conversation so far, the files, the prompt and its images."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast, get_args

from agent_nb._base.text import fenced, whole_text
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.engine.approval import ApprovalRules
from agent_nb.engine.cost import density, estimate_tokens
from agent_nb.errors import ConfigError, ToolError, check_type
from agent_nb.events import Event, MessageAdded, TextDelta, TurnFinished, TurnRetrying, TurnStarted
from agent_nb.files import Content, Files, Workspace, safe_path, unfinished_files
from agent_nb.files.diffs import unified_diff
from agent_nb.images.convert import to_image
from agent_nb.looking.element_look import Element
from agent_nb.messages import Image, Message, Part, Role, Text, ToolCall, ToolResult
from agent_nb.prompts import has_note, image_numbers, image_text, is_about_elements, shortened_file_note
from agent_nb.providers.base import RequestFacts
from agent_nb.run import Run
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


async def files_in(messages: Sequence[Message], toolbox: Toolbox, rules: ApprovalRules) -> Files:
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


class Material(TypedDict, total=False):
    """What a run may be given besides its prompt."""

    files: Mapping[str, str | bytes] | None
    images: Any
    base: Run | None
    messages: Sequence[Message | Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    prompt: str
    system: str | None
    """System text found in the given messages; None to use the default."""
    history: tuple[Message, ...]
    question: Message
    files: Files | None
    """None if they are to be extracted from the history."""
    images: tuple[Image, ...] = ()
    earlier_images: tuple[Image, ...] = ()
    elements: tuple[Element, ...] = ()
    edited: frozenset[str] = frozenset()
    """Files the user has given or edited since the base run, and that the question does not show in full."""
    shortened: tuple[str, ...] = ()
    """Given files of which the question shows only the first lines."""
    base: Run | None = None
    names: frozenset[str] = frozenset()
    """Names of the notebook that a run which sends no values may mention."""

    @property
    def base_id(self) -> str | None:
        return self.base.id if self.base else None

    @property
    def base_settings(self) -> Json:
        return self.base.settings if self.base else {}

    @property
    def base_variants(self) -> tuple[Files, ...]:
        return tuple(variant.files for variant in self.base.variants) if self.base else ()

    @property
    def inputs(self) -> tuple[Image, ...]:
        """All images of the user, so that an image keeps its number throughout the conversation."""
        return (*self.earlier_images, *self.images)

    def facts(self, files: Files, toolbox: Toolbox) -> RequestFacts:
        asking = frozenset(tool.name for tool in toolbox.own if tool.approval == "ask")
        own = frozenset(tool.name for tool in toolbox.own)
        return RequestFacts(files=files, edited=self.edited, own_tools=own, asking_tools=asking)


async def read_images(images: Any) -> list[Image]:
    """The images that `Agent.prepare` takes, read without blocking the event loop."""
    # Figures, arrays and other objects are converted at once: the caller may change them later.
    files = [
        image if isinstance(image, str | bytes | Path | Image) else to_image(image)
        for image in as_sequence(images)
    ]
    return [await off_loop(to_image, file) for file in files]


def open_run(prompt: str, material: Material, *, can_read: bool) -> Opening:
    """Builds the opening; raises `ConfigError` if the arguments are wrong or contradict each other.

    `can_read` is whether the model has a tool to read files, so that long ones need not be shown in full.
    """
    files, base, messages = material.get("files"), material.get("base"), material.get("messages")
    _check_arguments(prompt, files, base, messages)
    prompt = whole_text(prompt)
    given = [to_message(message) for message in messages or ()]
    spoken = tuple(message for message in given if message.role != "system")
    system = "\n\n".join(message.text for message in given if message.role == "system") or None
    history = base.messages if base is not None else spoken
    own_images = tuple(to_image(image) for image in as_sequence(material.get("images")))
    earlier = images_in(history)
    notes, start = _starting_files(files, base, spoken=bool(spoken), shorten=can_read)
    if own_images and system is None:
        notes.append(image_text(page=_has_page(start, spoken)))
    if own_images and earlier:
        notes.append(image_numbers(len(earlier), len(own_images)))
    shortened = _shortened_files(files, base) if can_read else ()
    edited = _edited_files(base) - {safe_path(path) for path in files or ()}
    return Opening(
        prompt=prompt,
        system=system,
        history=history,
        question=_question(prompt, notes, own_images),
        files=start,
        images=own_images,
        earlier_images=earlier,
        edited=edited.union(shortened),
        shortened=shortened,
        base=base,
    )


def _question(prompt: str, notes: Iterable[str], images: Iterable[Image]) -> Message:
    parts: tuple[Part, ...] = (Text(prompt), *(Text("\n\n" + note) for note in notes), *images)
    return Message(role="user", parts=parts)


def base_density(base: Run | None) -> float:
    """The ratio of actual to estimated tokens in the base run."""
    if base is None:
        return 1.0
    usages = [event.usage for event in base.events.of(TurnFinished)]
    answers = [place for place, message in enumerate(base.messages) if message.role == "assistant"]
    if not usages or not answers:
        return 1.0
    return density(usages[-1].input, estimate_tokens(base.messages[: answers[-1]], base.system, base.tools))


def _check_arguments(prompt: object, files: object, base: object, messages: object) -> None:
    if not isinstance(prompt, str | None):
        raise ConfigError(
            f"The prompt is a {type(prompt).__name__}, not text. Describe what you want to be made."
        )
    if not prompt or not prompt.strip():
        raise ConfigError("The prompt is empty. Describe what you want to be made.")
    check_type("files", files, Mapping | None, "a dict such as {'index.html': page}")
    check_type("base", base, Run | None, "the Run to continue")
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
    """The files that are too long to be shown in full, of those that the user gives now or has added."""
    given = {safe_path(path): content for path, content in (files or {}).items()}
    if base is not None and base.given_files is not None:
        given = {path: base.files[path] for path in base.files if path not in base.given_files} | given
    return tuple(path for path, content in given.items() if is_long(content))


def _has_page(files: Files | None, spoken: Sequence[Message]) -> bool:
    if files is not None:
        return files.entry is not None
    return any(message.tool_calls or page_in(message.text) for message in spoken)


def _starting_files(
    files: Mapping[str, str | bytes] | None, base: Run | None, *, spoken: bool, shorten: bool
) -> tuple[list[str], Files | None]:
    """Notes on the files for the model, and the files; None if they are to be extracted from the messages."""
    notes: list[str] = []
    start = base.files if base is not None else Files()
    if base is not None and len(base.variants) > 1:
        notes.append(
            f"There are {len(base.variants)} options for the request before; the files are those of option"
            f" {base.variant + 1}."
        )
    if base is not None and base.given_files is not None:
        notes.append(describe_edits(base.given_files, base.files, shorten=shorten))
    if files:
        seeded = Files(dict(files))
        notes.append(describe_files(seeded, shorten=shorten))
        for path, content in seeded.items():
            start = start.write(path, content)
    elif spoken:
        return notes, None
    return [note for note in notes if note], start
