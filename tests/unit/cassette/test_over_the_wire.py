"""Real SDKs over real sockets, recorded, then played with no server: the same run, on every protocol."""

import pytest

from agent_nb import Agent, assert_same, replay
from agent_nb.events import TurnRetrying
from tests.support.cassettes import PROMPT, facts
from tests.support.scripts import of
from tests.support.wire import Call, Cut, Pause, Say, Think, Tokens, WireServer, reply
from tests.support.wire.cases import CASES, KEY, Case

PAGE = "<!doctype html>\n<title>Bakery</title>\n" + '<li class="bread">Pain « à l’ancienne », 3 €</li>\n' * 60
SAID = "I write the page for the bakery now, with its breads and its prices."


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_vendor_plays_again_without_its_server(case: Case, tmp_path):
    tape = tmp_path / "hero.run.jsonl"
    async with WireServer() as server:
        server.plan(
            reply(Think("Warm colours, a list."), Pause(0.01), Say(SAID), Cut()),
            reply(
                Think("Warm colours, a list."),
                Say(SAID),
                Call("create_file", {"path": "index.html", "content": PAGE}, id="call_a"),
                Call("list_files", {}, id="call_b"),
                Tokens(input=900, cached_read=500, output=400, reasoning=30),
            ),
            reply(Say("The page is ready."), Tokens(input=1200, output=8)),
        )
        async with Agent(case.provider(server)) as agent:
            run = await agent.recording(tape).run(PROMPT)
        assert run.reason == "end_turn", run.error
        assert server.unused == 0
    again = await Agent(replay(tape)).run(PROMPT)
    assert len(of(again, TurnRetrying)) == 1
    assert facts(again) == facts(run)
    assert (again.messages, again.usage, again.cost) == (run.messages, run.usage, run.cost)
    assert_same(run, again)
    written = tape.read_text()
    assert KEY not in written
    assert written.count(SAID) == 2
    assert written.count(PAGE.splitlines()[2].replace('"', '\\"')) in (
        59,
        60,
    )  # a line may be split by an estimate of the usage
    assert len(written) < 1.6 * (len(PAGE) + 2 * len(SAID)) + 13_000
