"""A small image of a run's page for the saved output, from the same viewer that shows the page to a model."""

import asyncio
import io

from agent_nb._base.threads import off_loop
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
    import PIL.Image

    with PIL.Image.open(io.BytesIO(image.data)) as pixels:
        width, height = SIZE
        height = min(height, max(1, round(pixels.height * width / pixels.width)))
        top = (0, 0, pixels.width, min(pixels.height, height * pixels.width / width))
        small = pixels.convert("RGB").resize((width, height), box=top, reducing_gap=2.0)
    for colours in (256, 64, 16):
        buffer = io.BytesIO()
        small.quantize(colours).save(buffer, "PNG", optimize=True)
        if buffer.tell() <= MAX_BYTES:
            return buffer.getvalue()
    return b""
