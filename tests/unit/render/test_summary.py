"""The facts in the header of a finished run."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent_nb import Agent, replay
from agent_nb.notebook.views.views import TerminalView
from agent_nb.providers.scripted import ScriptedProvider, text, usage
from agent_nb.render import TEXT, bundle
from agent_nb.render.summary import facts
from agent_nb.run import Run, load
from tests.support.cassettes import PROMPT, play, record
from tests.support.scripts import write

TURNS = [[write(), usage(input=200, output=50)], [text("Done."), usage(input=300, output=80)]]


async def finished(window: int | None) -> Run:
    return await Agent(ScriptedProvider(TURNS, window=window)).run("a page")


async def test_the_last_turn_shows_how_full_the_context_is(tmp_path):
    run = await finished(1_000)
    assert "38 % of context" in facts(run)
    assert "38 % of context" in bundle(run)["text/html"]
    assert "%" not in TEXT.render(run)
    assert "38 % of context" in facts(load(run.save(tmp_path / "hero.run.json")))


@pytest.mark.parametrize("window", [None, 1_000_000], ids=["unknown", "less than half a percent"])
async def test_where_there_is_nothing_to_tell_no_percentage_is_shown(window):
    assert not [fact for fact in facts(await finished(window)) if "context" in fact]


async def test_several_variants_together_show_no_percentage():
    turns = [TURNS[0], TURNS[0], TURNS[1], TURNS[1]]
    run = await Agent(ScriptedProvider(turns, window=1_000)).start_variants("a page", variants=2)
    assert not [fact for fact in facts(run) if "context" in fact]
    assert [fact for fact in facts(run.pick(1)) if "context" in fact]


async def test_a_replay_says_so_and_what_it_cost_when_it_was_recorded(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = await record(Path("hero.jsonl"), *TURNS)
    again = await play(Path("hero.jsonl"))
    paid, played = replace(run, cost=0.02), replace(again, cost=0.02)
    assert "$0.02" in facts(paid)
    assert {"replayed from hero.jsonl", "$0.02 when recorded"} < set(facts(played))
    for form in ("text/html", "text/markdown", "text/plain"):
        assert "replayed" in bundle(played)[form]
        assert "replayed" not in bundle(paid)[form]
    TerminalView(Agent(replay(Path("hero.jsonl"))).start(PROMPT)).finish(played, None, [])
    assert ", replayed from hero.jsonl. " in capsys.readouterr().out
