"""The manifest: what two runs have in common, and what tells them apart."""

import hashlib

from agent_nb import Agent, load, tool
from agent_nb.providers import model
from agent_nb.providers.scripted import ScriptedProvider, text
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


async def test_the_hash_of_a_file_is_that_of_its_bytes():
    with ScriptedProvider([[text("Done.")]]) as provider:
        run = await Agent(provider).run("go", files={"a.txt": "é"})
    assert run.manifest["files_sha256"] == {"a.txt": hashlib.sha256("é".encode()).hexdigest()}


def test_the_settings_of_a_run_have_the_sampling_options():
    chosen = model("anthropic:claude-opus-5-5", api_key="sk-ant-test", max_tokens=500, temperature=0.2)
    assert Agent(chosen).prepare("go").recorded_settings["sampling"] == {
        "max_tokens": 500,
        "temperature": 0.2,
    }
    plain = model("anthropic:claude-opus-5-5", api_key="sk-ant-test")
    assert "sampling" not in Agent(plain).prepare("go").recorded_settings
