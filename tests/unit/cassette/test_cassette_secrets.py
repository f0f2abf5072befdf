"""No secret reaches a cassette, wherever it was in the run."""

import json
from dataclasses import replace

from agent_nb import Agent, replay, tool
from agent_nb._base.secrets import MASK, mask, register
from agent_nb.events import FileChanged, FileDelta
from agent_nb.files import apply_patch
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.tools import ToolContext
from tests.support.cassettes import play, record
from tests.support.scripts import of, write


async def test_secrets_of_tools_never_reach_the_file(tape):
    """In a made-up name, in arguments that a hook has changed, in progress, in a result, in the id of a call."""
    key = "gsk_" + "k3y" * 8

    @tool
    def tell(what: str, context: ToolContext) -> str:
        """Tells.

        Args:
            what: What to tell.
        """
        context.progress(f"telling {what}")
        return f"It is {what}."

    with ScriptedProvider(
        [[call("tell", {"what": "x"}, id=key)], [call(key, {})], [text("Done.")]]
    ) as provider:
        agent = Agent(provider, tools=[tell])
        agent.before_tool(lambda call: replace(call, arguments=json.dumps({"what": key})))
        run = await agent.recording(tape).run("go")
    assert key in run.messages[2].parts[0].text
    assert key not in tape.read_text(encoding="utf-8")
    again = await Agent(replay(tape), tools=[tell]).run("go")
    assert again.messages[2].parts[0].text == f"It is {MASK}."


async def test_masked_deltas_and_patches_make_the_masked_file(tape):
    """Also where a secret has several lines, so that the lines of the masked file are others."""
    secret = "-----BEGIN PRIVATE KEY-----\n" + "\n".join(
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2 for _ in range(4)
    )
    register(secret)
    page = f"<p>one</p>\n<pre>{secret}</pre>\n<p>two</p>"
    edit = call("edit_file", {"path": "index.html", "old": "<p>two</p>", "new": "<p>three</p>"})
    turns = [write(content=page, fragment=7)], [edit], [text(f"The key is {secret}.", fragment=5)]
    await record(tape, *turns, prompt=f"Use {secret} please")
    assert "MIIEvQ" not in tape.read_text()
    again = await play(tape, f"Use {secret} please")
    assert again.text == f"The key is {MASK}."
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
