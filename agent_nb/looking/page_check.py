"""What a page looks like and reports when it is shown: the values of a check, and what can carry one out."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agent_nb._base.constants import CHECK_TYPE
from agent_nb._base.wire import Json, from_wire, to_wire
from agent_nb.errors import ToolError
from agent_nb.events import MimeBundle
from agent_nb.messages import Image

PHONE, DESKTOP = 390, 1280
WIDTHS = (PHONE, DESKTOP)
"""Widths of the screenshots, in pixels."""
LOOKS = 3
"""How often a model may look at the page in a run, unless the user says otherwise."""

Level = Literal["error", "warning", "info"]
Impact = Literal["serious", "critical"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Screenshot:
    """The page from top to bottom at one width."""

    width: int
    """Of the window, in CSS pixels; the image may be smaller."""
    height: int
    """Of the whole page, in CSS pixels."""
    image: Image
    cut: bool = False
    """Whether the image shows only the top of a very tall page."""
    thumbnail: bytes = b""
    """A small JPEG of the top, for saved notebooks."""

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
    """In the file, from 1."""
    file: str = ""

    def __str__(self) -> str:
        """Texts of the page are JSON strings, so that they cannot be mistaken for the rest."""
        place = [_string(self.file)] if self.file else []
        place += [f"line {self.line}"] if self.line else []
        return f"{self.level}{' in ' if place else ''}{' '.join(place)}: {_string(self.text)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedLoad:
    """An address that the page could not load, because the policy forbids it or because it failed."""

    address: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    pixels: int
    selector: str
    """The element that reaches farthest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem that axe-core has found."""

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
    """Of the file, in bytes."""
    screenshots: tuple[Screenshot, ...] = ()
    console: tuple[ConsoleLine, ...] = ()
    blocked: tuple[BlockedLoad, ...] = ()
    overflow: Overflow | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What is missing from this check, and why."""
    closeness: float | None = None
    """How close the page is to the image that the user gave, from 0 to 100; None if there is no such image."""

    @property
    def errors(self) -> tuple[ConsoleLine, ...]:
        return tuple(line for line in self.console if line.level == "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """The page to look at. `files` holds all files of the run, since the page may use them."""

    files: Mapping[str, str | bytes]
    path: str
    variant: int = 0
    widths: tuple[int, ...] = WIDTHS
    bound: str = ""
    """The script that gives the page its bound values where no kernel does. Such a page loads nothing."""

    @property
    def size(self) -> int:
        page = self.files[self.path]
        return len(page if isinstance(page, bytes) else page.encode("utf-8", "replace"))


class PageViewer(Protocol):
    """Shows a page and reports what it sees."""

    async def check(self, request: CheckRequest) -> PageCheck:
        """Raises `ViewerUnavailableError` if it cannot show any page. Ends in bounded time."""
        ...


class ViewerUnavailableError(ToolError):
    """Nothing can show the page now."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The page cannot be shown: {why}", hint="Go on without seeing it, and do not try again."
        )


class LimitedViewer:
    """A viewer for one run, which may be asked a limited number of times."""

    def __init__(self, viewer: PageViewer, looks: int) -> None:
        self._viewer, self._looks, self._left = viewer, looks, looks

    async def check(self, request: CheckRequest) -> PageCheck:
        if not self._left:
            times = "once" if self._looks == 1 else f"{self._looks} times"
            raise ToolError(
                f"You have looked at the page {times}, which is all that this run allows.",
                code="DENIED",
                hint="Finish from what you have seen, and say what may still need attention.",
            )
        self._left -= 1
        return await self._viewer.check(request)


def outputs_of(check: PageCheck) -> tuple[MimeBundle, ...]:
    """The check as MIME bundles: everything but the screenshots in the first, then one for each screenshot."""
    data: Json = to_wire(check)
    for screenshot in data["screenshots"]:
        del screenshot["image"]
    lines = [*check.notes, *problems_of(check)] or ["No problems."]
    return {CHECK_TYPE: data, "text/plain": "\n".join(lines)}, *map(_image_bundle, check.screenshots)


def checks_in(outputs: Iterable[MimeBundle]) -> tuple[PageCheck, ...]:
    bundles = list(outputs)
    found = []
    for place, bundle in enumerate(bundles):
        if isinstance(data := bundle.get(CHECK_TYPE), Mapping):
            shots = [
                {**shot, "image": to_wire(_image_in(after))}
                for shot, after in zip(data.get("screenshots", ()), bundles[place + 1 :], strict=False)
            ]
            found.append(from_wire(PageCheck, {**data, "screenshots": shots}))
    return tuple(found)


def summary_of(check: PageCheck) -> str:
    """`1 error, 2 blocked loads, overflows at 390 px`, or `no problems`."""
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
    """A line for each problem, with texts of the page as JSON strings."""
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


def _image_bundle(screenshot: Screenshot) -> MimeBundle:
    image = screenshot.image
    return {image.media_type: base64.b64encode(image.data).decode(), "text/plain": screenshot.label}


def _image_in(bundle: Mapping[str, Any]) -> Image:
    kind, data = next((item for item in bundle.items() if item[0].startswith("image/")), ("image/png", ""))
    return Image(base64.b64decode(data), kind)
