"""The images and PDFs given with a prompt, drawn above the live transcript in a real browser."""

import PIL.Image
import pytest

from agent_nb._base.wire import to_wire
from agent_nb.core.messages import Attachment, Document
from agent_nb.images.convert import thumbnails, to_image
from tests.support.widget_stage import Stage, event, wrote


def begun(*drawings: PIL.Image.Image) -> dict:
    images: list[Attachment] = [
        to_image(drawing, f"shot {number}.png") for number, drawing in enumerate(drawings, 1)
    ]
    images.append(Document(b"%PDF-" + bytes(1_234_000), "paper on bakeries.pdf"))
    told = {"prompt": "p", "model": "demo:", "base": None, "settings": {}}
    return event("run_started", images=to_wire(thumbnails(images)), **told)


def test_given_images_stand_above_the_rows(stage: Stage):
    wide, tall = PIL.Image.new("RGB", (1280, 800), "teal"), PIL.Image.new("RGB", (390, 844), "navy")
    stage.play([begun(wide, tall), *wrote("index.html", "<!doctype html><h1>Made</h1>")])
    stage.preview.get_by_text("Made").wait_for()
    group = stage.widget.get_by_role("group", name="Attached files")
    first, second = group.get_by_role("img").all()
    assert first.get_attribute("alt") == "shot 1.png (1280 x 800)"
    sizes = [image.evaluate("e => [e.naturalWidth, e.naturalHeight]") for image in (first, second)]
    assert sizes == [[160, 100], [74, 160]]
    chip = group.get_by_text("paper on bakeries.pdf (1.2 MB)")
    assert chip.evaluate("e => e.scrollWidth <= e.clientWidth")
    boxes = [image.bounding_box() for image in (first, second)]
    assert boxes[0]["width"] / boxes[0]["height"] == pytest.approx(1.6, rel=0.03)
    assert all(0 < box["height"] <= 80 for box in boxes)
    row = stage.widget.locator(".anb-log li").first.bounding_box()
    assert max(box["y"] + box["height"] for box in boxes) <= row["y"]
