"""What a run begins with: the conversation so far, the files, the prompt and its images."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from agent_nb._base.text import whole_text
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.engine.cost import density, estimate_tokens
from agent_nb.engine.history import (
    describe_edits,
    describe_files,
    images_in,
    is_long,
    page_in,
    to_message,
)
from agent_nb.errors import ConfigError, check_type
from agent_nb.events import TurnFinished
from agent_nb.files import Files, safe_path
from agent_nb.images.convert import to_image
from agent_nb.looking.element_look import Element
from agent_nb.messages import Image, Message, Part, Text
from agent_nb.prompts import image_numbers, image_text
from agent_nb.providers.base import Facts
from agent_nb.run import Run
from agent_nb.tools import Toolbox


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

    def facts(self, files: Files, toolbox: Toolbox) -> Facts:
        asking = frozenset(tool.name for tool in toolbox.own if tool.approval == "ask")
        own = frozenset(tool.name for tool in toolbox.own)
        return Facts(files=files, edited=self.edited, own_tools=own, asking_tools=asking)


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
