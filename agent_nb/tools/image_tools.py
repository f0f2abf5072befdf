"""Image tools: make, edit, cut out, crop and save images as files of the run."""

import asyncio
import contextlib
import posixpath
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from agent_nb._base.threads import in_thread
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError, ConfigError, ProviderError, ToolError
from agent_nb.core.events import MimeBundle
from agent_nb.core.messages import Image
from agent_nb.files import human_size, media_type, safe_path
from agent_nb.images.convert import SMALL_COPY, data_of_url, fit_image, image_size, to_image
from agent_nb.images.download import fetch_https, host_of
from agent_nb.images.maker import ASPECTS, EDITS, INPUTS, Order, Studio
from agent_nb.images.pillow import on_white, opened, saved
from agent_nb.tools.base import Tool, ToolContext, ToolOutput
from agent_nb.tools.schema import described, object_schema, tool_spec

SECONDS = 150.0
CALL_SECONDS = 180.0
WAITS = (1.0, 4.0)
"""Seconds before the second and third attempt, unless the vendor sends a Retry-After."""
MAX_WAIT = 20.0
MAX_PIXELS = 20_000_000
FOR_THE_MODEL = (768, 150_000)
FOR_THE_USER = (256, 24_000)
"""Longest side and byte limit of the copies for display; the file keeps its size."""
_FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP"}
T = TypeVar("T")
_INPUT = re.compile(r"input:(\d{1,3})")
MAX_IMAGES = 8
PADDING = 4
SMALLEST_CROP = 4
PLAIN = "The subject stands alone on a plain, evenly lit, single-coloured background."
_PATH = described("string", "Where to save it, such as assets/hero.png; ends in .png, .jpg or .webp.")
_SOURCE = described("string", "An image: the path of a file, or input:1 for the first image the user gave.")
_ASPECT = described("string", "Width to height; 1:1 by default.", enum=list(ASPECTS))
_TRANSPARENT = described("boolean", "Without a background, for logos and cut-outs.")
_BOX = "[left, top, right, bottom] in thousandths of the image's width and height: [0, 0, 1000, 1000] is all of it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    path: str
    content: bytes
    about: str
    """Dimensions and size, such as `1536 x 864, 210 kB`."""
    for_model: Image
    for_user: MimeBundle


def image_path(path: str, *, transparent: bool = False) -> str:
    """Normalise the path; raises a ToolError if an image cannot be saved there."""
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
    """Return all valid paths in a call's arguments, which describe one image or a list of `images` or `assets`."""
    paths: list[str] = []
    for request in args.get("images") or args.get("assets") or [args]:
        with contextlib.suppress(AgentError):  # the tool rejects it when it runs
            paths.append(image_path(request["path"]))
    return tuple(dict.fromkeys(paths))


def find_image(source: str, context: ToolContext) -> Image:
    if match := _INPUT.fullmatch(source.strip()):
        inputs, number = context.images, int(match[1])
        if 1 <= number <= len(inputs):
            return inputs[number - 1]
        raise ToolError(f"There is no image input:{number}: the user gave {len(inputs) or 'none'}.")
    path, files = safe_path(source), context.files.files
    content = files.get(path)
    if isinstance(content, bytes):
        return Image(content, media_type(path, content), path)
    if content is not None:
        raise ToolError(f"{path} is a text file, not an image.")
    binary = [name for name, value in files.items() if isinstance(value, bytes)]
    references = [f"input:{number}" for number in range(1, len(context.images) + 1)]
    names = ", ".join([*references, *binary][:30])
    raise ToolError(
        f"There is no image {path}.", hint=f"Images: {names}." if names else "There are none yet."
    )


def checked(image: Image) -> Image:
    """Convert to an upright single frame in grey, RGB or RGBA; raises a ConfigError if it cannot. Blocks."""
    width, height = image_size(image.data, image.name)
    if width * height > MAX_PIXELS:
        size = f"{width} x {height}, at most {MAX_PIXELS // 1_000_000} megapixels"
        raise ConfigError(f"{image.name or 'The image'} has too many pixels ({size}).")
    return to_image(image)


def as_file(image: Image, path: str, caption: str = "") -> ImageFile:
    image = checked(image)
    image = Image(_encode(image, media_type(path, b"")), media_type(path, b""), posixpath.basename(path))
    width, height = image_size(image.data, path)
    details = f"{width} x {height}, {human_size(len(image.data))}"
    thumbnail = fit_image(image, *FOR_THE_USER)
    fit_image(Image(image.data, image.media_type), *SMALL_COPY)  # caches it for when the page is saved
    description = ", ".join(filter(None, (path, f"{width} x {height}", caption)))
    return ImageFile(
        path=path,
        content=image.data,
        about=details,
        for_model=fit_image(image, *FOR_THE_MODEL),
        for_user={thumbnail.media_type: thumbnail.base64, "text/plain": description},
    )


def _encode(image: Image, kind: str) -> bytes:
    if image.media_type == kind:
        return image.data
    pixels = opened(image)
    if kind == "image/jpeg" and pixels.mode == "RGBA":
        pixels = on_white(pixels)
    return saved(pixels, _FORMATS[kind], quality=90)


async def retried(request: Callable[[], Awaitable[T]]) -> T:
    """Retry a request to a maker or cutter on retryable errors."""
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


async def save_all(
    requests: Mapping[str, T],
    make: Callable[[str, T], Awaitable[ImageFile]],
    context: ToolContext,
    how: str,
    note: str = "",
) -> ToolOutput:
    """Make all images concurrently and write their files in order. The output lists the failures."""

    async def outcome(path: str, request: T) -> ImageFile | AgentError:
        try:
            return await make(path, request)
        except AgentError as error:
            return error

    images: list[ImageFile] = []
    failed: dict[str, str] = {}
    async with asyncio.TaskGroup() as group:
        tasks = {path: group.create_task(outcome(path, request)) for path, request in requests.items()}
        for number, (path, task) in enumerate(tasks.items(), 1):
            image = await task
            try:
                if isinstance(image, AgentError):
                    raise image
                context.files.write(image.path, image.content)
                images.append(image)
            except AgentError as error:
                failed[path] = str(error)
            if len(tasks) > 1:
                context.progress(f"{number} of {len(tasks)}")
    if not images:
        reasons = list(dict.fromkeys(failed.values()))
        lines = [f"{path}: {why}" for path, why in failed.items()] if len(reasons) > 1 else reasons
        raise ToolError("\n".join(lines))
    count = "1 image" if len(tasks) == 1 else f"{len(images)} of {len(tasks)} images"
    lines = [f"{image.path}: {image.about}" for image in images]
    lines += [f"{path}: failed: {why}" for path, why in failed.items()]
    return ToolOutput(
        text="\n".join(filter(None, (f"{count} {how}.", *lines, note))),
        summary=f"{count} {how}" + (f"; failed: {', '.join(failed)}" if failed else ""),
        images=tuple(image.for_model for image in images),
        outputs=tuple(image.for_user for image in images),
    )


async def save_one(image: Image, path: str, context: ToolContext, note: str) -> ToolOutput:
    file = await in_thread(lambda: as_file(image, path))
    context.files.write(file.path, file.content)
    return ToolOutput(
        text=f"{file.path}: {file.about}. {note}".strip(),
        summary=file.about,
        images=(file.for_model,),
        outputs=(file.for_user,),
    )


async def _generate(args: Json, context: ToolContext) -> ToolOutput:
    studio = _studio(context)
    orders = {
        path: Order(item["prompt"].strip(), item.get("aspect", "1:1"), item.get("transparent", False))
        for path, item in _by_path(args["images"]).items()
    }
    if not all(order.prompt for order in orders.values()):
        raise ToolError("A prompt is empty: say what the image shows.", code="SCHEMA")
    caption = studio.maker.name if studio.maker.note else ""
    prices = [price for order in orders.values() for price in _prices(studio, order)]
    context.charge.expect(prices, _subject(len(orders)))

    async def make(path: str, order: Order) -> ImageFile:
        image = await _make_image(order, context)
        return await in_thread(lambda: as_file(image, path, caption))

    return await save_all(orders, make, context, f"with {studio.maker.name}", studio.maker.note)


async def _edit(args: Json, context: ToolContext) -> ToolOutput:
    studio = _studio(context)
    if not studio.maker.edits:
        raise ToolError(
            "Images cannot be edited here: that needs a key for OpenAI or Gemini.",
            hint="Make a new image, or change the page around it.",
        )
    transparent = args.get("transparent", False)
    path = image_path(args["path"], transparent=transparent)
    sources = [find_image(source, context) for source in (args["source"], *args.get("also", ()))]
    images = await in_thread(lambda: tuple(checked(image) for image in sources))
    order = Order(args["prompt"].strip(), args.get("aspect", ""), transparent, images)
    context.charge.expect(_prices(studio, order), _subject(1))
    image = await _make_image(order, context)
    return await save_one(image, path, context, f"Edited with {studio.maker.name}.")


async def _remove_background(args: Json, context: ToolContext) -> ToolOutput:
    path, studio = image_path(args["path"], transparent=True), _studio(context)
    source = find_image(args["source"], context)
    image = await in_thread(lambda: checked(source))
    context.charge.expect([studio.cutter.price(image)], _subject(1))
    cutout, note = await retried(lambda: studio.cutter.cut_out(image, context.charge))
    return await save_one(cutout, path, context, note)


async def _extract(args: Json, context: ToolContext) -> ToolOutput:
    if not context.images:
        raise ToolError("The user gave no image, so there is nothing to crop.")
    padding = args.get("padding", PADDING)

    async def make(path: str, asset: Json) -> ImageFile:
        image = find_image(asset.get("source", "input:1"), context)
        return await in_thread(lambda: as_file(_crop(image, asset["box"], padding), path))

    return await save_all(_by_path(args["assets"]), make, context, "from the screenshot")


async def _save(args: Json, context: ToolContext) -> ToolOutput:
    async def make(path: str, asset: Json) -> ImageFile:
        return await in_thread(lambda: as_file(_from_anywhere(asset["source"].strip(), context), path))

    return await save_all(_by_path(args["assets"]), make, context, "as files")


def _hosts(args: Json, context: ToolContext) -> Mapping[str, int]:
    """Count the images that a `save_assets` call fetches by host. Invalid URLs fail later."""
    if context.studio is None or not context.studio.online:
        return {}
    counts: Counter[str] = Counter()
    for asset in args["assets"]:
        with contextlib.suppress(ConfigError):
            counts[host_of(asset["source"].strip())] += 1
    return counts


def _by_path(items: Sequence[Json]) -> dict[str, Json]:
    by_path = {image_path(item["path"], transparent=item.get("transparent", False)): item for item in items}
    if len(by_path) < len(items):
        raise ToolError("Two images have the same path: give each its own.", code="SCHEMA")
    return by_path


def _from_anywhere(source: str, context: ToolContext) -> Image:
    """Load an image from a file of the run, an input, a data: or an https: URL; never from disk. Blocks."""
    scheme = source.partition(":")[0].lower()
    if scheme == "data":
        return Image(data_of_url(source), name="the data: URL")
    if scheme == "https":
        if context.studio is None or not context.studio.online:
            raise ToolError("This run is offline: nothing is fetched from the internet.")
        return Image(fetch_https(source, hosts=context.hosts), name=source[:120])
    if "://" in source:
        raise ToolError(f"Images are fetched over https only, not {scheme}.")
    return find_image(source, context)


def _crop(image: Image, box: Sequence[float], padding: int) -> Image:
    """Crop the image to a box in thousandths of its width and height. Blocks."""
    pixels = opened(checked(image))
    width, height = pixels.size
    left, top, right, bottom = box
    if not (0 <= left < right <= 1000 and 0 <= top < bottom <= 1000):
        raise ToolError(
            f"The box {list(box)} is not inside the image.",
            hint="A box is [left, top, right, bottom] in thousandths of the image's width and height, 0 to 1000,"
            f" with left below right and top below bottom. The image has {width} x {height} pixels.",
        )
    edges = (
        max(0, int(left * width / 1000) - padding),
        max(0, int(top * height / 1000) - padding),
        min(width, -int(-right * width // 1000) + padding),
        min(height, -int(-bottom * height // 1000) + padding),
    )
    if edges[2] - edges[0] < SMALLEST_CROP or edges[3] - edges[1] < SMALLEST_CROP:
        raise ToolError(f"The box {list(box)} is too small: the image has {width} x {height} pixels.")
    return Image(saved(pixels.crop(edges), "PNG", optimize=True), "image/png")


async def _make_image(order: Order, context: ToolContext) -> Image:
    """Make an image. The cutter removes the background if the maker does not support transparency."""
    studio, charge = _studio(context), context.charge
    if not _is_cut_after(studio, order):
        return await retried(lambda: studio.maker.make(order, charge))
    plain = replace(order, prompt=f"{order.prompt}\n{PLAIN}", transparent=False)
    opaque = await retried(lambda: studio.maker.make(plain, charge))
    image = await in_thread(lambda: checked(opaque))
    return (await retried(lambda: studio.cutter.cut_out(image, charge)))[0]


def _is_cut_after(studio: Studio, order: Order) -> bool:
    return order.transparent and not studio.maker.transparent


def _prices(studio: Studio, order: Order) -> list[float | None]:
    cutting = [studio.cutter.price(Image(b""))] if _is_cut_after(studio, order) else []
    return [studio.maker.price(order), *cutting]


def _subject(images: int) -> str:
    return "The image" if images == 1 else f"The {images} images"


def _studio(context: ToolContext) -> Studio:
    if context.studio is None:
        raise ToolError("This run cannot make images.", hint="Continue without them.")
    return context.studio


def _many(name: str, description: str, properties: Json, required: tuple[str, ...]) -> Json:
    items = object_schema(properties, required)
    return {name: described("array", description, minItems=1, maxItems=MAX_IMAGES, items=items)}


def _count(args: Json, name: str) -> str:
    count = len(args.get(name) or ())
    return "an image" if count == 1 else f"{count} images" if count else "images"


IMAGE_TOOLS: tuple[Tool, ...] = (
    Tool(
        spec=tool_spec(
            "generate_images",
            "Make images from descriptions and save them as files, which the page refers to by relative path. Request"
            f" all at once, at most {MAX_IMAGES}: they are made in parallel. Each prompt gives subject, style, light"
            " and framing.",
            _many(
                "images",
                "The images to make.",
                {
                    "prompt": described("string", "What the image shows.", minLength=1),
                    "path": _PATH,
                    "aspect": _ASPECT,
                    "transparent": _TRANSPARENT,
                },
                ("prompt", "path"),
            ),
            ("images",),
        ),
        run=_generate,
        title=lambda args: f"make {_count(args, 'images')}",
        served_by=lambda studio: studio.maker.name,
        writes=paths_of,
        timeout=CALL_SECONDS,
    ),
    Tool(
        spec=tool_spec(
            "edit_image",
            "Change an image as the prompt says, and save the result as a file.",
            {
                "source": _SOURCE,
                "prompt": described("string", "What to change, what to keep.", minLength=1),
                "path": _PATH,
                "also": described(
                    "array", "Other images that the prompt refers to.", maxItems=4, items=_SOURCE
                ),
                "aspect": {**_ASPECT, "description": "Width to height; that of the image by default."},
                "transparent": _TRANSPARENT,
            },
            ("source", "prompt", "path"),
        ),
        run=_edit,
        title=lambda args: f"edit {args.get('source') or 'image'}",
        served_by=lambda studio: studio.maker.name if studio.maker.edits else "",
        writes=paths_of,
        needs=frozenset({EDITS}),
        timeout=CALL_SECONDS,
    ),
    Tool(
        spec=tool_spec(
            "remove_background",
            "Cut out the subject of an image: the background becomes transparent. Saved as .png or .webp.",
            {"source": _SOURCE, "path": _PATH},
            ("source", "path"),
        ),
        run=_remove_background,
        title=lambda args: f"cut out {args.get('source') or 'image'}",
        served_by=lambda studio: studio.cutter.name,
        writes=paths_of,
        timeout=CALL_SECONDS,
    ),
    Tool(
        spec=tool_spec(
            "extract_assets",
            "Crop logos, photos and icons out of the images the user gave and save them as files,"
            " so that the page can use the originals.",
            {
                **_many(
                    "assets",
                    "The parts to crop.",
                    {
                        "box": described("array", _BOX, minItems=4, maxItems=4, items={"type": "number"}),
                        "path": _PATH,
                        "source": {**_SOURCE, "description": "Which image; input:1 by default."},
                    },
                    ("box", "path"),
                ),
                "padding": described(
                    "integer", f"Pixels to add on every side; {PADDING} by default.", minimum=0, maximum=200
                ),
            },
            ("assets",),
        ),
        run=_extract,
        title=lambda args: f"crop {_count(args, 'assets')}",
        writes=paths_of,
        needs=frozenset({INPUTS}),
    ),
    Tool(
        spec=tool_spec(
            "save_assets",
            "Save whole images as files: those the user gave (input:1), or from https: and data:"
            " addresses. The user is asked about each https: host.",
            _many(
                "assets",
                "The images to save.",
                {
                    "source": described(
                        "string", "input:1, an https: or data: address, or the path of a file.", minLength=1
                    ),
                    "path": _PATH,
                },
                ("source", "path"),
            ),
            ("assets",),
        ),
        run=_save,
        title=lambda args: f"save {_count(args, 'assets')}",
        writes=paths_of,
        fetches=_hosts,
    ),
)
