"""The user's browser as a page viewer: the page that shows the run checks the generated page."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.pages.element_look import ElementLook, ElementRequest, ElementViewer, read_looks
from agent_nb.pages.page_check import (
    CheckRequest,
    PageCheck,
    PageViewer,
    ViewerUnavailableError,
    read_report,
)
from agent_nb.pages.preview import TooLargeError, assembled

MAX_PAGE = 3_000_000
PageInspector: TypeAlias = Callable[[Json], Awaitable[Json]]
"""Returns the browser's report on the page of a message; raises `ViewerUnavailableError` if there is none."""


class LiveViewer:
    """A `PageViewer` for a run with a page. The agent gets it before the run starts; it is attached afterwards."""

    def __init__(self, otherwise: PageViewer | None = None) -> None:
        self._otherwise = otherwise
        self.inspect: PageInspector = _look_nowhere

    async def check(self, request: CheckRequest) -> PageCheck:
        page = {"path": request.path, "variant": request.variant, "widths": [*request.widths]}
        try:
            report = await self.inspect(page)
        except ViewerUnavailableError:
            if self._otherwise is None:
                raise
            return await self._otherwise.check(request)
        return await off_loop(read_report, report, request, "your browser")

    async def look_at(self, request: ElementRequest) -> Sequence[ElementLook | None]:
        try:
            report = await self.inspect(_page_of(request))
        except ViewerUnavailableError:
            if not isinstance(self._otherwise, ElementViewer):
                raise
            return await self._otherwise.look_at(request)
        return await off_loop(read_looks, report, request)


def _page_of(request: ElementRequest) -> Json:
    try:
        html = assembled(request.files, request.path, MAX_PAGE)
    except TooLargeError:
        raise ViewerUnavailableError("it is too large.") from None
    page: Json = {"path": request.path, "variant": 0, "widths": [request.width]}
    return {**page, "selectors": [*request.selectors], "html": html}


async def _look_nowhere(page: Json) -> Json:
    raise ViewerUnavailableError("no browser shows this run.")
