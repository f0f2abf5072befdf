"""The rows of a frozen transcript: what folds together, and how a call's end reads."""

import pytest

from agent_nb import Agent, tool
from agent_nb.engine.tool_runner import Answer
from agent_nb.providers.scripted import ScriptedProvider, call, stall, text
from agent_nb.render import bundle, to_markdown, to_text
from tests.support.scripts import write
from tests.unit.render.test_render import Elements, play


async def test_edits_of_one_file_fold_into_a_row():
    def edit(old: str, new: str):
        return call("edit_file", {"path": "index.html", "old": old, "new": new})

    run = await play(
        [write(content="<p>abc</p>")],
        [edit("a", "x"), edit("b", "y"), edit("nowhere", "z")],
        [edit("c", "z")],
        [text("Done.")],
    )
    words = Elements(bundle(run)["text/html"]).text
    assert words.count("2 edits of index.html") == 1
    assert words.index("2 edits") < words.index("failed") < words.rindex("index.html: ")
    assert "3 edits" not in words
    assert run.html == "<p>xyz</p>"


async def test_a_stopped_call_is_no_failed_call():
    handle = Agent(ScriptedProvider([[write(fragment=6), stall()]])).start("A page")
    async for event in handle:
        if event.type == "file_delta":
            handle.stop()
    run = await handle
    for words in (Elements(bundle(run)["text/html"]).text, to_markdown(run), to_text(run)):
        assert "Not run: the run ended first." in words
        assert "failed" not in words
        assert "✗" not in words


@tool(approval="ask")
def shell(command: str) -> str:
    """Runs a command."""
    return f"ran {command}"


@pytest.mark.parametrize(
    ("note", "told"), [("", "The person said no."), ("Use Python.", "Told the model: Use Python.")]
)
async def test_a_denied_call_is_no_failed_call(note, told):
    async def no(request: object) -> Answer:
        return Answer(False, note)

    with ScriptedProvider([[call("shell", {"command": "ls"})], [text("Then not.")]]) as provider:
        handle = Agent(provider, tools=[shell]).start("List")
        handle.reach(no)
        run = await handle
    html = bundle(run)["text/html"]
    assert told in Elements(html).text
    assert "Go on without it." not in html
    for words in (Elements(html).text, to_markdown(run), to_text(run)):
        assert "denied: The person said no." in words or "denied, The person said no." in words
        assert "failed" not in words
        assert "✗" not in words


async def test_a_switched_off_tool_says_so():
    with ScriptedProvider([[call("shell", {"command": "ls"})], [text("Then not.")]]) as provider:
        run = await Agent(provider, tools=[shell], approve="deny").run("List")
    assert "denied: This tool is switched off for this run." in to_markdown(run)
