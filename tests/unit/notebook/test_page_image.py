"""A small image of the page in the saved output, for readers of an untrusted notebook."""

import base64
import io
import re

import PIL.Image

from agent_nb.features.saved_image.cell import MAX_IMAGE_BYTES, page_image
from agent_nb.pages.page_check import CheckRequest, PageCheck, ViewerUnavailableError, read_report
from agent_nb.providers.scripted import text
from agent_nb.render import bundle
from tests.support.page_viewer import ReportingViewer, png_of
from tests.support.scripts import run_script, write


class NoisyViewer:
    async def check(self, request: CheckRequest) -> PageCheck:
        noise = PIL.Image.effect_noise((1280, 1600), 90)
        shot = {"width": 1280, "height": 1600, "png": png_of(noise)}
        return read_report({"screenshots": [shot]}, request, "your browser")


class NoViewer:
    async def check(self, request: CheckRequest) -> PageCheck:
        raise ViewerUnavailableError("nobody is there.")


async def test_the_image_is_small_and_shown_only_to_the_untrusting():
    run = await run_script([write()], [text("Done.")])
    viewer = ReportingViewer()
    image = await page_image(viewer, run)
    assert viewer.requests[0].widths == (1280,)
    assert PIL.Image.open(io.BytesIO(image)).size == (560, 262)
    assert len(await page_image(NoisyViewer(), run)) <= MAX_IMAGE_BYTES

    shown, plain = bundle(run, image)["text/html"], bundle(run)["text/html"]
    assert base64.b64decode(bundle(run, image)["image/png"]) == image
    assert image.startswith(b"\x89PNG")
    (block,) = re.findall(r'<p class="anb-untrusted">(.*?)</p>', shown)
    assert base64.b64encode(image).decode() in block
    assert re.sub(r"<img alt=\"The page\"[^>]*><br>", "", shown) == plain


async def test_there_is_no_image_without_a_page_or_a_viewer():
    run = await run_script([write()], [text("Done.")])
    assert await page_image(None, run) == await page_image(NoViewer(), run) == b""
    assert await page_image(ReportingViewer(), await run_script([text("Done.")])) == b""
    with_key = run.with_files({"index.html": "<p>sk-ant-api03-" + "x9-Y" * 8})
    assert await page_image(ReportingViewer(), with_key) == b"", "a picture cannot be masked"
