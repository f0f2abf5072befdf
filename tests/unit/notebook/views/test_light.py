"""A run under way in a front end without the widget: what is drawn, and when it is drawn again."""

import asyncio
import re

import pytest

from agent_nb import Agent
from agent_nb._base import secrets
from agent_nb.core.events import ThinkingDelta, TurnRetrying
from agent_nb.notebook.live.hub import Hub
from agent_nb.notebook.views import light_view
from agent_nb.notebook.views.light_view import progress_of
from agent_nb.providers.scripted import ScriptedProvider, call, pause, stall, text, think
from agent_nb.render import first_frame
from tests.support.scripts import run_script, write

HINT = "To stop it, interrupt the kernel."


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(light_view, "FIRST_HELLO", 0.01)
    monkeypatch.setattr(light_view, "INTERVAL", 0.01)


async def eventually(condition):
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.01)


def form_of(events, hint=HINT):
    return first_frame("hero-1", "hero", "demo:", "id-1", progress_of(events, hint))["text/html"]


def text_of(form):
    body = form.partition("<style>")[0]
    return " ".join(re.sub("<[^>]*>", "", body).split())


async def test_it_is_updated_when_something_happens_until_a_page_says_hello():
    go_on = asyncio.Event()
    handle = Agent(ScriptedProvider([[text("Once"), pause(go_on), text(" more"), stall()]])).start("go")
    live = Hub().follow(handle)
    shown = []
    form = light_view.LightForm(handle, live, shown.append, HINT)
    await eventually(lambda: shown and "Once" in shown[-1]["text/html"])
    count = len(shown)
    await asyncio.sleep(10 * light_view.INTERVAL)
    assert len(shown) == count, "nothing has changed"
    go_on.set()
    await eventually(lambda: "Once more" in shown[-1]["text/html"])
    live.stream.watched.set()
    count = len(shown)
    handle.stop()
    await handle
    await form._task
    assert len(shown) == count, "the page shows it now"


async def test_a_page_that_says_hello_in_time_sees_no_light_form(monkeypatch):
    monkeypatch.setattr(light_view, "FIRST_HELLO", 60)
    handle = Agent(ScriptedProvider([[text("Once"), stall()]])).start("go")
    live = Hub().follow(handle)
    shown = []
    form = light_view.LightForm(handle, live, shown.append, HINT)
    live.stream.watched.set()
    handle.stop()
    await handle
    await form._task
    assert not shown


async def test_each_finished_turn_is_saved_while_a_page_shows_the_run():
    turns = [[text("First the page."), write()], [text("Then."), write("b.html")], [text("x"), stall()]]
    handle = Agent(ScriptedProvider(turns)).start("go")
    live = Hub().follow(handle)
    live.stream.watched.set()
    shown, none = [], []
    forms = [light_view.LightForm(handle, live, shown.append, HINT)]
    forms.append(light_view.LightForm(handle, live, none.append, HINT, in_place=False))
    await eventually(lambda: shown and "b.html" in shown[-1]["text/html"])
    for kind in ("text/html", "text/markdown", "text/plain"):
        assert all(words in shown[-1][kind] for words in ("First the page.", "index.html", "Then."))
    handle.stop()
    await handle
    await asyncio.gather(*(form._task for form in forms))
    assert not none


async def test_it_shows_the_phase_the_calls_and_the_last_words():
    run = await run_script([think("Hm."), write()], [text("All **done**.")])
    form = form_of(run.events[:-2])
    assert form.startswith("<!-- hero: running -->\n")
    assert 'data-anb-run="hero-1" data-anb-id="id-1"' in form
    shown = text_of(form)
    for part in ("hero: writing", "offline demo model", "✓ create index.html", "All done.", HINT):
        assert part in shown


async def test_thinking_is_shown_while_it_is_streamed():
    run = await run_script([think("The visitors come first."), text("Done.")])
    until = next(number for number, event in enumerate(run.events) if isinstance(event, ThinkingDelta))
    assert '<div class="anb-text"><p>The visitors come first.' in form_of(run.events[: until + 1])
    assert "<details" in form_of(run.events)


async def test_it_has_only_the_newest_rows_and_no_outputs():
    turns = [[text(f"turn {number}"), write(f"page-{number}.html")] for number in range(18)]
    events = (await run_script(*turns, [text("Done.")])).events
    ends = [number for number, event in enumerate(events) if event.type == "turn_finished"]
    sizes = [len(form_of(events[:end])) for end in (ends[8], ends[17])]
    assert abs(sizes[1] - sizes[0]) < 100
    shown = text_of(form_of(events[: ends[17]]))
    assert "turn 17" in shown
    assert "turn 8" not in shown


async def test_a_retry_withdraws_the_turn():
    events = (await run_script([text("Wrong start"), write()], [text("Done.")])).events
    last = next(number for number, event in enumerate(events) if event.type == "turn_finished")
    retry = TurnRetrying(run_id="", variant=0, seq=0, at=0.0, attempt=1, wait=2.0, why="busy")
    shown = text_of(form_of([*events[:last], retry]))
    assert "retrying in 2 s" in shown
    assert "Wrong start" not in shown
    assert "create" not in shown


async def test_each_variant_has_a_row():
    models = [
        ScriptedProvider([[write()], [text("Done.")]], name="scripted:a"),
        ScriptedProvider([[text("No page.")]], name="scripted:b"),
    ]
    events = (race := Agent(models[0]).start_variants("go", models=models)).events
    await race
    assert re.search(r"2 variants.*• Variant 1: done\s*• Variant 2: done", text_of(form_of(events)))


@pytest.mark.parametrize("start", range(0, 40, 7))
async def test_half_a_secret_is_never_shown(start):
    secret = "correct-horse-battery-staple-42"
    secrets.register(secret)
    pieces = [text("x " * 200), text(secret[:9]), text(secret[9:]), text(" y" * (120 + start))]
    events = (
        await run_script([*pieces, call("read_file", {"paths": [secret + "z" * 200]})], [text("Done.")])
    ).events
    until = next(number for number, event in enumerate(events) if event.type == "turn_finished")
    for end in range(1, until):
        assert "staple" not in form_of(events[:end])
        assert "horse" not in form_of(events[:end])


async def test_what_a_model_writes_cannot_become_markup():
    hostile = "<script>alert(1)</script> ![x](http://a/b) [y](javascript:z) \u202etxt"
    events = (await run_script([text(hostile), write(f"{hostile[:8]}.html")], [text(hostile)])).events
    form = form_of(events, hint=hostile)
    assert "<script" not in form
    assert "<img" not in form
    assert 'href="javascript' not in form
