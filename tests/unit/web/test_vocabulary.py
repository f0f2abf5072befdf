"""`agent.sse`: its own vocabulary, and those of two other systems."""

import json
from typing import Any

import pytest

from agent_nb import Agent
from agent_nb.errors import ConfigError, ProviderError
from agent_nb.providers.scripted import ScriptedProvider, call, fail, text, think

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


def write(path: str, content: str):
    return call("create_file", {"path": path, "content": content}, fragment=5)


async def pages(turns: list[list[Any]], **material: Any) -> list[str]:
    """What `setCode` sent, one after the other."""
    stream = Agent(ScriptedProvider(turns)).sse("go", vocabulary="screenshot-to-code", **material)
    return [json.loads(data)["value"] async for name, data in stream if name == "setCode"]


async def test_a_rewritten_page_arrives_as_it_stands():
    new = "<h1>\nNEW\nB\n</h1>\n"
    codes = await pages([[write("index.html", "<h1>\nA\n</h1>\n")], [write("index.html", new)], [text("ok")]])
    assert codes[-1] == new
    assert [code for code in codes if not new.startswith(code)][-1] == "<h1>\nA\n</h1>\n"


async def test_only_the_page_is_sent_as_one():
    turn = [write("style.css", "body{}"), write("index.html", "<p>"), write("about.html", "<b>"), text("ok")]
    codes = await pages([turn, [text("ok")]], files={"data.csv": "a,b"})
    assert all("<p>".startswith(code) for code in codes)
    assert codes[-1] == "<p>"


async def test_a_page_is_sent_before_its_path_is_known():
    page = {"content": "<p>one two three", "path": "index.html"}
    codes = await pages([[call("create_file", page, fragment=3)], [text("ok")]])
    assert len(codes) > 2
    assert all(page["content"].startswith(code) for code in codes)
    assert codes[-1] == page["content"]


async def test_what_turns_out_to_be_another_file_is_taken_back():
    other = {"content": "<b>about", "path": "about.html"}
    turns = [[write("a.html", "<p>one")], [call("create_file", other, fragment=3)], [text("ok")]]
    assert (await pages(turns))[-1] == "<p>one"


async def test_a_page_half_written_is_taken_back():
    turns = [
        [
            write("index.html", "<p>lost"),
            fail(ProviderError("The connection was cut.", retryable=True, retry_after=0)),
        ],
        [text("sorry")],
    ]
    assert (await pages(turns, files={"index.html": "<p>kept"}))[-2:] == ["<p>lost", "<p>kept"]


async def test_a_page_written_again_unchanged_ends_whole():
    codes = await pages([[write("index.html", "<p>same")], [text("ok")]], files={"index.html": "<p>same"})
    assert codes[-1] == "<p>same"


async def test_a_deleted_page_makes_room_for_another():
    turns = [[call("delete_file", {"path": "index.html"})], [text("ok")]]
    codes = await pages(turns, files={"two.html": "<p>two", "index.html": "<p>one"})
    assert codes == ["<p>two", "<p>one", "<p>two"]


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
