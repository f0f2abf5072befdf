"""The manifest: what two runs have in common, and what tells them apart."""

import hashlib
from dataclasses import replace

from agent_nb import Agent, Answer, load, tool
from agent_nb.providers import model
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.scripts import run_script


def weather(described: str):
    def forecast(city: str) -> str:
        return city

    forecast.__doc__ = described
    return tool(forecast)


async def test_each_tool_has_its_own_hash():
    one, other = [
        await run_script([text("Done.")], tools=[weather(told)])
        for told in ("Tells the weather.", "Tells the weather of tomorrow.")
    ]
    assert set(one.manifest["tools_sha256"]) == {"forecast"}
    assert one.manifest["tools_sha256"] != other.manifest["tools_sha256"]
    assert one.manifest["prompt_sha256"] == other.manifest["prompt_sha256"]


async def test_saving_keeps_the_hashes_of_tools(tmp_path):
    run = await run_script([text("Done.")], tools=[weather("Tells the weather.")])
    assert load(run.save(tmp_path / "run.jsonl")).manifest == run.manifest


async def test_it_says_when_it_ran_what_was_approved_and_what_was_edited_by_hand():
    @tool(approval="ask")
    def pay(amount: int) -> str:
        return "paid"

    turns = [[call("pay", {"amount": 1}), call("pay", {"amount": 9})], [text("Done.")]]

    def decide(name, args):
        return Answer(args["amount"] < 5, args={"amount": 2} if args["amount"] < 5 else None)

    with ScriptedProvider(turns) as provider:
        run = await Agent(provider, tools=[pay], approve=decide).run(
            "Pay", files={"a.txt": "a", "b.txt": "b"}
        )
    dates = "2026-11-16T10:00:00+00:00", "2026-11-16T10:00:07+00:00"
    dated = replace(run, settings={**run.settings, "started": dates[0]}, ended_at=dates[1])
    facts = dated.with_files({"a.txt": "c", "b.txt": None}).manifest
    assert (facts["prompt"], facts["edited_by_hand"]) == ("Pay", ["a.txt", "b.txt"])
    assert (facts["started"], facts["ended"]) == dates
    assert [(one["approved"], one["edited"]) for one in facts["approvals"]] == [(True, True), (False, False)]


async def test_the_hash_of_a_file_is_that_of_its_bytes():
    with ScriptedProvider([[text("Done.")]]) as provider:
        run = await Agent(provider).run("go", files={"a.txt": "é"})
    assert run.manifest["files_sha256"] == {"a.txt": hashlib.sha256("é".encode()).hexdigest()}


def test_the_settings_of_a_run_have_the_sampling_options():
    chosen = model("anthropic:claude-opus-5-5", api_key="sk-ant-test", max_tokens=500, temperature=0.2)
    assert Agent(chosen).prepare("go").run_settings["sampling"] == {"max_tokens": 500, "temperature": 0.2}
    plain = model("anthropic:claude-opus-5-5", api_key="sk-ant-test")
    assert "sampling" not in Agent(plain).prepare("go").run_settings
