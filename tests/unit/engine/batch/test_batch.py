"""Many prompts on many models: over real sockets, a few at a time, each run for itself."""

import asyncio
import json

import pytest

from agent_nb import Agent, ConfigError, Limits, model
from agent_nb.core.errors import CassetteError, MissingKeyError, UnknownModelError
from agent_nb.providers.vendors import VENDORS
from tests.support.wire import Hold, Reply, Say, Tokens, WireServer, problem, reply
from tests.support.wire.cases import CASE, KEY

PROMPTS = ["A bakery page", "A florist page", "A garage page"]
OPUS, SOL = "anthropic:claude-opus-5-5", "openai:gpt-6.1-sol"


@pytest.fixture
async def server():
    async with WireServer() as server:
        server.otherwise = lambda request: reply(Say("Done."), Tokens(input=1000, output=100))
        yield server


@pytest.fixture
def keys(server, monkeypatch):
    for vendor in ("anthropic", "openai"):
        monkeypatch.setenv(f"{vendor.upper()}_API_KEY", KEY)
        monkeypatch.setenv(f"{vendor.upper()}_BASE_URL", server.base_url(VENDORS[vendor].apis[0]))


def demo(**settings) -> Agent:
    return Agent(model("demo:", pace=0), **settings)


def opus(server, **settings) -> Agent:
    return Agent(CASE["anthropic_messages"].provider(server), **settings)


def asked(server) -> list[str]:
    """The prompts that reached the server."""
    written = [json.dumps(request.body) for request in server.requests]
    return [prompt for body in written for prompt in PROMPTS if prompt in body]


async def test_every_prompt_meets_every_model(server, keys):
    runs = await demo().map(PROMPTS, models=[OPUS, SOL])
    assert [(run.prompt, run.model) for run in runs] == [(p, m) for p in PROMPTS for m in (OPUS, SOL)]
    assert {run.text for run in runs} == {"Done."}
    assert [run.name for run in runs] == [f"runs[{index}]" for index in range(6)]
    assert len({run.key for run in runs}) == len({run.id for run in runs}) == 6
    assert len(server.requests) == 6


async def test_runs_are_found_by_prompt_and_model():
    runs = await demo().map({"bakery": PROMPTS[0], "florist": PROMPTS[1]})
    assert runs["florist", "demo:"] is runs[PROMPTS[1], "demo:"] is runs[-1]
    assert list(runs[:1]) == [runs[0]]
    with pytest.raises(KeyError, match="the models are demo:"):
        runs["florist", "openai:"]
    with pytest.raises(IndexError):
        runs[2]


async def test_prompts_come_as_pairs_too():
    runs = await demo().map([("bakery", PROMPTS[0]), PROMPTS[1]])
    assert [row["prompt"] for row in runs.rows()] == ["bakery", PROMPTS[1]]


async def test_without_models_the_agents_own_is_asked(server):
    agent = opus(server)
    runs = await agent.map(PROMPTS[:2])
    assert {run.model for run in runs} == {OPUS}
    assert (await agent.run(PROMPTS[2])).text == "Done.", "its connection stays open"


async def test_no_more_run_at_once_than_allowed(server):
    server.otherwise = lambda request: reply(Hold(), Say("Done."))
    work = opus(server).map([f"Page {number}" for number in range(7)], concurrency=3)
    for number in range(7):
        request = await server.arrival(number)
        await request.holding.wait()
        await asyncio.sleep(0.02)  # time for one too many to come
        assert len(server.requests) - sum(r.finished for r in server.requests) <= 3
        if number >= 2:
            server.requests[number - 2].let_go.set()
    for request in server.requests:
        request.let_go.set()
    assert [run.reason for run in await work] == ["end_turn"] * 7


async def test_one_failing_leaves_the_others(server):
    def answer(request) -> Reply:
        return problem(404, "No such page") if "florist" in json.dumps(request.body) else reply(Say("Done."))

    server.otherwise = answer
    runs = await opus(server).map(PROMPTS)
    assert [run.reason for run in runs] == ["end_turn", "failed", "end_turn"]
    assert "No such page" in runs[1].error
    assert "failed: " in repr(runs)
    assert "3 runs, 1 failed" in repr(runs)


async def test_limits_hold_for_each_run():
    runs = await demo(limits=Limits(steps=2)).map(PROMPTS)
    assert [run.reason for run in runs] == ["max_steps"] * 3


async def test_the_budget_holds_for_all(server):
    tokens = Tokens(input=100_000, output=10)
    server.otherwise = lambda request: reply(Say("Done."), tokens)
    one = await opus(server).run("A page")
    prompts = [f"Page {number}" for number in range(6)]
    runs = await opus(server).map(prompts, concurrency=1, budget=one.cost * 2.5)
    assert [run.reason for run in runs[:3]] == ["end_turn", "end_turn", "end_turn"]
    assert [run.reason for run in runs[3:]] == ["budget"] * 3
    assert len(server.requests) == 1 + 3
    assert runs.cost == pytest.approx(one.cost * 3)


async def test_cancelling_whoever_waits_ends_all(server):
    server.plan(reply(Say("Done.")), reply(Hold()))
    work = opus(server).map(PROMPTS, concurrency=1)

    async def wait():
        return await work

    waiting = asyncio.create_task(wait())
    held = await server.arrival(1)
    await held.holding.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert [run.reason for run in work.result] == ["end_turn", "interrupted", "interrupted"]
    await asyncio.wait_for(held.closed.wait(), 20)


@pytest.mark.parametrize(
    ("prompts", "options", "says"),
    [
        ([], {}, "There are no prompts."),
        ({}, {}, "There are no prompts."),
        ("A page", {}, "a single text. Give a list"),
        (["A page", " "], {}, "Prompt 2 is empty."),
        ([("bakery", "")], {}, "Prompt 1 is empty."),
        (["A page", 3], {}, "Prompt 2 is 3."),
        ([("a", "b", "c")], {}, "(name, text) pair"),
        ([("one", "A page"), ("one", "A shop")], {}, "Two prompts are called 'one'."),
        (["A page"], {"models": []}, "There are no models."),
        (["A page"], {"concurrency": 0}, "1 or more, not 0."),
        (["A page"], {"concurrency": 2.5}, "1 or more, not 2.5."),
        (["A page"], {"budget": 0}, "above 0, not 0."),
        (["A page"], {"budget": "1"}, "above 0, not '1'."),
        (["A page"], {"budget": 1, "models": ["demo:", "ollama:qwen3"]}, "'ollama:qwen3' has none"),
    ],
)
async def test_bad_input_is_refused_at_once(prompts, options, says):
    with pytest.raises(ConfigError) as raised:
        demo().map(prompts, **options)
    assert says in str(raised.value)


async def test_a_bad_model_sends_nothing(server, keys):
    with pytest.raises(UnknownModelError, match="Did you mean `openai:`"):
        demo().map(PROMPTS, models=[OPUS, "opnai:gpt"])
    with pytest.raises(MissingKeyError, match="GOOGLE_API_KEY"):
        demo().map(PROMPTS, models=[OPUS, "gemini:gemini-4-argon"])
    await asyncio.sleep(0.05)
    assert server.requests == []


async def test_a_recording_agent_takes_no_list(tmp_path):
    with pytest.raises(ConfigError, match="A cassette holds one prompt"):
        demo().recording(tmp_path / "hero.jsonl").map(PROMPTS)


async def test_a_cassette_of_another_prompt_is_refused(tmp_path):
    await demo().recording(tmp_path / "hero.jsonl").run(PROMPTS[0])
    played = Agent(model(f"replay:{tmp_path / 'hero.jsonl'}"))
    assert [run.reason for run in await played.map(PROMPTS[:1])] == ["end_turn"]
    with pytest.raises(CassetteError, match="another prompt"):
        played.map(PROMPTS[:2])


async def test_material_reaches_every_run():
    runs = await demo().map(PROMPTS[:2], files={"data.csv": "a,b\n1,2\n"})
    assert [run.files["data.csv"] for run in runs] == ["a,b\n1,2\n"] * 2
