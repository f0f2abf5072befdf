"""From a press in the widget to a cell that runs, in a real JupyterLab."""

import json

import pytest
from playwright.sync_api import Page, expect

from agent_nb.images.convert import image_size
from tests.support.lab import COUNTED, DEMO, LOAD, MODEL, Lab, keep_screenshot, run_notebook, wait_for_kernel
from tests.support.widget_stage import press_how
from tests.support.wire import Call, Hold, Say, WireServer, reply
from tests.unit.images.test_pasted import PNG

WHOLE = "frame => frame.getBoundingClientRect().bottom <= innerHeight"
NEXT = "%%agent hero_2 --from hero\nMake it darker"


@pytest.fixture
def hero(page: Page, lab: Lab) -> Page:
    """A notebook with a finished run in its third cell, and a cell below it."""
    cells = (LOAD, DEMO, "%%agent hero --pace 0\nA landing page for a bakery in Lyon", "# the last cell")
    run_notebook(page, lab, "next", *cells)
    expect(page.locator(".anb-status .phase").first).to_contain_text("done")
    wait_for_kernel(page)
    return page


def ask(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Ask a question or for a change").first.click()
    page.keyboard.type(text)


def test_enter_inserts_the_next_cell_and_runs_it(hero: Page):
    ask(hero, "Make it darker")
    hero.keyboard.press("Enter")
    expect(hero.locator(".anb-status .phase").nth(1)).to_contain_text("done")
    wait_for_kernel(hero)
    assert hero.evaluate(COUNTED)[3:] == [[NEXT, 5], ["# the last cell", 4]]
    hero.keyboard.type("call it Petit Four")
    hero.keyboard.press("Enter")
    frames = hero.locator(".anb-frame")
    for number in (1, 2):
        expect(frames.nth(number).locator(".anb-chain button").first).to_be_visible()
    hero.wait_for_function(WHOLE, arg=frames.nth(2).element_handle())
    assert frames.locator(".anb-head").evaluate_all("all => all.map(one => one.offsetHeight)") == [40] * 3


TO_CLIPBOARD = """async (data) => {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
    const image = new Blob([bytes], { type: 'image/png' });
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': image })]);
}"""


@pytest.mark.wide
def test_a_pasted_image_is_saved_beside_the_notebook_and_given_to_the_next_run(hero: Page, lab: Lab):
    hero.context.grant_permissions(["clipboard-read", "clipboard-write"])
    hero.evaluate(TO_CLIPBOARD, PNG)
    ask(hero, "Like this")
    hero.keyboard.press("Control+v")
    images = hero.get_by_role("list", name="Images for the next cell").first
    expect(images).to_contain_text("images/hero-1.png")
    keep_screenshot(hero, "pasted")
    hero.keyboard.press("Enter")
    expect(hero.locator(".anb-status .phase").nth(1)).to_contain_text("done")
    wait_for_kernel(hero)
    assert hero.evaluate(COUNTED)[3][0] == "%%agent hero_2 --from hero -i images/hero-1.png\nLike this"
    press_how(hero.locator(".anb-frame").nth(1))
    expect(hero.locator(".anb-given img").last).to_be_visible()
    assert image_size((lab.root / "images" / "hero-1.png").read_bytes()) == (40, 30)
    expect(hero.get_by_role("list", name="Images for the next cell")).to_have_count(0)


@pytest.mark.wide
def test_cells_inserted_behind_the_full_screen_follow_each_other(hero: Page):
    hero.get_by_role("button", name="Full screen").click()
    ask(hero, "Make it darker")
    hero.keyboard.press("Alt+Enter")
    expect(hero.locator(".anb-toast").first).to_have_text("Inserted below: press Escape to see it")
    expect(hero.get_by_role("textbox", name="Ask a question or for a change").first).to_be_focused()
    hero.keyboard.type("Call it Petit Four")
    expect(hero.get_by_role("button", name="Insert after hero_2")).to_be_visible()
    hero.keyboard.press("Enter")
    hero.wait_for_function(f"() => ({COUNTED})().length === 6")
    chained = "%%agent hero_3 --from hero_2\nCall it Petit Four"
    assert hero.evaluate(COUNTED)[3:] == [[NEXT, None], [chained, None], ["# the last cell", 4]]
    hero.evaluate("() => document.exitFullscreen()")


def test_stop_interrupts_a_kernel_that_is_busy_with_python(page: Page, lab: Lab, vendor: WireServer):
    vendor.plan(reply(Call("run_python", {"code": "import time; time.sleep(600)"}, id="toolu_1")))
    cells = (LOAD, f"%%agent spin {MODEL} -t kernel --approve auto\nWait", "spin.reason")
    run_notebook(page, lab, "spin", *cells)
    expect(page.locator(".anb-status .phase").first).to_contain_text("running Python")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".anb-status .phase").first).to_contain_text("stopped")


def test_continue_goes_on_with_the_half_page_under_a_new_name(page: Page, lab: Lab, vendor: WireServer):
    half = json.dumps({"path": "index.html", "content": "<h1>Bakery</h1>\n" + "<p>Bread.</p>\n" * 90})[:-200]
    vendor.plan(reply(Call("create_file", half, id="toolu_1"), Hold()), reply(Say("OK.")))
    run_notebook(page, lab, "half", LOAD, f"%%agent hero {MODEL}\nA page for a bakery")
    expect(page.locator(".anb-ver .which")).to_have_text("v1, streaming")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Kept: index.html v1, unfinished.").wait_for()
    keep_screenshot(page, "write-stopped")
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(page.locator(".anb-status .phase").nth(1)).to_contain_text("done")
    keep_screenshot(page, "continued")
    expect(page.locator(".anb-ver .which").nth(1)).to_have_text("v1, unfinished")
    assert "(cut here)" in json.dumps(vendor.requests[-1].body)
    cells = page.evaluate(COUNTED)
    assert [source for source, _ in cells][2] == "%%agent hero_2 --from hero\nContinue where you stopped."
