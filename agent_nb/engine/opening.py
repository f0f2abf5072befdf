"""How a run begins: the conversation before the prompt, the files it starts from, the prompt and its pictures."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from agent_nb.engine.conversation import describe_edits, describe_files, images_in, page_in, to_message
from agent_nb.errors import ConfigError
from agent_nb.files import Files, safe_path
from agent_nb.images.convert import to_image
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
    """Everything a run knows before its first turn."""

    prompt: str
    system: str | None
    """The system text the given messages carried; None to use the default."""
    history: tuple[Message, ...]
    question: Message
    files: Files | None
    """None: to be found in the history."""
    images: tuple[Image, ...] = ()
    """Those that came with the prompt."""
    earlier_images: tuple[Image, ...] = ()
    """Those that the person gave earlier in the conversation."""
    edited: frozenset[str] = frozenset()
    """Files that the person has edited since the base run, and that the question does not show in full."""
    base: str | None = None
    base_variants: tuple[Files, ...] = ()
    """The files of each variant of the base run."""
    stack: str | None = None
    """The stack of the run it goes on from."""

    @property
    def inputs(self) -> tuple[Image, ...]:
        """Every picture the person has given: a number stays with its picture for the whole conversation."""
        return (*self.earlier_images, *self.images)

    def facts(self, files: Files, toolbox: Toolbox) -> Facts:
        """What the messages say of these files and tools, as values."""
        own = (tool.name for tool in toolbox.own if tool.approval == "never")
        return Facts(files=files, edited=self.edited, own_tools=frozenset(own))


async def with_images_read(material: Material) -> Material:
    """What a run is given, with addresses, paths and bytes read off the loop: that may take seconds.

    Figures, arrays and the like are left: they are the caller's, who may change them meanwhile.
    """
    images = [
        await asyncio.to_thread(to_image, image) if isinstance(image, str | bytes | Path | Image) else image
        for image in several(material.get("images"))
    ]
    return {**material, "images": images}


def open_run(
    prompt: str,
    files: Mapping[str, str | bytes] | None,
    images: Any,
    base: Run | None,
    messages: Sequence[Message | Mapping[str, Any]] | None,
) -> Opening:
    """Everything a run begins with; raises where the pieces contradict each other."""
    _check_kinds(prompt, files, base)
    if base is not None and messages is not None:
        raise ConfigError("Give either `base` or `messages`: both are a conversation to go on from.")
    given = [to_message(message) for message in messages or ()]
    spoken = tuple(message for message in given if message.role != "system")
    system = "\n\n".join(message.text for message in given if message.role == "system") or None
    history = base.messages if base is not None else spoken
    pictures = tuple(to_image(image) for image in several(images))
    earlier = images_in(history)
    notes, start = _starting_files(files, base, bool(spoken))
    if pictures and system is None:
        notes.append(image_text(page=_has_page(start, spoken)))
    if pictures and earlier:
        notes.append(image_numbers(len(earlier), len(pictures)))
    parts: tuple[Part, ...] = (Text(prompt), *(Text("\n\n" + note) for note in notes), *pictures)
    return Opening(
        prompt=prompt,
        system=system,
        history=history,
        question=Message(role="user", parts=parts),
        files=start,
        images=pictures,
        earlier_images=earlier,
        edited=_edited_files(base) - {safe_path(path) for path in files or ()},
        base=base.id if base is not None else None,
        base_variants=tuple(variant.files for variant in base.variants) if base is not None else (),
        stack=base.settings.get("stack") if base is not None else None,
    )


def _check_kinds(prompt: object, files: object, base: object) -> None:
    if not isinstance(prompt, str | None):
        raise ConfigError(f"The prompt is a {type(prompt).__name__}, not text. Say what you want made.")
    if not prompt or not prompt.strip():
        raise ConfigError("The prompt is empty. Say what you want made.")
    if not isinstance(files, Mapping | None):
        kind = type(files).__name__
        raise ConfigError(f"`files` is a dict such as {{'index.html': page}}, not a {kind}.")
    if not isinstance(base, Run | None):
        raise ConfigError(f"`base` is the Run to go on from, not a {type(base).__name__}.")


def several(images: Any) -> Iterable[Any]:
    """Pictures, also where only one was given: a path, an array or a figure is one."""
    if images is None:
        return ()
    many = isinstance(images, Sequence | set | Iterator | ValuesView)
    return images if many and not isinstance(images, str | bytes | bytearray | memoryview) else (images,)


def _edited_files(base: Run | None) -> frozenset[str]:
    if base is None or base.given_files is None:
        return frozenset()
    return frozenset(path for path, content in base.given_files.items() if base.files.get(path) != content)


def _has_page(files: Files | None, spoken: Sequence[Message]) -> bool:
    if files is not None:
        return files.entry is not None
    return any(message.tool_calls or page_in(message.text) for message in spoken)


def _starting_files(
    files: Mapping[str, str | bytes] | None, base: Run | None, spoken: bool
) -> tuple[list[str], Files | None]:
    """What the model is told about the files, and the files; None when the conversation holds them."""
    notes: list[str] = []
    start = base.files if base is not None else Files()
    if base is not None and len(base.variants) > 1:
        notes.append(
            f"There are {len(base.variants)} options for the request before; the files are those of option"
            f" {base.variant + 1}."
        )
    if base is not None and base.given_files is not None:
        notes.append(describe_edits(base.given_files, base.files))
    if files:
        seeded = Files(dict(files))
        notes.append(describe_files(seeded))
        for path, content in seeded.items():
            start = start.write(path, content)
    elif spoken:
        return notes, None
    return [note for note in notes if note], start
