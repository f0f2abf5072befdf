"""No secret reaches a cassette, wherever it was in the run."""

import json
from dataclasses import replace

import pytest

from agent_nb import Agent, replay, tool
from agent_nb._base.secrets import MASK, mask, register
from agent_nb.events import FileChanged, FileDelta
from agent_nb.files import apply_patch
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.tools import ToolContext
from tests.support.cassettes import play, record
from tests.support.scripts import of, write


@pytest.fixture
def tape(tmp_path):
    return tmp_path / "cassettes" / "hero.run.jsonl"


async def test_a_made_up_name_of_a_tool_is_masked(tape):
    key = "gsk_" + "k3y" * 8
    with ScriptedProvider([[call(key, {})], [text("Done.")]]) as provider:
        await Agent(provider).recording(tape).run("go")
    assert key not in tape.read_text(encoding="utf-8")


async def test_secrets_of_tools_never_reach_the_file(tape):
    """In the arguments that a hook has changed, in progress, in a result, and in the id of a call."""
    key = "gsk_" + "k3y" * 8

    @tool
    def tell(what: str, context: ToolContext) -> str:
        """Tells.

        Args:
            what: What to tell.
        """
        context.progress(f"telling {what}")
        return f"It is {what}."

    with ScriptedProvider([[call("tell", {"what": "x"}, id=key)], [text("Done.")]]) as provider:
        agent = Agent(provider, tools=[tell])
        agent.before_tool(lambda call: replace(call, arguments=json.dumps({"what": key})))
        run = await agent.recording(tape).run("go")
    assert key in run.messages[2].parts[0].text
    assert key not in tape.read_text(encoding="utf-8")
    again = await Agent(replay(tape), tools=[tell]).run("go")
    assert again.messages[2].parts[0].text == f"It is {MASK}."


async def test_secrets_never_reach_the_file(tape):
    key = "sk-proj-" + "aB3_" * 10
    prompt = f"Use {key} please"
    run = await record(
        tape, [text(f"The key is {key}, yes.", fragment=5), write(content=f"<p>{key}</p>", fragment=9)], [text(key)],
        prompt=prompt,
    )  # fmt: skip
    assert key in run.text
    assert "aB3_aB3_" not in tape.read_text()
    again = await play(tape, prompt)
    assert again.text == MASK
    assert again.html == f"<p>{MASK}</p>"
    assert of(again, type(again.events[-1]))[0].reason == "end_turn"


async def test_masked_deltas_and_patches_make_the_masked_file(tape):
    """Also where a secret has several lines, so that the lines of the masked file are others."""
    secret = "-----BEGIN PRIVATE KEY-----\n" + "\n".join(
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2 for _ in range(4)
    )
    register(secret)
    page = f"<p>one</p>\n<pre>{secret}</pre>\n<p>two</p>"
    edit = call("edit_file", {"path": "index.html", "old": "<p>two</p>", "new": "<p>three</p>"})
    await record(tape, [write(content=page, fragment=7)], [edit], [text("Done.")])
    assert "MIIEvQ" not in tape.read_text()
    again = await play(tape)
    assert again.html == mask(page).replace("two", "three")
    deltas = [event for event in again.events if isinstance(event, FileDelta) and event.path]
    shown = ""
    for event in deltas:
        shown = shown[: event.offset] + event.text
    assert shown == mask(page)
    shown = ""
    for event in of(again, FileChanged):
        shown = apply_patch(shown, event.patch)
    assert shown == again.html
