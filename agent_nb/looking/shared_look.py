"""Looks at the elements that a prompt points at, before the first request is sent.

What is found goes with the question, but is no part of what identifies the request, since a replay finds nothing.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from agent_nb.looking.element_look import MAX_ELEMENTS, Element, ElementLook, ElementRequest, ElementViewer
from agent_nb.looking.page_check import PageViewer, ViewerUnavailableError
from agent_nb.messages import Part, Text
from agent_nb.prompts import about_elements

LOOK_SECONDS = 12.0
"""For all elements of a request. A page that is not there takes 5 s of it, the start of Chromium about one."""


class SharedLook:
    """One look at the elements of a request, for all its variants."""

    def __init__(self) -> None:
        self._task: asyncio.Task[tuple[Part, ...]] | None = None
        self._waiting = 0

    async def at(self, elements: Sequence[Element], viewer: PageViewer | None) -> tuple[Part, ...]:
        """What the question says about its elements: a text, and an image of each."""
        if not elements:
            return ()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(_look(elements, viewer))
        self._waiting += 1
        try:
            return await asyncio.shield(self._task)
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._task.cancel()


async def _look(elements: Sequence[Element], viewer: PageViewer | None) -> tuple[Part, ...]:
    looks: dict[_Place, ElementLook] = {}
    if isinstance(viewer, ElementViewer):
        with contextlib.suppress(TimeoutError, ViewerUnavailableError):
            async with asyncio.timeout(LOOK_SECONDS):
                for page in _pages(elements[:MAX_ELEMENTS]):
                    looks |= await _look_at(viewer, page)
    found = [(element.path, looks.get(_place(element))) for element in elements]
    shown = [(path, look.image) for path, look in found if look and look.image]
    lines = [(path, str(look) if look else "") for path, look in found]
    return Text("\n\n" + about_elements(lines, [path for path, _ in shown])), *(image for _, image in shown)


_Place: TypeAlias = tuple[int, str, str]


def _place(element: Element) -> _Place:
    return id(element.files), element.file, element.path


def _pages(elements: Iterable[Element]) -> Iterable[list[Element]]:
    """The elements of each page."""
    pages: dict[tuple[int, str], list[Element]] = {}
    for element in elements:
        pages.setdefault(_place(element)[:2], []).append(element)
    return pages.values()


async def _look_at(viewer: ElementViewer, page: Sequence[Element]) -> dict[_Place, ElementLook]:
    selectors = tuple(element.path for element in page)
    found = await viewer.look_at(ElementRequest(files=page[0].files, path=page[0].file, selectors=selectors))
    return {_place(element): look for element, look in zip(page, found, strict=True) if look}
