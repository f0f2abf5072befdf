"""The frozen form where people read it: JupyterLab trusted and not, nbconvert's page, a page of its own."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Dialog, Page, Request, expect

from agent_nb.agent import Agent
from agent_nb.core.errors import ProviderError
from agent_nb.providers.scripted import ScriptedProvider, call, fail, text, think, wait
from agent_nb.render import HTML, bundle, first_frame
from agent_nb.tools import Toolbox, tool
from agent_nb.tools.base import ToolOutput
from tests.support.lab import Lab, open_notebook, write_notebook
from tests.support.waiting import wait_until

HOSTILE = (
    '</script></style><script>top.pwned=1;alert(1)</script>"\'><img src=x onerror="top.pwned=1;alert(2)">'
)
PAGE = """<!doctype html>
<html lang="en"><head><title>Halden</title><link rel="stylesheet" href="style.css"></head>
<body><nav><b>Halden</b> <a href="#book">Book</a> <a href="other.html">Other</a></nav>
<h1>Fall asleep in Berlin.</h1><p id="told"></p><div style="height:1200px"></div><h2 id="book">Book</h2>
<form><input name="q"></form>
<script>
const told = [];
try { localStorage.setItem("a", "1"); told.push("storage " + localStorage.getItem("a")); } catch { told.push("none"); }
try { top.document.title; told.push("parent open"); } catch (e) { told.push("parent " + e.name); }
fetch("https://example.com/").then(() => told.push("fetch open"), () => told.push("fetch refused")).then(() => {
  document.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    told.push("form heard");
  });
  document.querySelector("form").requestSubmit();
  told.push(document.compatMode, getComputedStyle(document.body).backgroundColor);
  document.querySelector("#told").textContent = told.join(", ");
});
</script></body></html>
"""


@tool
def measure(code: str) -> ToolOutput:
    """Measures."""
    table = {"text/html": "<table><tr><th>links</th><td>4</td></tr></table>", "text/plain": "links 4"}
    return ToolOutput(text="links 4\nbroken 0", summary="0 broken", outputs=(table,))


def play(*turns, name):
    async def go():
        with ScriptedProvider(list(turns)) as provider:
            return await Agent(provider, tools=[*Toolbox.default(), measure]).run(HOSTILE)

    with ThreadPoolExecutor() as thread:  # this one has the browser's loop
        run = thread.submit(lambda: asyncio.run(go())).result()
    return replace(run, name=name, key=f"{name}-0123abcdef", model="anthropic:claude-opus-5-5", cost=0.164)


@cache
def hero():
    edit = {"path": "style.css", "old": "#101033", "new": "#1b1b3a"}
    return play(
        [
            think("A night-train company wants **calm**, editorial type."),
            wait(3.1),
            text("One page and its styles."),
            call("create_file", {"path": "index.html", "content": PAGE}),
            call(
                "create_file",
                {"path": "style.css", "content": "body{background:#101033;color:#fff;font:20px serif}"},
            ),
        ],
        [
            wait(1.2),
            text("The sky is too dark."),
            call("edit_file", edit),
            call("edit_file", edit | {"path": "x.css"}),
        ],
        [call("measure", {"code": "links = page.links()\nprint(len(links))"})],
        [
            text(
                "The page is done: one file, no external requests.\n\n- Text on the sky measures *8.1:1* or better."
            )
        ],
        name="hero",
    )


def hostile():
    run = play(
        [
            think(HOSTILE),
            call("create_file", {"path": "a <b> 'c' &.html", "content": HOSTILE}),
            call(HOSTILE, {}),
        ],
        [text(f"# {HOSTILE}\n[x](javascript:alert(3)) ![y](javascript:alert(4)) <svg onload=alert(5)>")],
        name="hostile",
    )
    return replace(run, error=HOSTILE, key=HOSTILE, reason="refusal")


@pytest.fixture(scope="module")
def notebooks(lab):
    failed = play(
        [fail(ProviderError("The model needs a key. Set `ANTHROPIC_API_KEY`, or try `-m demo:`."))],
        name="draft",
    )
    outputs = [
        bundle(hero()),
        bundle(failed),
        first_frame("next-1", "next", "anthropic:claude-opus-5-5"),
        bundle(hostile()),
    ]
    for kind in ("trusted", "untrusted"):
        cells = [(f"%%agent {number}\n# {kind}", [output]) for number, output in enumerate(outputs)]
        write_notebook(lab.root / f"{kind}.ipynb", *cells)
    lab.trust("trusted.ipynb")
    return lab.root


@contextmanager
def watched(page: Page) -> Iterator[Page]:
    """Remembers the dialogs that the page opens, and what it asks the network for."""
    page.alarms = []
    page.asked = []

    def alarm(dialog: Dialog) -> None:
        page.alarms.append(dialog.message)
        dialog.dismiss()

    def ask(request: Request) -> None:
        page.asked.append(request.url)

    page.on("dialog", alarm)
    page.on("request", ask)
    yield page
    page.remove_listener("dialog", alarm)
    page.remove_listener("request", ask)


@pytest.fixture
def page(chromium):
    """A page without JupyterLab."""
    page = chromium.new_page(viewport={"width": 1100, "height": 1000})
    with watched(page):
        yield page
    page.close()


@pytest.fixture(scope="module")
def lab_page(lab_pages, request):
    with lab_pages.lend(request) as page, watched(page):
        page.set_viewport_size({"width": 1100, "height": 1000})
        yield page


def open_in_lab(page: Page, lab: Lab, path: str) -> Page:
    open_notebook(page, lab, path)
    page.get_by_text("is running, or was when this was saved").wait_for(state="attached")
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    return page


@pytest.fixture(scope="module")
def trusted(lab_page, lab, notebooks):
    return open_in_lab(lab_page, lab, "trusted.ipynb")


@pytest.fixture(scope="module")
def untrusted(lab_page, lab, notebooks):
    """Takes the place of `trusted`."""
    return open_in_lab(lab_page, lab, "untrusted.ipynb")


def assert_nothing_ran(page: Page) -> None:
    """To be called after the page inside the preview has reported: other frames have had their time, too."""
    assert page.alarms == []
    assert page.evaluate("window.pwned") is None


def look_at_it(page: Page) -> None:
    """The trusted reading: the page in its frame, code and transcript in folds."""
    run = page.locator("[data-anb-run^=hero]")
    frame = run.frame_locator(".anb-stage iframe").frame_locator("iframe")
    frame.get_by_text("Fall asleep in Berlin.").wait_for()
    told = frame.locator("#told", has_text=",")
    told.wait_for()
    assert told.text_content() == (
        "storage 1, parent SecurityError, fetch refused, form heard, CSS1Compat, rgb(27, 27, 58)"
    )
    assert not run.get_by_text("The page itself is shown").is_visible()
    assert run.get_by_text("The page is done").is_visible()
    assert not run.get_by_text("Thought for 3.1 s", exact=True).is_visible()
    for words in ("Code: 2 files", "Transcript: 5 tool calls", "edit style.css"):
        run.locator("details:not([open]) > summary", has_text=words).first.click()
    assert run.locator("pre", has_text="<h1>Fall asleep in Berlin.</h1>").is_visible()
    assert run.get_by_text("Thought for 3.1 s", exact=True).is_visible()
    assert run.locator(".anb-add").is_visible()
    assert run.locator(".anb-plain").get_by_text("links").is_visible()


def test_a_trusted_notebook_shows_the_page(trusted):
    look_at_it(trusted)
    assert_nothing_ran(trusted)


def test_links_stay_inside_the_preview(trusted):
    frame = trusted.locator("[data-anb-run^=hero]").frame_locator(".anb-stage iframe").frame_locator("iframe")
    frame.get_by_role("link", name="Other").click()
    frame.get_by_role("link", name="Book").click()
    frame.locator("#book").wait_for()
    top = "() => document.scrollingElement.scrollTop"
    wait_until(trusted, lambda: frame.locator("body").evaluate(top) > 100)
    assert not [url for url in trusted.asked if "other.html" in url]


def test_it_takes_the_colours_of_a_dark_theme(trusted):
    change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
    trusted.evaluate(change, "JupyterLab Dark")
    state = trusted.locator("[data-anb-run^=hero] .anb-ok").first
    dark = state.evaluate("node => getComputedStyle(node).color")
    trusted.evaluate(change, "JupyterLab Light")
    expect(state).not_to_have_css("color", dark)


def test_an_untrusted_notebook_reads_as_a_document(untrusted):
    output = untrusted.locator(".jp-Cell").first.locator(".jp-OutputArea-output")
    assert output.get_by_text("hero: done in 4.3 s, claude-opus-5-5").is_visible()
    assert output.get_by_text("The page itself is shown where this notebook is trusted.").is_visible()
    assert output.locator("iframe").count() == 0
    assert not output.get_by_text("One page and its styles.").is_visible()
    assert output.get_by_text("The page is done").is_visible()
    output.get_by_text("Transcript: 5 tool calls, thought for 3.1 s").click()
    assert output.get_by_text("One page and its styles.").is_visible()
    output.locator("summary", has_text="Code: 2 files").click()
    assert output.locator("pre", has_text="<h1>Fall asleep in Berlin.</h1>").is_visible()
    untrusted.wait_for_timeout(300)
    assert_nothing_ran(untrusted)


def test_a_trusted_neighbour_does_not_dress_it(untrusted):
    style = bundle(hero())["text/html"].partition("<style>")[2].partition("</style>")[0]
    untrusted.add_style_tag(content=style)
    assert untrusted.get_by_text(
        "The page itself is shown where this notebook is trusted."
    ).first.is_visible()
    assert untrusted.locator(".jp-Cell").first.get_by_text("Transcript:").is_visible()


@pytest.mark.wide
def test_formulas_are_typeset_and_prices_are_not(lab_page, lab):
    run = play([text("It costs $5 or $6, and $x^2$ more.")], name="price")
    write_notebook(lab.root / "price.ipynb", ("# price", [bundle(run)]))
    lab.trust("price.ipynb")
    open_notebook(lab_page, lab, "price.ipynb")
    answer = lab_page.locator(".jp-Cell [data-anb-run]")
    expect(answer.locator("mjx-container")).to_have_count(1)
    expect(answer).to_contain_text("It costs $5 or $6, and ")


def test_nbconvert_shows_the_page(page, notebooks, tmp_path):
    body, _ = HTMLExporter().from_filename(str(notebooks / "trusted.ipynb"))
    (tmp_path / "page.html").write_text(body, encoding="utf-8")
    page.route(
        "**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort()
    )
    page.goto((tmp_path / "page.html").as_uri(), wait_until="domcontentloaded")
    look_at_it(page)
    assert_nothing_ran(page)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.wide)])
def test_a_page_of_its_own_stands_alone(page, scheme, tmp_path):
    (tmp_path / "run.html").write_text(HTML.render(hero()), encoding="utf-8")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 480 if scheme == "dark" else 1100, "height": 900})
    page.goto((tmp_path / "run.html").as_uri())
    look_at_it(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_nothing_ran(page)


SCROLLED = """() => [...document.querySelectorAll("[data-anb-run] *")].filter((node) =>
  node.scrollHeight > node.clientHeight + 1 && /auto|scroll|hidden/.test(getComputedStyle(node).overflowY)).length"""


@pytest.mark.parametrize("media", ["screen", "print"])
def test_a_saved_data_run_shows_its_answer_and_scrolls_nowhere(page, media):
    code = "\n".join(f"line_{number} = {number}" for number in range(100))
    calls = [[call("measure", {"code": code})] for _ in range(3)]
    run = play(*calls, [text("Nothing is broken.\n\n" * 40 + "That is all.")], name="links")
    page.emulate_media(media=media)
    page.set_content(bundle(run)["text/html"])
    page.get_by_text("70 more lines").first.click()
    assert page.get_by_text("That is all.").is_visible()
    assert page.evaluate(SCROLLED) == 0


def test_a_first_frame_left_alone_shrinks(page):
    page.set_content(first_frame("next-1", "next", "anthropic:claude-opus-5-5")["text/html"])
    height = "() => document.querySelector('.anb-first').getBoundingClientRect().height"
    assert page.evaluate(height) >= 520
    assert not page.get_by_text("or was when this was saved").is_visible()
    page.get_by_text("or was when this was saved").wait_for()
    assert page.evaluate(height) < 120


def test_a_saved_page_has_the_colour_scheme_of_the_browser_in_a_dark_notebook(page):
    html = "<!doctype html><style>:root{color-scheme:light dark}</style><h1>Hello</h1>"
    run = play([call("create_file", {"path": "index.html", "content": html})], [text("Done.")], name="cream")
    page.emulate_media(color_scheme="null")  # Playwright's own would win over the notebook's
    page.set_content(f"<style>:root{{color-scheme:dark}}</style>{bundle(run)['text/html']}")
    body = page.frame_locator("iframe").frame_locator("iframe").locator("body")
    assert body.evaluate("node => getComputedStyle(node).color") == "rgb(0, 0, 0)"
