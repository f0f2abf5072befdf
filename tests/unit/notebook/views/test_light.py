"""When the light form of a run is updated."""

import asyncio

import pytest

from agent_nb import Agent
from agent_nb.notebook.live.hub import Hub
from agent_nb.notebook.views import light_view
from agent_nb.providers.scripted import ScriptedProvider, pause, stall, text
from agent_nb.render import first_frame


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(light_view, "FIRST_HELLO", 0.01)
    monkeypatch.setattr(light_view, "INTERVAL", 0.01)


async def eventually(condition):
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.01)


async def test_it_is_updated_when_something_happens_until_a_page_says_hello():
    go_on = asyncio.Event()
    handle = Agent(ScriptedProvider([[text("Once"), pause(go_on), text(" more"), stall()]])).start("go")
    live = Hub().follow(handle)
    shown = []
    form = light_view.LightForm(handle, live, shown.append)
    await eventually(lambda: shown and "Once" in shown[-1]["text/html"])
    count = len(shown)
    await asyncio.sleep(10 * light_view.INTERVAL)
    assert len(shown) == count, "nothing has changed"
    go_on.set()
    await eventually(lambda: "Once more" in shown[-1]["text/html"])
    live.stream.watched.set()
    await eventually(lambda: shown[-1] == first_frame(handle.key, handle.name, handle.model, handle.id))
    count = len(shown)
    handle.stop()
    await handle
    await asyncio.sleep(10 * light_view.INTERVAL)
    assert len(shown) == count, "the page shows it now"
    form.stop()


async def test_a_page_that_says_hello_in_time_sees_no_light_form(monkeypatch):
    monkeypatch.setattr(light_view, "FIRST_HELLO", 60)
    handle = Agent(ScriptedProvider([[text("Once"), stall()]])).start("go")
    live = Hub().follow(handle)
    shown = []
    form = light_view.LightForm(handle, live, shown.append)
    live.stream.watched.set()
    await form._task
    assert not shown
    handle.stop()
    await handle
