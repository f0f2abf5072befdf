"""What a run, its images and a whole session have spent, and the budget that ends a run."""

import json
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest

from agent_nb import Agent, Limits, Run, replay
from agent_nb.core.events import ToolFinished, ToolProgress, UsageUpdated
from agent_nb.core.messages import Image, ToolCall, Usage, assistant, user
from agent_nb.engine.cost import TOKENS_PER_IMAGE, CostMeter, ModelCosts, SessionCosts, estimate_tokens
from agent_nb.providers import model
from agent_nb.providers.prices import ImageTokens, price_of, price_of_image
from agent_nb.providers.vendors import VENDORS
from tests.support.cassettes import facts
from tests.support.drawings import png
from tests.support.scripts import of, stop_at
from tests.support.shells import quick_run
from tests.support.tool_desk import KEY
from tests.support.wire import Call, Reply, Say, WireServer, gemini_image, openai_images, reply

PROMPT = "A page for a bakery"
IMAGES = [{"prompt": f"A warm bakery, view {number}", "path": f"assets/{number}.png"} for number in range(8)]
IMAGE_COST = (10 * 5 + 1290 * 30) / 1_000_000
"""What `openai_images` counts, at the published prices."""


def test_a_withdrawn_turn_is_still_paid_for():
    meter = CostMeter(lambda usage: usage.input * 1.0)
    meter.begin_turn(10)
    meter.counted(Usage(input=5))
    meter.begin_turn(10)
    meter.end_turn(Usage(input=7))
    assert (meter.total.input, meter.cost) == (12, 12.0)


def test_the_price_of_a_turn_is_looked_up_once_for_all_its_estimates():
    name, asked = "anthropic:claude-opus-5-5", []

    def price(usage: Usage) -> float | None:
        asked.append(usage)
        return price_of(name, usage)

    meter = CostMeter(price)
    meter.begin_turn(1000)
    asked.clear()
    for chars in range(2000, 40_000, 2000):
        meter.chars = chars
        expected = price_of(name, Usage(input=1000, output=chars // 4))
        assert (meter.expected, meter.estimate()[1]) == pytest.approx((expected, expected))
    assert len(asked) == 2
    meter.counted(Usage(input=1000, cached_read=500, output=10_000))
    assert meter.expected == pytest.approx(price_of(name, Usage(input=1000, cached_read=500, output=10_000)))


def test_tokens_are_estimated_from_every_part():
    talk = [user("a" * 40, Image(b"x")), assistant(ToolCall("1", "t", "b" * 40))]
    assert estimate_tokens(talk, "c" * 40) == 30 + TOKENS_PER_IMAGE


def test_a_turn_cut_off_counts_as_far_as_it_came():
    meter = CostMeter(lambda usage: 0.0)
    meter.begin_turn(25)
    meter.chars = 400
    meter.cut_off()
    assert meter.total == Usage(input=25, output=100)


def test_a_withdrawn_turn_that_nobody_counted_is_reckoned():
    meter = CostMeter(lambda usage: usage.output * 1.0)
    meter.begin_turn(25)
    meter.chars = 400
    meter.begin_turn(25)
    assert (meter.total, meter.cost) == (Usage(input=25, output=100), 100.0)


def test_a_budget_holds_past_a_turn_without_a_price():
    meter = CostMeter(lambda usage: None if usage.cached_read else usage.output * 1.0)
    meter.end_turn(Usage(output=10))
    meter.end_turn(Usage(output=1, cached_read=1))
    meter.end_turn(Usage(output=5))
    assert meter.cost is None
    assert meter.expected == 15.0


def test_runs_add_up_by_model():
    run, costs = replace(quick_run(), usage=Usage(input=10, output=2), cost=0.5), SessionCosts()
    for name, cost in (("a:", 0.5), ("b:", 0.25), ("a:", None)):
        costs.add(replace(run, model=name, cost=cost))
    assert costs.by_model() == {
        "a:": ModelCosts(runs=2, usage=Usage(input=20, output=4), cost=0.5, unpriced=1),
        "b:": ModelCosts(runs=1, usage=Usage(input=10, output=2), cost=0.25),
    }


def test_a_replay_is_free_and_remembered():
    run, costs = quick_run(), SessionCosts()
    costs.add(replace(run, cost=0.5, settings={"replayed": "a.jsonl"}))
    assert costs.by_model() == {run.model: ModelCosts(replays=1, recorded_cost=0.5)}


def test_threads_lose_no_run():
    run, costs = quick_run(), SessionCosts()
    threads = [Thread(target=lambda: [costs.add(run) for _ in range(500)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert costs.by_model()[run.model].runs == 4000


def draw(count: int, name: str = "call_a") -> Reply:
    return reply(Call("generate_images", {"images": IMAGES[:count]}, id=name))


def agent_on(server: WireServer, vendor: str = "openai", **limits) -> Agent:
    base_url = server.base_url(VENDORS[vendor].apis[0])
    return Agent(model(f"{vendor}:", api_key=KEY, base_url=base_url), limits=Limits(**limits))


def talk(run) -> float:
    """What the model alone cost."""
    cost = price_of(run.model, run.usage)
    assert cost is not None
    return cost


def answer_images(server: WireServer, *turns: Reply, **image: Any) -> None:
    """Images on request; the turns of the model in order, and at last a sentence."""
    left = [*turns, *[reply(Say("A page."))] * 3]

    def answer(request) -> Reply:
        return openai_images(png(), **image) if "/images/" in request.path else left.pop(0)

    server.otherwise = answer


async def run_on(server: WireServer, vendor: str = "openai", **limits: float) -> Run:
    async with agent_on(server, vendor, **limits) as agent:
        return await agent.run(PROMPT)


def asked_for_images(server: WireServer) -> int:
    return sum("/images/" in request.path for request in server.requests)


async def test_images_are_part_of_the_cost_that_is_told_when_it_is_known(server):
    answer_images(server, draw(2))
    run = await run_on(server)
    assert run.cost == pytest.approx(talk(run) + 2 * IMAGE_COST)
    assert run.cost > 2 * IMAGE_COST
    assert run.compare().rows()[0]["cost"] == run.manifest["cost"] == run.cost
    before, after, end = of(run, UsageUpdated)
    (finished,) = of(run, ToolFinished)
    assert after.cost - before.cost == pytest.approx(2 * IMAGE_COST)
    assert (after.usage, after.seq) == (before.usage, finished.seq - 1)
    assert end.cost == run.cost


async def test_geminis_images_are_counted_too(server):
    server.plan(draw(1), gemini_image(png(), text="Here."), reply(Say("A page.")))
    run = await run_on(server, "gemini")
    name = f"gemini:{VENDORS['gemini'].image_model}"
    counted = ImageTokens(input_tokens=10, output_tokens=1250, output_image_tokens=1120)
    assert run.cost == pytest.approx(talk(run) + price_of_image(name, counted))


async def test_an_answer_without_an_image_is_charged(server):
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 2000, "totalTokenCount": 2010}
    usage["candidatesTokensDetails"] = [{"modality": "TEXT", "tokenCount": 2000}]
    server.plan(draw(1), gemini_image(text="I cannot.", usageMetadata=usage), reply(Say("A page.")))
    run = await run_on(server, "gemini")
    assert not run.tool_uses[0].ok
    assert run.cost > talk(run) + 0.01


async def test_edits_and_cutouts_are_counted(server):
    turns = [
        draw(1),
        reply(Call("edit_image", {"source": "assets/0.png", "prompt": "Red", "path": "a.png"}, id="call_b")),
        reply(Call("remove_background", {"source": "a.png", "path": "b.png"}, id="call_c")),
    ]
    answer_images(server, *turns)
    run = await run_on(server, usd=1.0)
    assert [use.ok for use in run.tool_uses] == [True] * 3
    assert run.cost == pytest.approx(talk(run) + 3 * IMAGE_COST)


async def test_an_unknown_price_leaves_the_cost_unknown(server, monkeypatch):
    monkeypatch.setenv("AGENT_NB_IMAGES", "openai:gpt-image-99")
    answer_images(server, draw(1))
    run = await run_on(server)
    assert "assets/0.png" in run.files
    assert run.cost is None
    assert of(run, UsageUpdated)[1].cost is None


async def test_an_unknown_price_draws_placeholders_under_a_budget(server, monkeypatch):
    monkeypatch.setenv("AGENT_NB_IMAGES", "openai:gpt-image-99")
    answer_images(server, draw(1))
    run = await run_on(server, usd=1.0)
    assert asked_for_images(server) == 0
    assert "placeholder" in run.tool_uses[0].summary
    assert run.cost == pytest.approx(talk(run))


async def test_a_batch_over_the_budget_is_never_sent(server):
    answer_images(server, draw(8), draw(1, "call_b"))
    run = await run_on(server, usd=0.2)
    assert asked_for_images(server) == 1
    refused, drawn = run.tool_uses
    assert (refused.ok, drawn.ok) == (False, True)
    assert refused.summary == "The 8 images would cost about $0.36, and $0.20 of the budget is left."
    error = json.loads(refused.result.text)
    assert error["hint"] == "Ask for fewer, or go on without."
    assert run.reason == "end_turn"
    assert run.cost < 0.2


async def test_expensive_images_are_expected_to_stay_expensive(server):
    counted = {"input_tokens": 10, "output_tokens": 10_000, "total_tokens": 10_010}
    answer_images(server, draw(1), draw(2, "call_b"), usage=counted)
    run = await run_on(server, usd=0.6)
    assert asked_for_images(server) == 1
    assert run.tool_uses[1].summary.startswith("The 2 images would cost about $0.60, and $0.30")


async def test_images_end_a_run_over_its_budget(server):
    counted = {"input_tokens": 10, "output_tokens": 10_000, "total_tokens": 10_010}
    answer_images(server, draw(1), usage=counted)
    run = await run_on(server, usd=0.1)
    assert (run.reason, len(run.tool_uses)) == ("budget", 1)
    assert run.cost > 0.3


async def test_an_uncounted_image_is_held_to_the_budget(server):
    """A vendor that reports no usage leaves the cost unknown, and still buys no second image."""
    answer_images(server, draw(1), draw(1, "call_b"), usage=None)
    run = await run_on(server, usd=0.08)
    assert asked_for_images(server) == 1
    assert run.tool_uses[1].summary == "The image would cost about $0.05, and $0.03 of the budget is left."
    assert run.cost is None


async def test_variants_share_one_budget_for_images(server):
    """What one variant has under way is not there for the other."""
    answer_images(server, draw(3), draw(3))
    async with agent_on(server, usd=0.2) as agent:
        run = await agent.start_variants(PROMPT, variants=2)
    assert asked_for_images(server) == 3
    assert sorted(variant.tool_uses[0].ok for variant in run.variants) == [False, True]
    costs = [variant.cost for variant in run.variants]
    assert max(costs) == pytest.approx(min(costs) + 3 * IMAGE_COST)
    assert run.cost == pytest.approx(sum(costs))
    assert sorted(row["cost"] for row in run.compare().rows()) == sorted(costs)


async def test_many_prompts_count_their_images(server):
    answer_images(server, *[draw(2), reply(Say("A page."))] * 3)
    async with agent_on(server) as agent:
        runs = await agent.map([PROMPT, "A shop", "A garage"], concurrency=1, budget=3 * IMAGE_COST)
    assert [run.reason for run in runs] == ["end_turn", "budget", "budget"]
    assert runs.cost > 3 * IMAGE_COST


async def test_a_stopped_run_counts_what_was_drawn(server, tmp_path):
    def answer(request) -> Reply:
        first = request.body.get("prompt", "").endswith("view 0")
        return openai_images(png()) if first else Reply(body=b"", silent=True)

    server.plan(draw(2))
    server.otherwise = answer
    async with agent_on(server) as agent:
        run = await stop_at(agent.start(PROMPT), ToolProgress)
    assert run.reason == "stopped"
    assert run.cost == pytest.approx(talk(run) + IMAGE_COST)
    again = await Agent(replay(run.save(tmp_path / "cut.run.jsonl"))).run(PROMPT)
    assert facts(again) == facts(run)
