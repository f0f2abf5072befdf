"""Reads the report of a viewer, which shares its process with the page: nothing in it is trusted."""

import base64
import io
import math
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar, get_args
from weakref import WeakValueDictionary

from agent_nb._base.text import shortened, showable_text
from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError
from agent_nb.images.pillow import DAMAGE, opened, require_pillow, saved, top_of
from agent_nb.looking.page_check import (
    BlockedLoad,
    CheckRequest,
    ConsoleLine,
    Finding,
    Impact,
    Level,
    Overflow,
    PageCheck,
    Screenshot,
)
from agent_nb.messages import Image

MAX_REPORT = 6_000_000
MAX_HEIGHT = 4096
"""Pixels of a page that a screenshot shows, from the top."""
MAX_IMAGE_BYTES = 300_000
MAX_THUMBNAIL_BYTES = 6_000
_THUMBNAIL = 240, 300
_MAX_PIXELS = 2 * 1280 * MAX_HEIGHT
_MAX_SCREENSHOTS = 4
_MAX_LINES = 20
"""Entries of each list that are kept."""
_MAX_NOTES = 8
_MAX_TARGETS = 3
_MAX_TEXT = 300
_MAX_NUMBER = 1_000_000
MOST_LINES = 200
_LONGEST_LINE = 2000

T = TypeVar("T")


def read_report(report: Any, request: CheckRequest, viewer: str) -> PageCheck:
    """The check in a report. What is wrong with the report is left out and noted. Decodes: call it off the loop.

    The report is `{screenshots: [{width, height, png, cut}], console: [{level, text, line, file}], blocked:
    [{address, reason}], overflow: {pixels, selector}, findings: [{rule, impact, summary, targets}], notes: [text]}`
    with `png` in base64. Every field can be left out.
    """
    data = report if isinstance(report, dict) else {}
    notes = [limited_text(note) for note in _entries(data, "notes", str)][:_MAX_NOTES]

    def read(name: str, one: Callable[[Json], T | None], most: int = _MAX_LINES) -> tuple[T, ...]:
        entries = sorted(_entries(data, name, dict), key=_urgency)
        if len(entries) > most:
            notes.append(f"{len(entries) - most} more entries of `{name}` are left out.")
        return tuple(value for entry in entries[:most] if (value := one(entry)) is not None)

    screenshots = read("screenshots", _screenshot, _MAX_SCREENSHOTS)
    missing = [width for width in request.widths if width not in {shot.width for shot in screenshots}]
    if missing:
        notes.append(f"There is no screenshot at {' and '.join(f'{width} px' for width in missing)}.")
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
    """Puts errors first, so that a page that logs much does not hide them."""
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
    return Finding(
        rule=limited_text(entry.get("rule")),
        impact=impact,
        summary=limited_text(entry.get("summary")),
        targets=tuple(targets),
    )


def _screenshot(entry: Json) -> Screenshot | None:
    pixels = decoded_png(entry.get("png"), MAX_REPORT, _MAX_PIXELS)
    if pixels is None:
        return None
    image, cut = _encoded_again(pixels)
    return Screenshot(
        width=limited_number(entry.get("width")),
        height=limited_number(entry.get("height")),
        image=image,
        cut=cut or bool(entry.get("cut")),
        thumbnail=_thumbnail(image),
    )


def decoded_png(png: Any, most_characters: int, most_pixels: int) -> Any:
    """The pixels of a PNG in base64; None if it is damaged or too large."""
    require_pillow()
    import PIL.Image

    if not isinstance(png, str) or len(png) > most_characters:
        return None
    try:
        with PIL.Image.open(io.BytesIO(base64.b64decode(png, validate=True)), formats=["PNG"]) as opened:
            return opened.convert("RGB") if opened.width * opened.height <= most_pixels else None
    except DAMAGE:
        return None


def _encoded_again(pixels: Any) -> tuple[Image, bool]:
    """The image in a file of ours, and whether it was cut. A PNG suits flat pages, a JPEG those with photos."""
    cut = pixels.height > MAX_HEIGHT
    pixels = pixels.crop((0, 0, pixels.width, MAX_HEIGHT)) if cut else pixels
    png, jpeg = saved(pixels, "PNG"), saved(pixels, "JPEG", quality=80)
    if len(png) <= min(len(jpeg), MAX_IMAGE_BYTES):
        return Image(png, "image/png"), cut
    while len(jpeg) > MAX_IMAGE_BYTES:
        pixels = pixels.resize([max(1, side * 3 // 4) for side in pixels.size])
        jpeg = saved(pixels, "JPEG", quality=80)
    return Image(jpeg, "image/jpeg"), cut


def _thumbnail(image: Image) -> bytes:
    pixels = opened(image)
    width = _THUMBNAIL[0] if pixels.width > _THUMBNAIL[0] * 2 else _THUMBNAIL[0] // 2
    small = top_of(pixels, width, _THUMBNAIL[1])
    sizes = (saved(small, "JPEG", quality=quality) for quality in (70, 50, 30, 10))
    return next((data for data in sizes if len(data) <= MAX_THUMBNAIL_BYTES), b"")


def limited_text(value: Any, most: int = _MAX_TEXT) -> str:
    """At most so many characters of a text that can be shown; empty if the value is none."""
    return shortened(showable_text(value[: most + 1]), most) if isinstance(value, str) else ""


def limited_number(value: Any) -> int:
    if not isinstance(value, int | float) or math.isnan(value):
        return 0
    return round(min(max(value, 0), _MAX_NUMBER))


class PageConsole(dict[int, ConsoleLine]):
    """What a previewed page has logged in this kernel, by number from 1. A line that comes again keeps its number.

    The newest 200 are kept; errors are dropped last.
    """

    _last = 0

    def add(self, entry: Json) -> int:
        """Keeps what the page reports, of which nothing is trusted, and returns its number."""
        line = read_console_line(entry, _LONGEST_LINE)
        known = next((number for number, one in self.items() if one == line), None)
        if known is not None:
            return known
        if len(self) == MOST_LINES:
            others = (number for number, one in self.items() if one.level != "error")
            del self[next(others, next(iter(self)))]
        self._last += 1
        self[self._last] = line
        return self._last

    def __missing__(self, number: object) -> NoReturn:
        raise ConfigError(f"this kernel has no line {number!r} of what the page has logged.")


_consoles: WeakValueDictionary[tuple[str, int], PageConsole] = WeakValueDictionary()


def console_of(run_id: str, variant: int) -> PageConsole:
    """The console of a variant's page, which lasts as long as whoever reports to it keeps it."""
    return _consoles.setdefault((run_id, variant), PageConsole())
