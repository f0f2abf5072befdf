"""Images on their way between tools and files: found by name, requested together, encoded as their path says."""

import asyncio
import base64
import difflib
import posixpath
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from agent_nb._base.threads import in_thread
from agent_nb._base.wire import Json
from agent_nb.errors import AgentError, ConfigError, ProviderError, ToolError
from agent_nb.events import MimeBundle
from agent_nb.files import human_size, media_type, safe_path
from agent_nb.images.pillow import on_white, opened, saved
from agent_nb.messages import Image
from agent_nb.tools.base import ToolContext, ToolOutput

SECONDS = 150.0
"""For one image."""
CALL_SECONDS = 180.0
WAITS = (1.0, 4.0)
"""Before the second and the third attempt, unless the vendor asks for another wait."""
MAX_WAIT = 20.0
MAX_PIXELS = 20_000_000
FOR_THE_MODEL = (768, 150_000)
FOR_THE_USER = (256, 24_000)
"""Longest side and bytes of the copies that are shown; the file is not reduced."""
_FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP"}
T = TypeVar("T")
_INPUT = re.compile(r"input:(\d{1,3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """An image that is ready to be written, and how it is shown."""

    path: str
    content: bytes
    about: str
    """`1536 x 864, 210 kB`"""
    for_model: Image
    for_user: MimeBundle


def image_path(path: str, *, transparent: bool = False) -> str:
    """The normalised path, or a ToolError if an image cannot be saved there."""
    path = safe_path(path)
    kind = media_type(path, b"")
    if kind not in _FORMATS:
        raise ToolError(
            f"{path} is not the path of an image.",
            code="SCHEMA",
            hint="Use a path ending in .png, .jpg or .webp.",
        )
    if transparent and kind == "image/jpeg":
        raise ToolError(
            f"{path}: JPEG has no transparency.", code="SCHEMA", hint="Use a path ending in .png."
        )
    return path


def paths_of(args: Json) -> tuple[str, ...]:
    """Every valid path in the arguments of a call: of one image, or of the images or assets that it names."""
    wanted = args.get("images") or args.get("assets") or [args]
    return tuple(dict.fromkeys(filter(None, (_usable(one.get("path")) for one in wanted))))


def _usable(path: Any) -> str:
    try:
        return image_path(path)
    except Exception:  # rejected when the tool runs
        return ""


def find_image(source: str, context: ToolContext) -> Image:
    """The image with this name: a file of the run, or `input:1` for the first image the user gave."""
    if found := _INPUT.fullmatch(source.strip()):
        given, number = context.images, int(found[1])
        if 1 <= number <= len(given):
            return given[number - 1]
        raise ToolError(f"There is no image input:{number}: the user gave {len(given) or 'none'}.")
    path, files = safe_path(source), context.files.files
    content = files.get(path)
    if isinstance(content, bytes):
        return Image(content, media_type(path, content), path)
    if content is not None:
        raise ToolError(f"{path} is a text file, not an image.")
    binary = [name for name, value in files.items() if isinstance(value, bytes)]
    near = difflib.get_close_matches(path, binary, n=1)
    inputs = [f"input:{number}" for number in range(1, len(context.images) + 1)]
    known = ", ".join([*inputs, *binary][:30])
    raise ToolError(
        f"There is no image {path}.",
        hint=(f"Did you mean {near[0]}? " if near else "")
        + (f"Images: {known}." if known else "There are none yet."),
    )


def checked(image: Image) -> Image:
    """The image upright, in one frame of grey, RGB or RGBA, or a ToolError. Blocks."""
    from agent_nb.images.convert import image_size, to_image

    try:
        width, height = image_size(image.data, image.name)
        if width * height > MAX_PIXELS:
            size = f"{width} x {height}, at most {MAX_PIXELS // 1_000_000} megapixels"
            raise ConfigError(f"{image.name or 'The image'} has too many pixels ({size}).")
        return to_image(image)
    except ConfigError as error:
        raise ToolError(str(error)) from None


def as_file(image: Image, path: str, caption: str = "") -> ImageFile:
    """The image as it will be written to `path`. Blocks."""
    from agent_nb.images.convert import SMALL_COPY, fit_image, image_size

    image = checked(image)
    image = Image(_encoded(image, media_type(path, b"")), media_type(path, b""), posixpath.basename(path))
    width, height = image_size(image.data, path)
    about = f"{width} x {height}, {human_size(len(image.data))}"
    thumbnail = fit_image(image, *FOR_THE_USER)
    fit_image(Image(image.data, image.media_type), *SMALL_COPY)  # caches it for when the page is saved
    description = ", ".join(filter(None, (path, f"{width} x {height}", caption)))
    return ImageFile(
        path=path,
        content=image.data,
        about=about,
        for_model=fit_image(image, *FOR_THE_MODEL),
        for_user={
            thumbnail.media_type: base64.b64encode(thumbnail.data).decode(),
            "text/plain": description,
        },
    )


def _encoded(image: Image, kind: str) -> bytes:
    if image.media_type == kind:
        return image.data
    pixels = opened(image)
    if kind == "image/jpeg" and pixels.mode == "RGBA":
        pixels = on_white(pixels)
    return saved(pixels, _FORMATS[kind], quality=90)


Work = Callable[[], Awaitable[ImageFile]]


async def retried(request: Callable[[], Awaitable[T]]) -> T:
    """Repeats a request to a maker or a cutter while that is busy. Every failure becomes a ToolError."""
    try:
        async with asyncio.timeout(SECONDS):
            for wait in WAITS:
                try:
                    return await request()
                except ProviderError as error:
                    if not error.retryable:
                        raise
                    await asyncio.sleep(
                        min(wait if error.retry_after is None else error.retry_after, MAX_WAIT)
                    )
            return await request()
    except TimeoutError:
        raise ToolError(f"The image took longer than {SECONDS:g} seconds.", code="TIMEOUT") from None
    except ToolError:
        raise
    except AgentError as error:
        raise ToolError(str(error)) from None


async def save_all(work: Mapping[str, Work], context: ToolContext, how: str, note: str = "") -> ToolOutput:
    """Makes all images at once and writes their files in order. The output says why the others failed."""
    done: list[ImageFile] = []
    failed: dict[str, str] = {}
    async with asyncio.TaskGroup() as group:
        tasks = {path: group.create_task(_outcome(one)) for path, one in work.items()}
        for number, (path, task) in enumerate(tasks.items(), 1):
            outcome = await task
            try:
                if isinstance(outcome, AgentError):
                    raise outcome
                context.files.write(outcome.path, outcome.content)
                done.append(outcome)
            except AgentError as error:
                failed[path] = str(error)
            if len(tasks) > 1:
                context.progress(f"{number} of {len(tasks)}")
    if not done:
        reasons = list(dict.fromkeys(failed.values()))
        lines = [f"{path}: {why}" for path, why in failed.items()] if len(reasons) > 1 else reasons
        raise ToolError("\n".join(lines))
    count = "1 image" if len(tasks) == 1 else f"{len(done)} of {len(tasks)} images"
    lines = [f"{one.path}: {one.about}" for one in done]
    lines += [f"{path}: failed: {why}" for path, why in failed.items()]
    return ToolOutput(
        text="\n".join(filter(None, (f"{count} {how}.", *lines, note))),
        summary=f"{count} {how}" + (f"; failed: {', '.join(failed)}" if failed else ""),
        images=tuple(one.for_model for one in done),
        outputs=tuple(one.for_user for one in done),
    )


async def save_one(image: Image, path: str, context: ToolContext, note: str) -> ToolOutput:
    """Writes one image to its file."""
    one = await in_thread(lambda: as_file(image, path))
    context.files.write(one.path, one.content)
    return ToolOutput(
        text=f"{one.path}: {one.about}. {note}".strip(),
        summary=one.about,
        images=(one.for_model,),
        outputs=(one.for_user,),
    )


async def _outcome(work: Work) -> ImageFile | AgentError:
    """The image, or why there is none."""
    try:
        return await work()
    except AgentError as error:
        return error
