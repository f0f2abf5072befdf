"""Headless Chromium looks at a page: what it reports, what the page can reach, and that the browser always ends."""

import asyncio
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import PIL.Image
import psutil
import pytest

from agent_nb import Agent
from agent_nb.files import Files
from agent_nb.pages.chromium import ChromiumViewer
from agent_nb.pages.element_look import ElementRequest
from agent_nb.pages.page_check import MAX_HEIGHT, CheckRequest, PageCheck
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.scripts import write
from tests.support.waiting import PATIENCE
from tests.support.widget_stage import CHROMIUM

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

HOSTILE = """<!doctype html>
<title>Everything at once</title>
<link rel="preconnect" href="http://127.0.0.1:PORT"><link rel="stylesheet" href="http://127.0.0.1:PORT/style">
<h1>Tall</h1><img src="http://127.0.0.1:PORT/image"><img src="lost.png">
<div class="wide" style="width: 600px; height: 40000px"></div>
<script>
debugger;
for (let i = 0; i < 100; i++) setTimeout(() => { throw new Error(`number ${i}`) });
undefinedName();
</script>
<script src="app.js"></script>
<script>
fetch("http://127.0.0.1:PORT/fetch").catch(() => {});
navigator.sendBeacon("http://127.0.0.1:PORT/beacon");
new WebSocket("ws://127.0.0.1:PORT/socket");
const form = document.body.appendChild(document.createElement("form"));
form.action = "http://127.0.0.1:PORT/form";
form.submit();
onload = () => { location = "http://127.0.0.1:PORT/leave?secret" };
window.open("http://127.0.0.1:PORT/open");
</script>
<iframe src="http://127.0.0.1:PORT/frame"></iframe>
"""


@pytest.fixture
async def canary():
    """A port, and the connections that it got."""
    heard: list[object] = []
    async with await asyncio.start_server(lambda *streams: heard.append(streams), "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], heard


def viewer() -> ChromiumViewer:
    return ChromiumViewer(CHROMIUM, sandbox=os.geteuid() != 0)


@pytest.fixture
def profiles(monkeypatch) -> Iterator[Callable[[], list[Path]]]:
    """What the browsers of this test have left on the disk. Chromium needs a short path, for a socket."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield lambda: list(Path(folder).iterdir())


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


async def look(files: dict[str, str | bytes]) -> PageCheck:
    return await viewer().check(CheckRequest(files=files, path="index.html"))


async def test_a_hostile_page_is_seen_and_reaches_nothing(canary, profiles):
    port, heard = canary
    page = HOSTILE.replace("PORT", str(port))
    check = await look({"index.html": page, "app.js": "\n\nboom()\n"})

    assert heard == []
    assert (children(), profiles()) == ([], [])
    errors = {(line.file, line.line, line.text) for line in check.errors}
    assert ("index.html", 9, "Uncaught ReferenceError: undefinedName is not defined") in errors
    assert ("app.js", 3, "Uncaught ReferenceError: boom is not defined") in errors
    assert "97 more messages came from the same lines." in check.notes
    reasons = {load.address: load.reason for load in check.blocked}
    assert reasons["lost.png"] == "there is no such file"
    local = f"http://127.0.0.1:{port}"
    assert {f"{local}/{path}" for path in ("style", "image", "fetch")} <= {*reasons}
    assert check.overflow is not None
    assert check.overflow.selector == "div.wide"
    for shot, width in zip(check.screenshots, (390, 1280), strict=True):
        assert (shot.width, shot.cut, shot.height > 40_000) == (width, True, True)
        assert PIL.Image.open(io.BytesIO(shot.image.data)).size == (width, MAX_HEIGHT)


async def test_a_check_that_is_stopped_leaves_nothing_behind(profiles):
    check = asyncio.create_task(look({"index.html": "<script>while (true) {}</script>"}))
    async with asyncio.timeout(PATIENCE):
        while len(children()) < 5:  # noqa: ASYNC110 - the browser and what it starts
            await asyncio.sleep(0.05)
    started = children()
    check.cancel()
    with pytest.raises(asyncio.CancelledError):
        await check
    assert (children(), profiles()) == ([], [])
    assert not psutil.wait_procs(started, timeout=10)[1]


@pytest.mark.wide
async def test_a_broken_page_is_seen_and_mended():
    broken = '<!doctype html>\n<h1 id="title">...</h1>\n<script>\ntitle.textContent = greeting;\n</script>\n'
    repair = {"old": "= greeting", "new": '= "Bread"'}
    turns = [
        [write(content=broken), call("check_preview")],
        [call("edit_file", {"path": "index.html", "edits": [repair]}), call("check_preview")],
        [text("Done.")],
    ]
    with ScriptedProvider(turns) as provider:
        run = await Agent(provider).with_viewer(viewer()).run("A page for a bakery")
    first, second = run.checks

    assert [(line.line, line.text) for line in first.errors] == [
        (4, "Uncaught ReferenceError: greeting is not defined")
    ]
    assert (second.errors, second.blocked, second.notes, second.overflow) == ((), (), (), None)
    assert first.screenshots[0].image != second.screenshots[0].image
    rules = {(finding.rule, finding.impact, finding.targets) for finding in second.findings}
    assert rules == {("document-title", "serious", ("html",)), ("html-has-lang", "serious", ("html",))}
    assert [len(result.images) for result in (use.result for use in run.tool_uses) if result] == [0, 2, 0, 2]


@pytest.mark.wide
async def test_what_appears_when_it_is_scrolled_to_is_seen_and_what_is_too_wide_is_named_as_in_the_browser():
    page = """<!doctype html><style>body { margin: 0 } div { height: 1200px } .seen { background: rgb(0, 90, 0) }
#wide { width: 500px }</style><div id="wide" class="any"></div><div class="late"></div><script>
new IntersectionObserver((all) => { for (const one of all) if (one.isIntersecting) one.target.className = "seen" })
    .observe(document.querySelector(".late"));
</script>"""
    check = await look({"index.html": page})
    assert check.overflow is not None
    assert (check.overflow.pixels, check.overflow.selector) == (110, "#wide")
    for shot in check.screenshots:
        image = PIL.Image.open(io.BytesIO(shot.image.data)).convert("RGB")
        assert image.getpixel((100, 2000)) == (0, 90, 0)


@pytest.mark.wide
async def test_elements_are_seen():
    page = """<!doctype html><style>body { margin: 0; height: 9000px } h1 { margin: 3000px 0 0 20px; width: 200px;
height: 100px; font: 700 32px/40px serif; background: rgb(200, 0, 0) }</style><p hidden>x</p><h1>Title</h1>
<script>getComputedStyle = () => ({ getPropertyValue: () => "forged" })</script>"""
    request = ElementRequest(
        files=Files({"index.html": page}), path="index.html", selectors=("h1", "h2", "p", "body")
    )
    heading, missing, hidden, body = await viewer().look_at(request)

    assert heading is not None
    assert heading.box == (20, 3000, 200, 100)
    assert (heading.style["font-size"], heading.style["background-color"]) == ("32px", "rgb(200, 0, 0)")
    assert heading.image is not None
    image = PIL.Image.open(io.BytesIO(heading.image.data)).convert("RGB")
    assert (image.size, image.getpixel((190, 90))) == ((200, 100), (200, 0, 0))
    assert missing is None
    assert hidden is not None
    assert hidden.image is None
    assert body is not None
    assert body.image is not None
