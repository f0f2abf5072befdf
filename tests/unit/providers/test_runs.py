"""Whole runs over the wire: the loop goes on by itself after a hiccup, and says one sentence when it cannot."""

import json
import re

import pytest

from agent_nb import Agent
from agent_nb.core.events import (
    ConversationCompacted,
    FileDelta,
    MessageAdded,
    RunFinished,
    TextDelta,
    TurnRetrying,
    UsageUpdated,
)
from agent_nb.core.messages import Usage
from agent_nb.providers.prices import price_of
from agent_nb.providers.streaming import VendorProvider
from tests.support.clocks import SharedClock
from tests.support.wire import Call, Cut, Reply, Say, Think, Tokens, WireServer, problem, reply
from tests.support.wire.cases import CASES, Case, without_waits

pytestmark = pytest.mark.parametrize("case", CASES, ids=str)

PAGE = "<!doctype html>\n<h1>Pain au levain — 3 €</h1>\n"
WRITES = Call("create_file", {"path": "index.html", "content": PAGE}, id="call_page")


async def events_of(provider: VendorProvider):
    events = [event async for event in Agent(provider).stream("A bakery page.")]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert isinstance(events[-1], RunFinished)
    return events


async def test_a_page_is_built_over_the_wire(case: Case, server: WireServer):
    server.plan(
        reply(WRITES, Tokens(input=1000, output=200)),
        reply(Say("The page is ready."), Tokens(input=1300, output=9)),
    )
    agent = Agent(case.provider(server))
    run = await agent.run("A bakery page.")
    assert (run.reason, run.error) == ("end_turn", None)
    assert run.files["index.html"] == PAGE
    assert run.text == "The page is ready."
    assert (run.usage.input, run.usage.output) == (2300, 209)
    price = price_of(case.name, run.usage)
    assert run.cost == (price if price is None else pytest.approx(price))


async def test_the_file_streams_while_it_is_written(case: Case, server: WireServer):
    server.plan(reply(WRITES, fragment=10, gap=0.06), reply(Say("Done.")))
    events = await events_of(case.provider(server))
    deltas = [event for event in events if isinstance(event, FileDelta)]
    assert "".join(event.text for event in deltas) == PAGE
    assert (len(deltas) > 1) == case.streams_arguments
    assert any(isinstance(event, UsageUpdated) and not event.estimated for event in events)


async def test_a_hiccup_is_withdrawn_and_tried_again(case: Case, server: WireServer):
    server.plan(reply(Say("Half a sen"), Cut("rst")), reply(Say("A whole sentence.")))
    events = await events_of(without_waits(case.provider(server)))
    assert [event.attempt for event in events if isinstance(event, TurnRetrying)] == [1]
    after = events[next(i for i, event in enumerate(events) if isinstance(event, TurnRetrying)) :]
    assert "".join(event.text for event in after if isinstance(event, TextDelta)) == "A whole sentence."
    added = [event.message for event in events if isinstance(event, MessageAdded)]
    assert [message.text for message in added if message.role == "assistant"] == ["A whole sentence."]
    assert events[-1].reason == "end_turn"


async def test_a_turn_that_was_cut_counts_its_input(case: Case, server: WireServer):
    server.plan(*[reply(Tokens(input=30_000), Cut())] * 5)
    run = await Agent(without_waits(case.provider(server))).run("x" * 120_000)
    assert (run.reason, len(server.requests)) == ("failed", 5)
    assert run.usage.input >= 150_000
    assert run.usage.output <= 5
    assert run.cost == pytest.approx(price_of(case.name, run.usage))


async def test_a_refused_request_counts_nothing(case: Case, server: WireServer):
    server.plan(problem(400, "This is wrong"))
    run = await Agent(case.provider(server)).run("x" * 120_000)
    assert (run.reason, run.usage) == ("failed", Usage())


async def test_a_rate_limit_is_waited_for_longer_than_a_fault(case: Case, server: WireServer):
    server.plan(*[problem(429, "Slow down", {"retry-after": "3"})] * 9, reply(Say("At last.")))
    run = await Agent(without_waits(case.provider(server))).run("A bakery page.")
    waits = [event.wait for event in run.events if isinstance(event, TurnRetrying)]
    assert (run.reason, run.text, len(waits)) == ("end_turn", "At last.", 9)
    assert min(waits) >= 3
    assert sum(waits) <= 120
    assert len(set(waits)) > 1


async def test_many_variants_get_through_a_limit_of_one_request_a_second(case: Case, server: WireServer):
    clock, served = SharedClock(8), set()

    def answer(request) -> Reply:
        second = int(clock.now())
        if second in served:
            return problem(429, "One request a second", {"retry-after": "1"})
        served.add(second)
        return reply(Say("Hello."))

    server.otherwise = answer
    provider = case.provider(server)
    provider.new_clock = lambda: clock
    agent = Agent(provider)
    agent.on_event(lambda event: clock.leave() if isinstance(event, RunFinished) else None)
    run = await agent.start_variants("Hello?", variants=8)
    assert [variant.reason for variant in run.variants] == ["end_turn"] * 8


async def test_files_survive_a_failure(case: Case, server: WireServer):
    server.plan(reply(WRITES), problem(401, "Invalid API key"))
    run = await Agent(case.provider(server)).run("A bakery page.")
    assert run.reason == "failed"
    assert run.files["index.html"] == PAGE


async def test_a_conversation_that_is_too_long_is_compacted_and_sent_again(case: Case, server: WireServer):
    long_page = PAGE * 400
    writes = Call("create_file", {"path": "index.html", "content": long_page}, id="call_page")
    server.plan(reply(Think("Hm."), writes), reply(Say("Done.")))
    base = await Agent(case.provider(server)).run("A bakery page.")
    server.plan(problem(400, "prompt is too long: 7000 tokens > 6000 maximum"), reply(Say("Blue.")))
    run = await Agent(case.provider(server)).run("In blue.", base=base)
    assert (run.reason, run.text) == ("end_turn", "Blue.")
    assert [event.limit for event in run.events if isinstance(event, ConversationCompacted)] == [4_000]
    refused, taken = (json.dumps(request.body, ensure_ascii=False) for request in server.requests[2:])
    note = "(content of index.html, version 1, left out; read it with read_file)"
    assert (refused.count(note), taken.count(note)) == (0, 1)
    assert refused.count("levain") >= 400
    assert "levain" not in taken
    assert Think("").signature not in taken
    assert not re.search('"(origin|shortened|requests)":', taken)
