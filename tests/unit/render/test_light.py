"""The light form of a run under way: what it shows, and that its size is bounded."""

import re

import pytest

from agent_nb import Agent
from agent_nb._base import secrets
from agent_nb.events import ThinkingDelta, TurnRetrying
from agent_nb.providers.scripted import ScriptedProvider, call, text, think
from agent_nb.render import RunSoFar, light_form
from tests.support.scripts import run_script, write

NOTE = "Still running."


def form_of(events, **options):
    run = RunSoFar("hero-1", "hero", "demo:", "id-1")
    for event in events:
        run.add(event)
    return light_form(run, NOTE, **options)["text/html"]


def text_of(form):
    body = form.partition("</style>")[2].replace('<span class="anb-c">', "")
    return " ".join(re.sub(r"<[^>]+>", "", body).split())


async def test_it_shows_the_phase_the_page_the_calls_and_the_last_words():
    run = await run_script([think("Hm."), write()], [text("All **done**.")])
    before_the_end = run.events[:-1]
    form = form_of(before_the_end)
    assert form.startswith("<!-- hero: running -->\n")
    assert 'data-anb-run="hero-1" data-anb-id="id-1"' in form
    shown = text_of(form)
    size = f"{run.files.size('index.html')} bytes"
    for part in (
        "hero: writing",
        "offline demo model",
        f"index.html {size}",
        "✓ create index.html",
        "All done.",
        NOTE,
    ):
        assert part in shown
    assert "Hm." not in shown


async def test_thinking_is_shown_until_something_else_is_written():
    run = await run_script([think("The visitors come first."), text("Done.")])
    until = next(number for number, event in enumerate(run.events) if isinstance(event, ThinkingDelta))
    assert "The visitors come first." in text_of(form_of(run.events[: until + 1]))
    assert "visitors" not in text_of(form_of(run.events))


async def test_a_question_and_the_height_of_the_widget():
    form = form_of([], question="Approval needed for `ls`", tall=True)
    assert "Approval needed for <code>ls</code>" in form
    assert "anb-warn anb-first" in form
    assert "starting" in text_of(form)


async def test_its_size_does_not_grow_with_the_run():
    turns = [[text(f"{'word ' * 400}turn {number}"), write(f"page-{number}.html")] for number in range(18)]
    events = (await run_script(*turns, [text("Done.")])).events
    ends = [number for number, event in enumerate(events) if event.type == "turn_finished"]
    sizes = [len(form_of(events[:end])) for end in (ends[8], ends[17])]
    assert abs(sizes[1] - sizes[0]) < 100
    shown = text_of(form_of(events[: ends[17]]))
    assert shown.count("page-") == 6 + 1, "the newest six calls, and the page in the header"
    assert shown.count("word") < 70
    assert "turn 17" in shown


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
    events = (race := Agent(models[0]).race("go", models=models)).events
    await race
    shown = text_of(form_of(events))
    assert "2 of 2 variants ended" in shown
    assert re.search(r"✓ Variant 1: done, \d+ bytes\s*✓ Variant 2: done", shown)


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
    form = form_of(events, question=hostile)
    assert "<script" not in form
    assert "<img" not in form
    assert 'href="javascript' not in form
