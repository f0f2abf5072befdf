"""The page that shows a run looks at what the model has made."""

import asyncio
from dataclasses import replace
from urllib.parse import unquote

from agent_nb import Agent
from agent_nb.notebook.live.live_run import window_number
from agent_nb.notebook.live.viewer import LiveViewer
from agent_nb.providers.base import RealClock
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.page_viewer import ReportingViewer, plain_png
from tests.support.scripts import run_script, write


async def checks_of(desk, handle):
    """What the hub asks its windows to look at."""
    for _ in range(30_000):
        checks = [one for one in desk.sent if one["kind"] == "check"]
        if checks or handle.done:
            return checks
        await asyncio.sleep(0.01)
    return []


async def look(desk, viewer, answer):
    """Runs a model that looks at its page, while the page answers the check with `answer(message)`."""
    desk.sent.clear()
    provider = ScriptedProvider([[write()], [call("check_preview")], [text("Done.")]])
    handle = Agent(provider).with_viewer(viewer).start("A page")
    handle.label("hero", "hero-1")
    desk.hub.follow(handle)
    for client in ("another window", "page"):
        desk.command("hello", key="hero-1", client=client)
    for message in await checks_of(desk, handle):
        answer(message)
    run = await handle
    return run, run.tool_uses[-1].result


async def test_the_window_that_was_the_last_to_show_the_run_looks_at_the_page(desk):
    shots = [{"width": width, "height": 900, "png": plain_png(width, 900)} for width in (390, 1280)]
    report = {"screenshots": shots, "console": [{"level": "error", "text": "boom", "line": 3}]}

    def answer(message):
        assert message["window"] == window_number("page")
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
    monkeypatch.setattr("agent_nb.notebook.live.live_run.CHECK_PATIENCE", 0.01)
    _, result = await look(desk, LiveViewer(), lambda message: None)
    assert "did not respond" in result.text


async def test_the_window_looks_at_elements_of_any_run(desk):
    hero = await run_script(
        [write(content='<link rel="stylesheet" href="a.css"><h1>Hi</h1>')], [text("Done.")]
    )
    hero = hero.with_files({**hero.files, "a.css": "h1 { color: red }"})
    provider = ScriptedProvider([[text("Done.")]], clock=RealClock())
    request = Agent(provider, viewer=LiveViewer()).request("Larger", base=hero)
    handle = replace(request, given={"elements": (hero.element("h1"),)}).prepare(provider).start()
    handle.label("hero_2", "hero-2")
    desk.hub.follow(handle)
    desk.command("hello", key="hero-2")
    (message,) = await checks_of(desk, handle)
    assert (message["selectors"], message["widths"]) == (["h1"], [1280])
    assert "color: red" in unquote(message["html"])
    report = {"elements": [{"box": [0, 0, 90, 20], "style": {"color": "red"}, "png": plain_png(90, 20)}]}
    about = {"run_id": message["run_id"], "check_id": message["check_id"], "ok": True, "report": report}
    assert desk.command("checked", **about)["ok"]
    run = await handle
    *_, note, image = run.messages[run.history].parts
    assert '"color: red"' in note.text
    assert image.media_type == "image/png"
