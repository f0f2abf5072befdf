"""Pictures that a run makes, in a real JupyterLab: on the card, in the live page, and in the saved notebook."""

import os
import shutil

import pytest
from playwright.sync_api import Page, expect

from tests.kernels import KEYS
from tests.lab import (
    keep_screenshot,
    open_browser,
    open_notebook,
    run_all,
    start_lab,
    wait_for_kernel,
    write_notebook,
)
from tests.wire import Call, Say, WireServer, reply

pytestmark = pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Debian's chromium")

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


@pytest.fixture(scope="module")
def server():
    with WireServer.in_thread() as server:
        yield server


@pytest.fixture(scope="module")
def lab(tmp_path_factory, server):
    for name in [name for name in os.environ if name.startswith(KEYS)]:
        del os.environ[name]
    environment = {"ANTHROPIC_API_KEY": "sk-ant-test-key", "ANTHROPIC_BASE_URL": server.base_url("anthropic")}
    with start_lab(tmp_path_factory.mktemp("lab"), environment=environment) as lab:
        yield lab


@pytest.fixture
def page(server):
    with open_browser() as browser:
        yield browser.new_context(viewport={"width": 1280, "height": 900}).new_page()


def assert_pictures_show(page: Page, frame: str) -> None:
    inside = page.frame_locator(frame).first
    expect(inside.locator("#hero")).to_have_js_property("naturalWidth", 960, timeout=20_000)
    expect(inside.locator("#wide")).to_have_js_property("complete", True)
    drawn = inside.locator("#oven").evaluate("node => getComputedStyle(node).backgroundImage")
    assert drawn.startswith('url("data:image/png;base64,')
    assert inside.locator("#wide").evaluate("node => node.currentSrc").startswith("data:image/png;base64,")


def test_made_pictures_show_live_and_saved(page, lab, server):
    server.plan(
        reply(Call("generate_images", {"images": IMAGES})),
        reply(Call("create_file", {"path": "index.html", "content": PAGE})),
        reply(Say("A page with three placeholders.")),
    )
    write_notebook(
        lab.root / "pictures.ipynb",
        "%load_ext agent_nb",
        "%%agent hero -m anthropic:claude-opus-5-5\nA page for a bakery",
        "print(hero.reason, len(files['assets/hero.png']) > 1000)",
    )
    open_notebook(page, lab, "pictures.ipynb")
    run_all(page)
    expect(page.get_by_text("end_turn True")).to_be_visible(timeout=60_000)
    assert_pictures_show(page, ".anb-page iframe")
    thumbnails = page.locator(".anb-thumb img")
    if not thumbnails.count():
        page.get_by_text("make 3 pictures").first.click()
    expect(thumbnails).to_have_count(3)
    assert thumbnails.evaluate_all(WIDTHS) == [256, 256, 256]
    expect(page.get_by_text("assets/hero.png, 960 x 540, placeholder").first).to_be_visible()
    keep_screenshot(page, "lab-pictures")
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_timeout(1000)
    text = (lab.root / "pictures.ipynb").read_text(encoding="utf-8")
    (lab.root / "reopened.ipynb").write_text(text.replace("A page for a bakery", "Reopened"))
    lab.trust("reopened.ipynb")
    open_notebook(page, lab, "reopened.ipynb")
    wait_for_kernel(page)
    assert_pictures_show(page, ".jp-OutputArea iframe")


def test_pictures_made_after_the_page_show(page, lab, server):
    server.plan(
        reply(Call("create_file", {"path": "index.html", "content": PAGE})),
        reply(Call("generate_images", {"images": IMAGES})),
        reply(Say("A page with three placeholders.")),
    )
    cell = "%%agent late -m anthropic:claude-opus-5-5\nA page for a bakery"
    write_notebook(lab.root / "late.ipynb", "%load_ext agent_nb", cell)
    open_notebook(page, lab, "late.ipynb")
    run_all(page)
    expect(page.locator(".anb-status .phase").first).to_contain_text("done", timeout=60_000)
    assert_pictures_show(page, ".anb-page iframe")
