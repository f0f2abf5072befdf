"""Draws the page of a run that has ended."""

import asyncio

from agent_nb._base.constants import is_demo
from agent_nb._base.secrets import has_secret
from agent_nb._base.threads import off_loop
from agent_nb.features.saved_image import SAVED_IMAGE
from agent_nb.plugins import CellCode, CellEnd, Image, Run
from agent_nb.plugins.engine import (
    DESKTOP,
    CheckRequest,
    PageViewer,
    ViewerUnavailableError,
    opened,
    saved,
    top_of,
)

MAX_IMAGE_BYTES = 9_000
"""12 kB in base64."""
IMAGE_FORMS = (560, 256), (560, 64), (560, 16), (400, 64), (400, 16), (280, 16)
"""Width and number of colours of the saved image, the best first; it is at most 1.25 times as high as wide."""
PATIENCE = 5.0


class SavedImage(CellCode[bool]):
    async def before_view(self, end: CellEnd) -> None:
        """Draw a page that the user's browser shows: a new answer of a model, without values of names."""
        run = end.run
        is_seen = end.get(SAVED_IMAGE) and end.is_drawn and end.host.is_attended()
        if is_seen and not (end.is_replay or is_demo(run.model) or run.settings.get("bind")):
            end.image = await page_image(end.viewer, run)


async def page_image(viewer: PageViewer | None, run: Run) -> bytes:
    """The top of the run's page as a PNG; empty if there is no page or no viewer."""
    path = run.files.entry
    if viewer is None or path is None or not isinstance(run.files[path], str) or run.reason == "interrupted":
        return b""
    if any(isinstance(content, str) and has_secret(content) for content in run.files.values()):
        return b""  # a picture cannot be masked
    request = CheckRequest(files=run.files, path=path, variant=run.variant, widths=(DESKTOP,))
    try:
        async with asyncio.timeout(PATIENCE):
            check = await viewer.check(request)
    except (ViewerUnavailableError, TimeoutError, asyncio.CancelledError):
        # An interrupt ends the wait, not the cell.
        return b""
    return await off_loop(_small, check.screenshots[0].image) if check.screenshots else b""


def _small(image: Image) -> bytes:
    pixels = opened(image).convert("RGB")
    forms = (
        saved(top_of(pixels, width, width * 5 // 4).quantize(colours), "PNG", optimize=True)
        for width, colours in IMAGE_FORMS
    )
    return next((data for data in forms if len(data) <= MAX_IMAGE_BYTES), b"")
