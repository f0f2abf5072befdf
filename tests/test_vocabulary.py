"""`agent.sse`: our own words, and two vocabularies in use elsewhere."""

import json

import pytest

from agent_nb import Agent
from agent_nb.errors import ConfigError
from agent_nb.providers.scripted import ScriptedProvider, call, text, think

PAGE = "<!doctype html>" + "<p>bread</p>" * 400


async def spoken(vocabulary: str) -> list[tuple[str, dict]]:
    turns = [
        [
            think("Hm."),
            text("A page."),
            call("create_file", {"path": "index.html", "content": PAGE}, fragment=20),
        ],
        [
            call(
                "edit_file",
                {"path": "index.html", "old": "<!doctype html>", "new": "<!doctype html><h1>Hi</h1>"},
            )
        ],
        [text("Done.")],
    ]
    with ScriptedProvider(turns) as provider:
        stream = Agent(provider).sse("go", vocabulary=vocabulary)
        return [(name, json.loads(data)) async for name, data in stream]


async def test_our_own_words_are_the_events():
    pairs = await spoken("agent_nb")
    assert pairs[0][0] == "run_started"
    assert pairs[-1][0] == "run_finished"
    assert all(data["type"] == name for name, data in pairs)


async def test_screenshot_to_code_hears_its_sequence():
    """Thinking and text, an early toolStart, setCode while the page grows, then toolResult."""
    pairs = await spoken("screenshot-to-code")
    names = [name for name, _ in pairs]
    assert set(names) == {"thinking", "assistant", "toolStart", "setCode", "toolResult"}
    assert names.index("toolStart") < names.index("setCode") < names.index("toolResult")
    codes = [data["value"] for name, data in pairs if name == "setCode"]
    assert codes[-2] == PAGE
    assert codes[-1].startswith("<!doctype html><h1>Hi</h1>")
    assert sum(map(len, codes)) < 14 * len(PAGE)


async def test_the_agent_loop_hears_its_sequence():
    pairs = await spoken("agent-loop")
    names = [name for name, _ in pairs]
    assert names[-1] == "done"
    assert names.count("tool_call_start") == names.count("tool_call_result") == 2
    start = next(data for name, data in pairs if name == "tool_call_start")
    assert start["arguments"] == {"path": "index.html", "content": PAGE}
    result = next(data for name, data in pairs if name == "tool_call_result")
    assert (result["id"], result["is_error"]) == (start["id"], False)


async def test_an_unknown_vocabulary_names_the_known():
    with pytest.raises(ConfigError, match="agent-loop"):
        await spoken("klingon")
