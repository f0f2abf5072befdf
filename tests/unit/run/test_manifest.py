"""The manifest: what two runs have in common, and what tells them apart."""

import json

from agent_nb import Agent, load, tool
from agent_nb.providers.scripted import ScriptedProvider, text


async def run_with(*tools):
    with ScriptedProvider([[text("Done.")]]) as provider:
        return await Agent(provider, tools=list(tools)).run("go")


def weather(described: str):
    def forecast(city: str) -> str:
        return city

    forecast.__doc__ = described
    return tool(forecast)


async def test_each_tool_has_its_own_hash():
    one = await run_with(weather("Tells the weather."))
    other = await run_with(weather("Tells the weather of tomorrow."))
    assert set(one.manifest["tools_sha256"]) == {"forecast"}
    assert one.manifest["tools_sha256"] != other.manifest["tools_sha256"]
    assert one.manifest["prompt_sha256"] == other.manifest["prompt_sha256"]


async def test_saving_keeps_the_hashes_of_tools(tmp_path):
    run = await run_with(weather("Tells the weather."))
    assert load(run.save(tmp_path / "run.json")).manifest == run.manifest


async def test_a_run_saved_without_tools_loads(tmp_path):
    run = await run_with(weather("Tells the weather."))
    path = run.save(tmp_path / "run.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    del data["tools"]
    path.write_text(json.dumps(data), encoding="utf-8")
    assert load(path).tools == ()
    assert load(path).manifest["tools_sha256"] == {}
