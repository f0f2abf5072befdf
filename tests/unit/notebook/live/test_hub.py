"""The hub by itself: what a page's commands do to the runs they are about."""

import asyncio

import numpy as np
import PIL.Image
import pytest

from agent_nb import Agent, tool
from agent_nb.events import ApprovalRequested
from agent_nb.notebook.live.hub import BUNDLE, Hub
from agent_nb.notebook.live.viewer import LiveViewer
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.page_viewer import ReportingViewer, plain_png
from tests.support.scripts import write


@tool(approval="ask")
def harmless() -> str:
    """Does nothing."""
    return "nothing"


@tool(approval="ask")
def dangerous() -> str:
    """Does much."""
    return "much"


class Desk:
    """A hub whose messages are kept, and commands to it."""

    def __init__(self) -> None:
        self.hub, self.sent = Hub(), []
        self.hub.model.send = lambda message, *_: self.sent.append(message)

    def show(self, handle, key):
        handle.label("hero", key)
        run = self.hub.follow(handle)
        run.stream.watched.set()
        return run

    def command(self, name, /, **fields):
        message = {"kind": "command", "id": f"#{len(self.sent)}", "client": "page", "command": name, **fields}
        self.hub._on_message(None, message, None)
        return next(one for one in self.sent if isinstance(one, dict) and one.get("id") == message["id"])


@pytest.fixture
async def desk():
    return Desk()


async def questions(run, count):
    """Waits until so many questions are open."""
    for _ in range(1000):
        if len(run._questions) == count:
            return
        await asyncio.sleep(0.01)
    pytest.fail("nothing was asked")


async def test_always_is_for_the_tool_that_was_asked_about(desk):
    first = ScriptedProvider([[call("harmless", id="call_0")], [text("Done.")]], name="scripted:first")
    second = ScriptedProvider(
        [[call("dangerous", id="call_0")], [call("dangerous", id="call_1")], [text("Done.")]],
        name="scripted:second",
    )
    race = Agent(first, tools=[harmless, dangerous]).race("Do it.", models=[first, second])
    shown = desk.show(race, "hero-1")
    await questions(shown, 2)
    assert desk.command("approve", key="hero-1", variant=0, call_id="call_0", always=True)["ok"]
    assert desk.command("deny", key="hero-1", variant=1, call_id="call_0")["ok"]
    await questions(shown, 1)
    assert desk.command("deny", key="hero-1", variant=1, call_id="call_1")["ok"]
    run = await race
    assert [use.result.code for use in run.variants[1].tool_uses] == ["DENIED", "DENIED"]


async def test_always_asks_no_second_time(desk):
    provider = ScriptedProvider([[call("harmless")], [call("harmless")], [text("Done.")]])
    handle = Agent(provider, tools=[harmless]).start("Do it.")
    shown = desk.show(handle, "hero-1")
    await questions(shown, 1)
    (asked,) = [event for event in handle.events if isinstance(event, ApprovalRequested)]
    assert desk.command("approve", key="hero-1", call_id=asked.call_id, always=True)["ok"]
    run = await handle
    assert [use.result.text for use in run.tool_uses] == ["nothing", "nothing"]


async def test_a_run_that_has_not_begun_answers_hello(desk):
    picture = PIL.Image.fromarray(np.zeros((900, 900, 3), dtype="uint8"))
    handle = Agent(ScriptedProvider([[text("Done.")]])).start("Look.", images=[picture])
    desk.show(handle, "hero-1")
    assert not handle.events
    answer = desk.command("hello", key="hero-1")
    assert answer["ok"]
    assert answer["run_id"] == handle.id
    assert not [message for message in desk.sent if message is not answer], "there is nothing to tell yet"
    await handle


async def test_a_window_that_is_closed_gives_up_its_buttons(desk, monkeypatch):
    run = desk.show(Agent(ScriptedProvider([[text("Done.")]])).start("Go."), "k")
    monkeypatch.setattr("agent_nb.notebook.live.run.OWNER_PATIENCE", 0)

    def owners():
        return [(one["client"], one["confirm"]) for one in desk.sent if one["kind"] == "owner"]

    assert desk.command("hello", key="k", client="first")["owner"]
    assert not desk.command("hello", key="k", client="second")["owner"]
    desk.command("own", run_id=run.id, client="first")  # it is still open
    await asyncio.sleep(0.05)
    assert owners() == [("first", True)]
    assert run.owner == "first"
    assert not desk.command("hello", key="k", client="second")["owner"]
    await asyncio.sleep(0.05)  # this time it is closed
    assert owners()[1:] == [("first", True), ("second", False)]
    desk.command("own", run_id=run.id, client="third")
    assert owners()[-1] == ("third", False)
    assert desk.command("hello", key="k", client="third")["owner"]


async def look(desk, viewer, answer):
    """Runs a model that looks at its page, while the page answers the check with `answer(message)`."""
    desk.sent.clear()
    provider = ScriptedProvider([[write()], [call("check_preview")], [text("Done.")]])
    handle = Agent(provider).with_viewer(viewer).start("A page")
    handle.label("hero", "hero-1")
    desk.hub.follow(handle)
    desk.command("hello", key="hero-1")
    for _ in range(1000):
        checks = [one for one in desk.sent if one["kind"] == "check"]
        if checks or handle.done:
            break
        await asyncio.sleep(0.01)
    for message in checks:
        answer(message)
    run = await handle
    return run, run.tool_uses[-1].result


async def test_the_window_that_owns_the_run_looks_at_the_page(desk):
    shots = [{"width": width, "height": 900, "png": plain_png(width, 900)} for width in (390, 1280)]
    report = {"screenshots": shots, "console": [{"level": "error", "text": "boom", "line": 3}]}

    def answer(message):
        assert message["client"] == "page"
        assert (message["path"], message["variant"], message["widths"]) == ("index.html", 0, [390, 1280])
        about = {"run_id": message["run_id"], "check_id": message["check_id"], "ok": True, "report": report}
        assert not desk.command("checked", **{**about, "check_id": "other"})["ok"]
        assert not desk.command("checked", **about, client="another window")["ok"]
        assert desk.command("checked", **about)["ok"]
        assert not desk.command("checked", **about)["ok"]

    run, result = await look(desk, LiveViewer(), answer)
    assert 'error in line 3: "boom"' in result.text
    assert len(result.images) == 2
    assert run.checks[0].viewer == "your browser"


async def test_another_viewer_looks_if_the_window_cannot(desk):
    def refuse(message):
        about = {"run_id": message["run_id"], "check_id": message["check_id"]}
        assert desk.command("checked", **about, ok=False, error="Error: no blobs here")["ok"]

    run, _ = await look(desk, LiveViewer(ReportingViewer()), refuse)
    assert len(run.checks) == 1
    run, result = await look(desk, LiveViewer(), refuse)
    assert "no blobs here" in result.text
    assert run.checks == ()


async def test_nobody_looks_if_no_window_answers(desk, monkeypatch):
    monkeypatch.setattr("agent_nb.notebook.live.run.CHECK_PATIENCE", 0.01)
    _, result = await look(desk, LiveViewer(), lambda message: None)
    assert "does not answer" in result.text


@pytest.mark.skipif(not BUNDLE.exists(), reason="needs the built page: `make build`")
async def test_the_page_loads_its_further_code(desk):
    handle = Agent(ScriptedProvider([[text("Done.")]])).start("A page")
    desk.show(handle, "hero-1")
    assert "export{" in desk.command("module", key="hero-1", name="check")["code"]
    assert not desk.command("module", key="hero-1", name="../../pyproject")["ok"]
    await handle


async def test_an_element_is_found_in_the_page_of_a_finished_run(desk):
    page = {"path": "index.html", "content": "<main>\n<h2>One</h2>\n<h2>Two</h2></main>"}
    handle = Agent(ScriptedProvider([[call("create_file", page)], [text("Done.")]])).start("Go.")
    live = desk.show(handle, "k")
    asked = {"run_id": live.id, "path": "html > body > main > h2:nth-of-type(2)", "variant": 0}
    assert desk.command("element", **asked)["error"] == "The run has not ended."
    live.announce_ready(await handle, None)
    answer = desk.command("element", **asked)
    assert answer["ok"]
    assert (answer["path"], answer["line"], answer["place"]) == ("h2:nth-of-type(2)", 3, "2 of 2")
    assert (answer["file"], answer["turn"]) == ("index.html", 1)
    assert "index.html" in answer["edit"]
    refused = desk.command("element", **asked, file="no.html")
    assert (refused["ok"], "no page 'no.html'" in refused["error"]) == (False, True)
