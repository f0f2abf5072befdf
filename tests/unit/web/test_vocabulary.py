"""`agent.sse`: its own vocabulary, and functions that translate to another."""

import json

import pytest

from agent_nb import Agent
from agent_nb.errors import ConfigError
from agent_nb.providers.scripted import ScriptedProvider, call, text


async def spoken(vocabulary) -> list[tuple[str, dict]]:
    turns = [[text("A page."), call("create_file", {"path": "a.html", "content": "<p>"})], [text("Done.")]]
    with ScriptedProvider(turns) as provider:
        stream = Agent(provider).sse("go", vocabulary=vocabulary)
        return [(name, json.loads(data)) async for name, data in stream]


async def test_our_own_words_are_the_events():
    pairs = await spoken("agent_nb")
    assert pairs[0][0] == "run_started"
    assert pairs[-1][0] == "run_finished"
    assert all(data["type"] == name for name, data in pairs)


async def test_a_function_translates_each_event():
    def words(event):
        if event.type == "text_delta":
            yield "word", json.dumps({"text": event.text})

    assert await spoken(words) == [("word", {"text": "A page."}), ("word", {"text": "Done."})]


async def test_an_unknown_vocabulary_names_the_known():
    with pytest.raises(ConfigError, match="'agent_nb', 'ag-ui'"):
        await spoken("klingon")
