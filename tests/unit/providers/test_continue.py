"""A run that continues a stopped one: the model gets back the end of the file that it was writing."""

import json

import pytest

from agent_nb import Agent, Run, tool
from agent_nb.core.events import FileDelta, ToolArgsDelta
from tests.support.wire import Call, Hold, Say, Think, WireServer, reply
from tests.support.wire.cases import CASES, Case

pytestmark = pytest.mark.parametrize("case", CASES, ids=str)

PAGE = "<!doctype html>\n" + "".join(f"<p>Loaf {number}</p>\n" for number in range(400))
ARGUMENTS = json.dumps({"path": "index.html", "content": PAGE})
EDIT = Call("edit_file", {"path": "index.html", "old": "Loaf 0<", "new": "Rye<"}, id="call_edit")


async def stopped(
    case: Case, agent: Agent, server: WireServer, name: str = "create_file", arguments: str = ARGUMENTS
) -> Run:
    """A run that is stopped half way through a call; a protocol that sends calls whole has come to its end."""
    written = arguments[:4000] if case.streams_arguments else arguments
    server.plan(reply(Think("Loaves, then."), Say("I bake."), Call(name, written, id="call_page"), Hold()))
    handle = agent.start("A bakery page.")
    length = 0
    async for event in handle:
        length += len(event.text) if isinstance(event, FileDelta | ToolArgsDelta) else 0
        if length > 2500:
            break
    handle.stop()
    return await handle


def texts_of(body: object) -> list[str]:
    """All texts of a request, however its protocol nests them."""
    if isinstance(body, str):
        return [body]
    children = body.values() if isinstance(body, dict) else body if isinstance(body, list) else ()
    return [text for child in children for text in texts_of(child)]


async def test_it_sends_the_end_of_the_file_and_the_file_stays_unfinished(case: Case, server: WireServer):
    provider = case.provider(server)
    first = await stopped(case, Agent(provider), server)
    assert (first.text, first.thinking) == ("I bake.", "Loaves, then.")
    assert PAGE.startswith(first.html)
    server.plan(reply(Say("OK.")), reply(EDIT), reply(Say("Whole.")))
    second = await Agent(provider).run("Continue where you stopped.", base=first)
    [note] = [text for text in texts_of(server.requests[-1].body) if "(cut here)" in text]
    assert first.html[-2000:] in note
    assert first.html[-2020:] not in note
    assert f"`index.html` has what you had written: {len(first.html):,} characters" in note
    assert (second.reason, [*second.files.unfinished]) == ("end_turn", ["index.html"])
    third = await Agent(provider).run("Continue.", base=second)
    assert (third.text, [*third.files.unfinished]) == ("Whole.", [])


CODE = "".join(f'print("größe", {number})\n' for number in range(400))


@tool
def run_python(code: str) -> str:
    """Runs code."""
    raise AssertionError("half a call was run")


async def test_it_sends_the_end_of_half_written_code_and_runs_none_of_it(case: Case, server: WireServer):
    agent = Agent(case.provider(server), tools=[run_python], approve="auto")
    first = await stopped(case, agent, server, "run_python", json.dumps({"code": CODE}))
    server.plan(reply(Say("OK.")))
    second = await agent.run("Continue where you stopped.", base=first)
    [note] = [text for text in texts_of(server.requests[-1].body) if "(cut here)" in text]
    said, _, code = note.partition("```\n")
    code = code.removesuffix("\n```\n(cut here)")
    assert len(code) == 2000
    assert code in CODE
    assert "you wrote a call of `run_python`. Nothing of it ran: " in said
    assert (second.text, second.tool_uses) == ("OK.", ())
