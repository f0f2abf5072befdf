"""Pictures that a run makes, in a real JupyterLab: on the card, in the page, in the saved notebook."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import LOAD, MODEL, open_notebook, run_notebook, save, wait_for_kernel
from tests.support.widget_stage import press_how
from tests.support.wire import Call, Say, reply

pytestmark = pytest.mark.wide

PAGE = """<!doctype html><title>Bread</title>
<img id="hero" alt="" src="assets/hero.png">
<div id="oven" style="width:90px;height:90px;background-image:url('assets/oven.png')"></div>
<picture><source srcset="assets/wide.png 2x"><img id="wide" alt="" src="assets/none.png"></picture>"""
IMAGES = [
    {"prompt": "A warm bakery", "path": "assets/hero.png", "aspect": "16:9"},
    {"prompt": "An oven", "path": "assets/oven.png"},
    {"prompt": "A street", "path": "assets/wide.png", "aspect": "21:9"},
]
WIDTHS = "images => images.map(image => image.naturalWidth)"


def assert_images_show(page: Page, frame: str) -> None:
    inside = page.frame_locator(frame).first.frame_locator("iframe")
    expect(inside.locator("#hero")).to_have_js_property("naturalWidth", 960)
    expect(inside.locator("#wide")).to_have_js_property("complete", True)
    drawn = inside.locator("#oven").evaluate("node => getComputedStyle(node).backgroundImage")
    assert drawn.startswith('url("data:image/png;base64,')
    assert inside.locator("#wide").evaluate("node => node.currentSrc").startswith("data:image/png;base64,")


def test_made_images_show_live_and_saved(page, lab, vendor):
    vendor.plan(
        reply(Call("generate_images", {"images": IMAGES})),
        reply(Call("create_file", {"path": "index.html", "content": PAGE})),
        reply(Say("A page with three placeholders.")),
    )
    run_notebook(
        page,
        lab,
        "images",
        f"{LOAD}\n%env AGENT_NB_IMAGES=local",
        f"%%agent hero {MODEL}\nA page for a bakery",
        "print(hero.reason, len(files['assets/hero.png']) > 1000)",
    )
    expect(page.get_by_text("end_turn True")).to_be_visible()
    assert_images_show(page, ".anb-page iframe")
    press_how(page)
    thumbnails = page.locator(".anb-thumb img")
    if not thumbnails.count():
        page.get_by_text("make 3 images").first.click()
    expect(thumbnails).to_have_count(3)
    assert thumbnails.evaluate_all(WIDTHS) == [256, 256, 256]
    expect(page.get_by_text("assets/hero.png, 960 x 540, placeholder").first).to_be_visible()
    save(page)
    text = (lab.root / "images.ipynb").read_text(encoding="utf-8")
    (lab.root / "reopened.ipynb").write_text(text.replace("A page for a bakery", "Reopened"))
    lab.trust("reopened.ipynb")
    open_notebook(page, lab, "reopened.ipynb")
    wait_for_kernel(page)
    assert_images_show(page, ".jp-OutputArea iframe")
