"""What a visitor of the live lessons is told when the browser gets in the way; saved runs stay intact."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import keep_screenshot, needs_chromium
from tests.support.lite import START, LiveNotebook, open_watched, serve_site

LESSON = "lite/lab/index.html?path=01_first_run.ipynb"
NO_WEBASSEMBLY = "--js-flags=--jitless"
ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}
FILL = """import pathlib
for number in range(300):
    try:
        pathlib.Path(f"fill{number}").write_text("x" * 5000)
    except OSError as error:
        print(error.strerror)
        break
    await __import__("asyncio").sleep(0.1)"""

pytestmark = [pytest.mark.hosts, needs_chromium]


def expect_note(page: Page, text: str) -> None:
    expect(page.locator(".live-note")).to_contain_text(text)


def test_a_browser_without_webassembly(site):
    with open_watched(NO_WEBASSEMBLY) as (window, _):
        page = window.new_page()
        page.goto(f"{site}/index.html")
        expect_note(page, "This browser has no WebAssembly")
        expect(page.locator("a.live")).to_have_count(0)
        page.goto(f"{site}/{LESSON}")
        expect_note(page, "the lesson cannot run here")
        LiveNotebook(page).wait(for_python=False)
        keep_screenshot(page, "site-no-webassembly")


def test_a_python_that_does_not_arrive(site_folder):
    with serve_site(site_folder, without="pyodide.mjs") as site, open_watched() as (window, _):
        page = window.new_page()
        page.goto(f"{site}/{LESSON}")
        expect_note(page, "Python could not start here")


@pytest.mark.parametrize(("file", "status"), [("pyodide.asm.wasm", 403), ("ipywidgets-*.whl", 200)])
def test_a_file_that_a_network_filter_blocks(site_folder, file, status):
    name = next((site_folder / "lite/static/pyodide").glob(file)).name
    with serve_site(site_folder, without=name, status=status) as site, open_watched() as (window, _):
        page = window.new_page()
        page.goto(f"{site}/{LESSON}")
        expect(page.locator(".live-note")).to_contain_text(f"Python could not load {name}", timeout=START)
        expect(page.locator(".live-progress")).to_have_count(0)
        keep_screenshot(page, f"site-blocked-{status}")


def test_a_host_that_isolates_its_pages(site_folder):
    with serve_site(site_folder, headers=ISOLATED) as site, open_watched() as (window, _):
        notebook = LiveNotebook(window.new_page())
        notebook.page.goto(f"{site}/{LESSON}")
        notebook.wait()
        assert notebook.page.evaluate("crossOriginIsolated")
        notebook.result("%load_ext agent_nb")
        hero = notebook.add("%%agent hero -m demo: --pace 0.1\nA landing page for a bakery in Lyon.")
        shown = hero.frame_locator(".anb-page iframe").first.frame_locator("iframe")
        expect(shown.locator("h1")).to_be_visible()
        notebook.outputs()
        assert notebook.result("hero.reason, list(hero.files)") == "('end_turn', ['index.html'])"
        assert "hero" in notebook.result("%agent runs")


def test_a_full_storage_a_second_tab_and_a_tab_closed_in_mid_run(site):
    with open_watched() as (window, _):
        first = LiveNotebook(window.new_page())
        first.page.goto(f"{site}/{LESSON}")
        first.wait()
        first.result("%load_ext agent_nb")
        first.result("%%agent hero -m demo: --pace 0.1\nA landing page for a bakery in Lyon.")
        first.save()

        developer = window.new_cdp_session(first.page)
        developer.send("Storage.overrideQuotaForOrigin", {"origin": site, "quotaSize": 1000})
        assert "No space left on device\n" in first.result(FILL)
        lost = first.result("%%agent lost -m demo: --pace 0.1\nA landing page for a bakery in Rome.")
        assert "The run could not be saved in .agent_nb: No space left on device." in lost
        expect_note(first.page, "This browser's storage for the site is full")
        keep_screenshot(first.page, "site-storage-full")
        developer.send("Storage.overrideQuotaForOrigin", {"origin": site})

        second = LiveNotebook(window.new_page())
        second.page.goto(f"{site}/{LESSON}")
        expect_note(second.page, "This lesson is open in another tab, too.")
        second.wait()
        keep_screenshot(second.page, "site-second-tab")
        second.result("%load_ext agent_nb")
        second.result("%agent load hero")
        assert second.result("hero.reason, list(hero.files)") == "('end_turn', ['index.html'])"
        slow = second.add("%%agent slow -m demo: --pace 20\nA landing page for a bakery in Paris.")
        expect(slow.locator(".anb-status .phase")).to_contain_text("writing index.html")
        second.page.close()

        assert first.result("hero.reason") == "'end_turn'"
        again = LiveNotebook(window.new_page())
        again.page.goto(f"{site}/{LESSON}")
        again.wait(for_python=False)
        again.cell("%%agent hero -m demo: --pace 0.1")
        expect(again.page.locator("[data-anb-outcome]").last).to_be_visible()
        saved = first.result("%agent runs")
        assert "hero" in saved
        assert "slow" not in saved
