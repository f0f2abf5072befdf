"""The facts in the header of a finished run."""

from agent_nb import Agent
from agent_nb.providers.scripted import ScriptedProvider, text, usage
from agent_nb.render import bundle, to_text
from agent_nb.render.summary import facts
from agent_nb.run import Run, load
from tests.support.scripts import write

TURNS = [[write(), usage(input=200, output=50)], [text("Done."), usage(input=300, output=80)]]


async def finished(window: int | None) -> Run:
    return await Agent(ScriptedProvider(TURNS, window=window)).run("a page")


async def test_the_last_turn_shows_how_full_the_context_is(tmp_path):
    run = await finished(1_000)
    assert "38 % of context" in facts(run)
    assert "38 % of context" in bundle(run)["text/html"]
    assert "%" not in to_text(run)
    assert "38 % of context" in facts(load(run.save(tmp_path / "hero.run.json")))


async def test_an_unknown_window_shows_no_percentage():
    assert not [fact for fact in facts(await finished(None)) if "context" in fact]


async def test_less_than_half_a_percent_is_not_shown():
    assert not [fact for fact in facts(await finished(1_000_000)) if "context" in fact]


async def test_several_variants_together_show_no_percentage():
    turns = [TURNS[0], TURNS[0], TURNS[1], TURNS[1]]
    run = await Agent(ScriptedProvider(turns, window=1_000)).race("a page", variants=2)
    assert not [fact for fact in facts(run) if "context" in fact]
    assert [fact for fact in facts(run.pick(1)) if "context" in fact]
