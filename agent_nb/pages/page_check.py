"""The result of a page check, the protocol of page viewers, and the parsing of their reports.

A viewer shares its process with the page, so nothing in its report is trusted.
"""

import base64
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Literal, NoReturn, Protocol, TypeVar, get_args
from weakref import WeakValueDictionary

from agent_nb._base.constants import CHECK_TYPE
from agent_nb._base.secrets import shortened
from agent_nb._base.text import showable_text
from agent_nb._base.wire import Json, from_wire, to_wire
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.core.events import MimeBundle
from agent_nb.core.messages import Image
from agent_nb.images.pillow import DAMAGE, PIL, opened, saved, top_of

PHONE, DESKTOP = 390, 1280
WIDTHS = (PHONE, DESKTOP)
"""Widths of the screenshots, in pixels."""

Level = Literal["error", "warning", "info"]
Impact = Literal["serious", "critical"]
MAX_REPORT = 6_000_000
MAX_HEIGHT = 4096
"""Maximum height of a screenshot in pixels, from the top."""
MAX_IMAGE_BYTES = 300_000
MAX_THUMBNAIL_BYTES = 6_000
_THUMBNAIL = 240, 300
_MAX_PIXELS = 2 * 1280 * MAX_HEIGHT
_MAX_SCREENSHOTS = 4
_MAX_LINES = 20
"""Maximum entries of each list."""
_MAX_NOTES = 8
_MAX_TARGETS = 3
_MAX_TEXT = 300
_MAX_NUMBER = 1_000_000
MOST_LINES = 200
_LONGEST_LINE = 2000
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Screenshot:
    """The whole page at one window width."""

    width: int
    """Window width in CSS pixels; the image may be smaller."""
    height: int
    """Height of the whole page in CSS pixels."""
    image: Image
    cut: bool = False
    """Whether a very tall page was truncated."""
    thumbnail: bytes = b""
    """A small JPEG of the page's top, for saved notebooks."""

    @property
    def label(self) -> str:
        text = f"{self.width} px wide, {self.height} px tall"
        return f"{text}, only the top is shown" if self.cut else text


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleLine:
    """A console message or an uncaught error."""

    level: Level
    text: str
    line: int | None = None
    """Line in the file, from 1."""
    file: str = ""

    def __str__(self) -> str:
        """Format the line; the page's text is a JSON string, so that it cannot pose as our text."""
        place = [_string(self.file)] if self.file else []
        place += [f"line {self.line}"] if self.line else []
        return f"{self.level}{' in ' if place else ''}{' '.join(place)}: {_string(self.text)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedLoad:
    """A URL that the page could not load, because of the policy or a failure."""

    address: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    pixels: int
    selector: str
    """The element that overflows most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An accessibility problem reported by axe-core."""

    rule: str
    impact: Impact
    summary: str
    targets: tuple[str, ...] = ()
    """Selectors of the elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCheck:
    path: str
    viewer: str
    """`your browser` or `headless Chromium`."""
    size: int
    """File size in bytes."""
    screenshots: tuple[Screenshot, ...] = ()
    console: tuple[ConsoleLine, ...] = ()
    blocked: tuple[BlockedLoad, ...] = ()
    overflow: Overflow | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What this check does not cover, with the reason."""
    closeness: float | None = None
    """Similarity to the user's image from 0 to 100; None without an image."""

    @property
    def errors(self) -> tuple[ConsoleLine, ...]:
        return tuple(line for line in self.console if line.level == "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """The page to check. `files` contains all files of the run, since the page may use them."""

    files: Mapping[str, str | bytes]
    path: str
    variant: int = 0
    widths: tuple[int, ...] = WIDTHS
    bound: str = ""
    """The script that provides bound values without a kernel. Such a page has no network access."""

    @property
    def size(self) -> int:
        page = self.files[self.path]
        return len(page if isinstance(page, bytes) else page.encode("utf-8", "replace"))


class PageViewer(Protocol):
    """Renders a page and returns a check."""

    async def check(self, request: CheckRequest) -> PageCheck:
        """Check a page in bounded time. Raises `ViewerUnavailableError` if it cannot render pages."""


class ViewerUnavailableError(ToolError):
    """No viewer can render the page now."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The page cannot be shown: {why}", hint="Go on without seeing it, and do not try again."
        )


def outputs_of(check: PageCheck) -> tuple[MimeBundle, ...]:
    """Return the check as MIME bundles: the first without screenshots, then one per screenshot."""
    data: Json = to_wire(check)
    for screenshot in data["screenshots"]:
        del screenshot["image"]
    lines = [*check.notes, *problems_of(check)] or ["No problems."]
    images = ((screenshot.image, screenshot.label) for screenshot in check.screenshots)
    screenshots = ({image.media_type: image.base64, "text/plain": label} for image, label in images)
    return {CHECK_TYPE: data, "text/plain": "\n".join(lines)}, *screenshots


def checks_in(outputs: Iterable[MimeBundle]) -> tuple[PageCheck, ...]:
    """The page checks in the outputs of a call; raises `WireError` if one is damaged."""
    bundles = list(outputs)
    checks = []
    for place, bundle in enumerate(bundles):
        if CHECK_TYPE in bundle:
            data: Json = from_wire(Json, bundle[CHECK_TYPE])
            screenshots = from_wire(tuple[Json, ...], data.get("screenshots", ()))
            images = map(_image_in, chain(bundles[place + 1 :], repeat({})))
            shots = [
                {**shot, "image": to_wire(image)} for shot, image in zip(screenshots, images, strict=False)
            ]
            checks.append(from_wire(PageCheck, {**data, "screenshots": shots}))
    return tuple(checks)


def summary_of(check: PageCheck) -> str:
    """Format as `1 error, 2 blocked loads, overflows at 390 px`, or `no problems`."""
    counts = {
        "error": len(check.errors),
        "blocked load": len(check.blocked),
        "accessibility problem": len(check.findings),
    }
    parts = [f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts.items() if count]
    if check.overflow:
        parts.append(f"{check.overflow.pixels} px too wide for a phone")
    parts = parts or ["no problems"]
    if check.closeness is not None:
        parts.append(f"closeness {check.closeness:.0f} of 100")
    return ", ".join([*parts, *(["incomplete"] if check.notes else [])])


def problems_of(check: PageCheck) -> Iterator[str]:
    """Yield one line per problem, with the page's texts as JSON strings."""
    yield from map(str, check.console)
    for load in check.blocked:
        yield f"not loaded: {_string(load.address)}, {_string(load.reason)}"
    if check.overflow:
        pixels, selector = check.overflow.pixels, _string(check.overflow.selector)
        yield f"wider than {PHONE} px by {pixels} px, because of {selector}"
    for finding in check.findings:
        where = ", ".join(map(_string, finding.targets))
        yield f"accessibility, {finding.impact}, {_string(finding.rule)}: {_string(finding.summary)} {where}"


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _image_in(bundle: Mapping[str, Any]) -> Image:
    kind, data = next((item for item in bundle.items() if item[0].startswith("image/")), ("image/png", ""))
    return Image(from_wire(bytes, data), kind)


def read_report(report: Any, request: CheckRequest, viewer: str) -> PageCheck:
    """Parse a report. Invalid parts are omitted and noted. Decodes images: call it off the loop.

    The report is `{screenshots: [{width, height, png, cut}], console: [{level, text, line, file}], blocked:
    [{address, reason}], overflow: {pixels, selector}, findings: [{rule, impact, summary, targets}], notes: [text]}`
    with `png` in base64. Every field is optional.
    """
    data = report if isinstance(report, dict) else {}
    notes = [limited_text(note) for note in _entries(data, "notes", str)][:_MAX_NOTES]

    def read(name: str, parse: Callable[[Json], T | None], most: int = _MAX_LINES) -> tuple[T, ...]:
        entries = sorted(_entries(data, name, dict), key=_urgency)
        if len(entries) > most:
            notes.append(f"{len(entries) - most} more entries of `{name}` are left out.")
        return tuple(value for entry in entries[:most] if (value := parse(entry)) is not None)

    screenshots = read("screenshots", _screenshot, _MAX_SCREENSHOTS)
    missing_widths = [width for width in request.widths if width not in {shot.width for shot in screenshots}]
    if missing_widths:
        notes.append(f"There is no screenshot at {' and '.join(f'{width} px' for width in missing_widths)}.")
    return PageCheck(
        path=request.path,
        viewer=viewer,
        size=request.size,
        screenshots=screenshots,
        console=read("console", read_console_line),
        blocked=read("blocked", _blocked_load),
        overflow=_overflow(data.get("overflow")),
        findings=read("findings", _finding),
        notes=tuple(notes),
    )


def _entries(data: Json, name: str, kind: type[T]) -> Iterator[T]:
    entries = data.get(name)
    return (entry for entry in entries if isinstance(entry, kind)) if isinstance(entries, list) else iter(())


def _urgency(entry: Json) -> int:
    """Sort key that puts errors first, so that verbose logging does not hide them."""
    levels: tuple[Any, ...] = get_args(Level)
    return levels.index(entry.get("level")) if entry.get("level") in levels else len(levels)


def read_console_line(entry: Json, most: int = _MAX_TEXT) -> ConsoleLine:
    level: Any = "warning" if entry.get("level") == "warn" else entry.get("level")
    return ConsoleLine(
        level=level if level in get_args(Level) else "info",
        text=limited_text(entry.get("text"), most),
        line=limited_number(entry.get("line")) or None,
        file=limited_text(entry.get("file")),
    )


def _blocked_load(entry: Json) -> BlockedLoad:
    return BlockedLoad(address=limited_text(entry.get("address")), reason=limited_text(entry.get("reason")))


def _overflow(entry: Any) -> Overflow | None:
    pixels = limited_number(entry.get("pixels")) if isinstance(entry, dict) else 0
    return Overflow(pixels=pixels, selector=limited_text(entry.get("selector"))) if pixels else None


def _finding(entry: Json) -> Finding | None:
    impact: Any = entry.get("impact")
    if impact not in get_args(Impact):
        return None
    targets = [limited_text(target) for target in _entries(entry, "targets", str)][:_MAX_TARGETS]
    rule, summary = limited_text(entry.get("rule")), limited_text(entry.get("summary"))
    return Finding(rule=rule, impact=impact, summary=summary, targets=tuple(targets))


def _screenshot(entry: Json) -> Screenshot | None:
    pixels = decoded_png(entry.get("png"), MAX_REPORT, _MAX_PIXELS)
    if pixels is None:
        return None
    image, is_cropped = _reencode(pixels)
    return Screenshot(
        width=limited_number(entry.get("width")),
        height=limited_number(entry.get("height")),
        image=image,
        cut=is_cropped or bool(entry.get("cut")),
        thumbnail=_thumbnail(image),
    )


def decoded_png(png: Any, most_characters: int, most_pixels: int) -> Any:
    """Decode a base64 PNG to pixels; None if it is damaged or too large."""
    if not isinstance(png, str) or len(png) > most_characters:
        return None
    try:
        with PIL.Image.open(io.BytesIO(base64.b64decode(png, validate=True)), formats=["PNG"]) as image:
            return image.convert("RGB") if image.width * image.height <= most_pixels else None
    except DAMAGE:
        return None


def _reencode(pixels: Any) -> tuple[Image, bool]:
    """Re-encode the image and return whether it was cropped. PNG suits flat pages, JPEG pages with photos."""
    is_cropped = pixels.height > MAX_HEIGHT
    pixels = pixels.crop((0, 0, pixels.width, MAX_HEIGHT)) if is_cropped else pixels
    png, jpeg = saved(pixels, "PNG"), saved(pixels, "JPEG", quality=80)
    if len(png) <= min(len(jpeg), MAX_IMAGE_BYTES):
        return Image(png, "image/png"), is_cropped
    while len(jpeg) > MAX_IMAGE_BYTES:
        pixels = pixels.resize([max(1, side * 3 // 4) for side in pixels.size])
        jpeg = saved(pixels, "JPEG", quality=80)
    return Image(jpeg, "image/jpeg"), is_cropped


def _thumbnail(image: Image) -> bytes:
    pixels = opened(image)
    width = _THUMBNAIL[0] if pixels.width > _THUMBNAIL[0] * 2 else _THUMBNAIL[0] // 2
    small = top_of(pixels, width, _THUMBNAIL[1])
    sizes = (saved(small, "JPEG", quality=quality) for quality in (70, 50, 30, 10))
    return next((data for data in sizes if len(data) <= MAX_THUMBNAIL_BYTES), b"")


def limited_text(value: Any, most: int = _MAX_TEXT) -> str:
    """Return printable text of at most `most` characters; empty if the value is not a string."""
    return shortened(showable_text(value[: most + 1]), most) if isinstance(value, str) else ""


def limited_number(value: Any) -> int:
    if not isinstance(value, int | float) or math.isnan(value):
        return 0
    return round(min(max(value, 0), _MAX_NUMBER))


class PageConsole(dict[int, ConsoleLine]):
    """Console lines of a previewed page in this kernel, by number from 1. A repeated line keeps its number.

    The newest 200 are kept; errors are dropped last.
    """

    _last = 0

    def add(self, entry: Json) -> int:
        """Store an untrusted console entry and return its number."""
        line = read_console_line(entry, _LONGEST_LINE)
        existing = next((number for number, old in self.items() if old == line), None)
        if existing is not None:
            return existing
        if len(self) == MOST_LINES:
            droppable = (number for number, old in self.items() if old.level != "error")
            del self[next(droppable, next(iter(self)))]
        self._last += 1
        self[self._last] = line
        return self._last

    def __missing__(self, number: object) -> NoReturn:
        raise ConfigError(f"this kernel has no line {number!r} of what the page has logged.")


_consoles: WeakValueDictionary[tuple[str, int], PageConsole] = WeakValueDictionary()


def console_of(run_id: str, variant: int) -> PageConsole:
    """Return the console of a variant's page. It lives as long as its reporter keeps a reference."""
    return _consoles.setdefault((run_id, variant), PageConsole())
