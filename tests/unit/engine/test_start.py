"""Variants: several runs of one prompt at once, each its own, together one run."""

import asyncio

import pytest

from agent_nb import Agent, Limits, model
from agent_nb.core.errors import ConfigError, ProviderError
from agent_nb.core.events import RunFinished, RunStarted
from agent_nb.providers.scripted import ScriptedProvider, fail, stall, text, usage
from tests.support.scripts import write

PROMPT = "A landing page for a bakery"


def demo(**settings) -> Agent:
    return Agent(model("demo:", pace=0), **settings)


async def test_events_are_gapless_in_each_variant():
    race = demo().start_variants(PROMPT, variants=3)
    run = await race
    assert [variant.events[0].variant for variant in run.variants] == [0, 1, 2]
    for number, variant in enumerate(run.variants):
        assert [event.seq for event in variant.events] == list(range(1, len(variant.events) + 1))
        assert {(event.run_id, event.variant) for event in variant.events} == {(race.id, number)}
        assert [event for event in race.events if event.variant == number] == list(variant.events)


async def test_variants_run_at_the_same_time():
    starts: list[int] = []
    agent = demo()

    @agent.on_event
    def hear(event) -> None:
        if isinstance(event, RunStarted | RunFinished):
            starts.append(event.variant if isinstance(event, RunStarted) else -1)

    await agent.start_variants(PROMPT, variants=3)
    assert starts == [0, 1, 2, -1, -1, -1]


async def test_several_models_race_each_several_times():
    with ScriptedProvider([[text("one")], [text("two")]]) as scripted:
        run = await demo().start_variants(PROMPT, models=[model("demo:", pace=0), scripted], variants=2)
    assert [variant.model for variant in run.variants] == ["demo:"] * 2 + [scripted.name] * 2
    assert {run.variants[2].text, run.variants[3].text} == {"one", "two"}


async def test_one_that_fails_leaves_the_others():
    with ScriptedProvider([[fail(ProviderError("No such model."))]]) as broken:
        run = await demo().start_variants(PROMPT, models=[broken, model("demo:", pace=0)])
    assert [variant.reason for variant in run.variants] == ["failed", "end_turn"]
    assert (run.reason, run.html) == ("end_turn", run.variants[1].html)
    assert run.variants[0].error == "No such model."


async def test_when_all_fail_the_run_has_failed():
    with ScriptedProvider([[fail(ProviderError("Down."))]] * 2) as broken:
        run = await Agent(broken).start_variants(PROMPT, variants=2)
    assert (run.reason, run.error, len(run.variants)) == ("failed", "Down.", 2)


async def test_one_budget_holds_for_all():
    def priced(*turns) -> ScriptedProvider:
        return ScriptedProvider(turns, name="openai:gpt-5")

    # A million tokens of output cost about ten dollars: one alone is under the limit, two are over it.
    turn = [usage(output=1_000_000), write()]
    provider = priced(turn, turn)
    run = await Agent(provider, limits=Limits(usd=15)).start_variants(PROMPT, variants=2)
    assert all(variant.cost < 15 < run.cost for variant in run.variants)
    assert [variant.reason for variant in run.variants] == ["budget", "budget"]
    alone = priced(turn, [text("Done.")])
    assert (await Agent(alone, limits=Limits(usd=15)).run(PROMPT)).reason == "end_turn"


async def test_the_whole_sums_costs_and_takes_the_longest_time():
    run = await demo().start_variants(PROMPT, variants=2)
    assert run.usage == run.variants[0].usage + run.variants[1].usage
    assert run.seconds == max(variant.seconds for variant in run.variants)
    assert run.cost == sum(variant.cost for variant in run.variants)


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"variants": 0}, "1 to 8 variants"),
        ({"variants": 9}, "1 to 8 variants"),
        ({"variants": "3"}, "`variants` must be a whole number, not '3'"),
        ({"variants": 3, "models": ["demo:"] * 3}, "1 to 8 variants in all, not 9"),
    ],
)
async def test_there_are_one_to_eight_variants(wanted, why):
    with pytest.raises(ConfigError, match=why):
        demo().start_variants(PROMPT, **wanted)


async def test_pick_gives_a_run_that_goes_on():
    run = await demo().start_variants(PROMPT, variants=3)
    second = run.pick(2)
    assert (second.html, second.variant, second.variants) == (run.variants[1].html, 1, run.variants)
    for wrong in (9, 0, -1, "2", None, 1.5):
        with pytest.raises(ConfigError, match=f"no variant {wrong!r}; this run has 1 to 3"):
            run.pick(wrong)
    after = await demo().run("Make it green", base=second)
    assert after.messages[: len(second.messages)] == second.messages


async def half_done():
    """A race of two: the first has ended, the second never would."""
    scripts = [ScriptedProvider([[text("Done.")]]), ScriptedProvider([[text("I begin."), stall()]])]
    race = Agent(scripts[0]).start_variants(PROMPT, models=scripts)
    race.label("hero", "hero")
    async for event in race:
        if isinstance(event, RunFinished):
            break
    return race


async def test_picking_one_that_ended_stops_the_rest():
    race = await half_done()
    race.pick(1)
    run = await race
    assert (run.name, run.text, run.variant, race.chosen) == ("hero", "Done.", 0, 1)
    assert [variant.reason for variant in run.variants] == ["end_turn", "stopped"]
    assert run.events == run.variants[0].events


async def test_one_still_at_work_cannot_be_picked():
    race = await half_done()
    with pytest.raises(ConfigError, match=r"Variant 2 is still running. Wait for it or stop it, then pick."):
        race.pick(2)
    with pytest.raises(ConfigError, match="There is no variant 3; there are 1 to 2"):
        race.pick(3)
    assert not race.done
    race.stop(number=2)
    run = await race
    race.pick(2)
    assert run.variant == 0
    assert (await race).variant == 1


async def test_a_failing_variant_is_not_recorded(tmp_path):
    broken = ScriptedProvider([[fail(ProviderError("Down."))]])
    race = (
        demo().recording(tmp_path / "x.jsonl").start_variants(PROMPT, models=[model("demo:", pace=0), broken])
    )
    await race
    assert race.recorded.startswith("Not recorded: variant 2 failed. `run.save(")
    assert not (tmp_path / "x.jsonl").exists()


async def test_cancelling_the_wait_does_not_end_the_race():
    race = Agent(ScriptedProvider([[text("a"), stall()]] * 2)).start_variants(PROMPT, variants=2)
    waiting = asyncio.ensure_future(race._wait())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert not race.done
    race.stop("interrupted")
    assert (await race).reason == "interrupted"


async def test_a_race_reads_like_its_run_after_the_end():
    broken = ScriptedProvider([[fail(ProviderError("No such model."))]])
    race = demo().start_variants(PROMPT, models=[broken, model("demo:", pace=0)])
    with pytest.raises(AttributeError, match="`reason` is available once the run has ended"):
        race.reason  # noqa: B018
    run = await race
    assert (race.reason, race.html, race.variants) == ("end_turn", run.html, run.variants)
    assert race.files == run.files
