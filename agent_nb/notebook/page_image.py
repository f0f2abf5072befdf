"""A small image of a run's page for the saved output, from the same viewer that shows the page to a model."""

import asyncio

from agent_nb._base.threads import off_loop
from agent_nb.images.pillow import opened, saved, top_of
from agent_nb.looking.page_check import DESKTOP, CheckRequest, PageViewer, ViewerUnavailableError
from agent_nb.messages import Image
from agent_nb.run import Run

MAX_BYTES = 30_000
"""40 KB in base64."""
SIZE = 560, 700


async def page_image(viewer: PageViewer | None, run: Run) -> bytes:
    """The top of the run's page as a PNG; empty if there is no page, or nothing can show it."""
    path = run.files.entry
    if viewer is None or path is None or not isinstance(run.files[path], str) or run.reason == "interrupted":
        return b""
    request = CheckRequest(files=run.files, path=path, variant=run.variant, widths=(DESKTOP,))
    try:
        check = await viewer.check(request)
    except (ViewerUnavailableError, asyncio.CancelledError):  # an interrupt ends the wait, not the cell
        return b""
    return await off_loop(_small, check.screenshots[0].image) if check.screenshots else b""


def _small(image: Image) -> bytes:
    small = top_of(opened(image).convert("RGB"), *SIZE)
    sizes = (saved(small.quantize(colours), "PNG", optimize=True) for colours in (256, 64, 16))
    return next((data for data in sizes if len(data) <= MAX_BYTES), b"")
