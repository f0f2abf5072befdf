"""Small images of the versions above the version slider, in a real browser."""

import base64
import io
from typing import Any

import PIL.Image

from tests.support.widget_stage import Stage, edited, event, needs_browser, wrote

pytestmark = needs_browser
PAGE = '<!doctype html><html lang="en"><title>t</title><body style="margin:0;background:red"><h1>One</h1>'
END: dict[str, Any] = {"usage": {}, "cost": None, "seconds": 1.0, "error": None}


def versions() -> list[dict[str, Any]]:
    pages = [PAGE.replace("red", colour) for colour in ("lime", "blue")]
    edits = [edited("index.html", number, [[0, 1, page]]) for number, page in enumerate(pages, 2)]
    return [event("turn_started", step=1), *wrote("index.html", PAGE), *edits]


def checked(colour: str) -> list[dict[str, Any]]:
    """The events of a look at the page, with a thumbnail in this colour."""
    buffer = io.BytesIO()
    PIL.Image.new("RGB", (240, 150), colour).save(buffer, "JPEG")
    small = {"width": 1280, "height": 800, "thumbnail": base64.b64encode(buffer.getvalue()).decode()}
    check = {
        "path": "index.html",
        "console": [],
        "blocked": [],
        "overflow": None,
        "findings": [],
        "notes": [],
    }
    outputs = [{"application/vnd.agent-nb.check+json": {**check, "screenshots": [small]}}]
    done = {"ok": True, "summary": "", "seconds": 1.0, "code": None, "hint": "", "outputs": outputs}
    return [
        event("tool_started", call_id="look", name="check_preview", title="look at the page"),
        event("tool_finished", call_id="look", **done),
    ]


def point_at(stage: Stage, version: int) -> None:
    box = stage.widget.get_by_role("slider", name="Version").bounding_box()
    stage.page.mouse.move(box["x"] + box["width"] * (0.02, 0.5, 0.98)[version - 1], box["y"] + 10)


def shown(stage: Stage, version: int) -> PIL.Image.Image:
    image = stage.widget.get_by_role("img", name=f"The page, v{version} of 3")
    image.wait_for()
    address = image.get_attribute("src")
    assert len(address) <= 16_384 + 23
    return PIL.Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("RGB")


def near(image: PIL.Image.Image, colour: tuple[int, int, int]) -> bool:
    found = image.getpixel((200, 80))
    assert isinstance(found, tuple)
    return all(abs(one - other) < 12 for one, other in zip(found, colour, strict=True))


def test_versions_are_seen_before_they_are_chosen(stage: Stage):
    stage.play(versions())
    modules = "() => window.kernel.commands.filter((one) => one.command === 'module' && one.name === 'check').length"
    stage.preview.locator("h1").wait_for()
    point_at(stage, 1)
    stage.widget.locator(".anb-version").wait_for()
    stage.page.wait_for_timeout(400)
    assert stage.page.evaluate(modules) == 0  # nothing is taken during a run

    stage.more(*checked("white"), event("run_finished", reason="end_turn", **END))
    point_at(stage, 3)
    assert near(shown(stage, 3), (255, 255, 255))  # what the model has seen
    assert stage.page.evaluate(modules) == 0
    point_at(stage, 2)
    assert near(shown(stage, 2), (0, 255, 0))
    point_at(stage, 1)
    red = shown(stage, 1)
    assert near(red, (255, 0, 0))
    assert red.width == 240
    assert stage.page.locator("body > iframe").count() == 0
    assert stage.preview.locator("body").evaluate("body => body.style.background") == "blue"

    stage.page.mouse.move(0, 0)
    figure = stage.widget.locator(".anb-version")
    figure.wait_for(state="hidden")
    stage.widget.get_by_role("button", name="Previous version").focus()
    stage.page.keyboard.press("Tab")
    stage.page.keyboard.press("ArrowLeft")
    assert near(shown(stage, 2), (0, 255, 0))
    stage.page.keyboard.press("Escape")
    figure.wait_for(state="hidden")
