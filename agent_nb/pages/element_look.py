"""The rendered appearance of elements of a page, and the viewers that capture it."""

import asyncio
import contextlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from agent_nb.core.messages import Image, Part, Text
from agent_nb.files import Files
from agent_nb.images.pillow import saved
from agent_nb.pages.find_element import Element
from agent_nb.pages.page_check import (
    DESKTOP,
    PageViewer,
    ViewerUnavailableError,
    decoded_png,
    limited_number,
    limited_text,
)
from agent_nb.prompts import about_elements

MAX_SIDE = 400
MAX_IMAGE_BYTES = 60_000
MAX_ELEMENTS = 6
_NAME = re.compile(r"[a-z-]{1,40}")
_MAX_PROPERTIES = 20
_MAX_VALUE = 100
_MAX_PNG = 2_000_000
_MAX_PIXELS = 4_000_000
LOOK_SECONDS = 12.0
"""Timeout for all elements of a request. A missing page takes 5 s of it, the start of Chromium about 1 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementRequest:
    """Elements of one page. `files` contains all files of the run, since the page may use them."""

    files: Files
    path: str
    selectors: tuple[str, ...]
    width: int = DESKTOP
    """Window width in CSS pixels."""
    bound: str = ""
    """See `CheckRequest.bound`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementLook:
    box: tuple[int, int, int, int]
    """Left, top, width and height on the page, in CSS pixels."""
    style: Mapping[str, str]
    """Computed properties that have an effect."""
    width: int
    """Window width in CSS pixels."""
    image: Image | None = None

    def __str__(self) -> str:
        left, top, width, height = self.box
        style = json.dumps(
            "; ".join(f"{name}: {value}" for name, value in self.style.items()), ensure_ascii=False
        )
        return (
            f"{width} x {height} px, at {left} px from the left and {top} px from the top of the page in a window"
            f" {self.width} px wide; computed style {style}"
        )


@runtime_checkable
class ElementViewer(PageViewer, Protocol):
    """A viewer that can also capture single elements."""

    async def look_at(self, request: ElementRequest) -> Sequence[ElementLook | None]:
        """Return the appearance per selector, None if it matches nothing. Raises `ViewerUnavailableError`."""


def read_looks(report: Any, request: ElementRequest) -> list[ElementLook | None]:
    """Parse a report `{elements: [{box, style, png} or null]}`, in the order of the selectors."""
    entries = report.get("elements") if isinstance(report, dict) else None
    entries = entries if isinstance(entries, list) else []
    count = len(request.selectors)
    looks = [_look(entry, request.width) for entry in entries[:count]]
    return [*looks, *[None] * (count - len(looks))]


def _look(entry: Any, width: int) -> ElementLook | None:
    box = entry.get("box") if isinstance(entry, dict) else None
    if not isinstance(box, list) or len(box) != 4:
        return None
    left, top, wide, high = map(limited_number, box)
    style = entry.get("style") if isinstance(entry.get("style"), dict) else {}
    values = (
        (name, limited_text(value, _MAX_VALUE))
        for name, value in style.items()
        if isinstance(value, str) and _NAME.fullmatch(name)
    )
    style = dict(itertools.islice(values, _MAX_PROPERTIES))
    return ElementLook(box=(left, top, wide, high), style=style, width=width, image=_image(entry.get("png")))


def _image(png: Any) -> Image | None:
    pixels = decoded_png(png, _MAX_PNG, _MAX_PIXELS)
    if pixels is None:
        return None
    side = MAX_SIDE
    while True:
        pixels.thumbnail((side, side))
        if len(data := saved(pixels, "PNG")) <= MAX_IMAGE_BYTES:
            return Image(data, "image/png")
        side = side * 3 // 4


async def parts_about(elements: Sequence[Element], viewer: PageViewer | None) -> Sequence[Part]:
    """Describe the elements as the viewer shows them, for the model. Images follow the text."""
    looks: dict[int, ElementLook | None] = {}
    if isinstance(viewer, ElementViewer):
        with contextlib.suppress(TimeoutError, ViewerUnavailableError):
            async with asyncio.timeout(LOOK_SECONDS):
                for page in _pages(elements[:MAX_ELEMENTS]):
                    selectors = tuple(element.path for element in page)
                    request = ElementRequest(files=page[0].files, path=page[0].file, selectors=selectors)
                    looks.update(zip(map(id, page), await viewer.look_at(request), strict=True))
    pairs = [(element.path, looks.get(id(element))) for element in elements]
    images = [(path, look.image) for path, look in pairs if look and look.image]
    lines = [(path, str(look) if look else "") for path, look in pairs]
    text = about_elements(lines, [path for path, _ in images])
    return Text(f"\n\n{text}", "elements"), *(image for _, image in images)


def _pages(elements: Iterable[Element]) -> Iterable[list[Element]]:
    pages: dict[tuple[int, str], list[Element]] = {}
    for element in elements:
        pages.setdefault((id(element.files), element.file), []).append(element)
    return pages.values()
