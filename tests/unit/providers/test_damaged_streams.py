"""Streams whose events come twice, too early or damaged: the turn is withdrawn and tried again, never misread."""

import json
import re
from dataclasses import replace

import pytest

from agent_nb.core.errors import ProviderError
from tests.support.wire import Call, Fault, Raw, Reply, Say, Think, WireServer, reply
from tests.support.wire.cases import CASE, CASES, Case, collect, turn_of
from tests.support.wire.dialects import DIALECTS
from tests.support.wire.framing import sse

SEARCH = '{"q": "cats, dogs and one mouse"}'
ANSWER = reply(Think("Hm."), Say("I search."), Call("search", SEARCH, id="call_1"), fragment=6)


def damaged(protocol: str, kind: str, mark: str, answer: Reply = ANSWER) -> Reply:
    """The answer with a fault at the first event in which the expression is found."""
    events = [chunk for chunk in DIALECTS[protocol](answer, "m").stream() if isinstance(chunk, bytes)]
    index = next(at for at, event in enumerate(events) if re.search(mark.encode(), event))
    return replace(answer, fault=Fault(kind, index))


@pytest.mark.parametrize(
    ("protocol", "kind", "mark"),
    [
        ("anthropic_messages", "duplicate", '"tool_use"'),
        ("anthropic_messages", "reorder", '"tool_use"'),
        ("anthropic_messages", "reorder", r'"e\\"}"'),
        ("responses", "duplicate", '"delta":" dogs "'),
        ("responses", "reorder", '"delta":" dogs "'),
        ("responses", "reorder", r'item\.done.*"function_call"'),
        ("chat", "reorder", '"name":"search"'),
        ("interactions", "reorder", '"name":"search"'),
        ("generate_content", "duplicate", '"functionCall"'),
    ],
)
async def test_events_twice_or_in_the_wrong_order_may_be_tried_again(
    server: WireServer, protocol, kind, mark
):
    server.plan(damaged(protocol, kind, mark))
    with pytest.raises(ProviderError, match="twice or in the wrong order") as caught:
        await collect(CASE[protocol].provider(server))
    assert caught.value.retryable


async def test_a_delta_before_its_item_may_be_tried_again(server: WireServer):
    server.plan(damaged("responses", "reorder", '"name":"search"'))
    with pytest.raises(ProviderError, match="could not be read") as caught:
        await collect(CASE["responses"].provider(server))
    assert caught.value.retryable


@pytest.mark.parametrize("mark", ['"step.start"', '"name":"search"', '"arguments":" dogs "'])
async def test_an_event_with_the_id_of_the_last_one_is_read_once(server: WireServer, mark: str):
    server.plan(damaged("interactions", "duplicate", mark))
    turn = await turn_of(CASE["interactions"].provider(server))
    assert [call.arguments for call in turn.message.tool_calls] == [SEARCH]


async def test_a_step_that_starts_twice_may_be_tried_again(server: WireServer):
    step = {"type": "function_call", "id": "a", "name": "search"}
    start = {"event_type": "step.start", "index": 0, "step": step}
    server.plan(reply(Raw(sse(start)), Raw(sse(start))))
    with pytest.raises(ProviderError, match="twice") as caught:
        await collect(CASE["interactions"].provider(server))
    assert caught.value.retryable


async def test_arguments_may_be_repeated_with_other_white_space(server: WireServer):
    item = {"id": "fc", "type": "function_call", "call_id": "a", "name": "search"}
    first = {"output_index": 0}
    events = [
        {"type": "response.output_item.added", **first, "item": {**item, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", **first, "delta": '{"q":1}'},
        {"type": "response.output_item.done", **first, "item": {**item, "arguments": '{"q": 1}'}},
    ]
    server.plan(reply(*(Raw(sse(event)) for event in events)))
    turn = await turn_of(CASE["responses"].provider(server))
    assert [call.arguments for call in turn.message.tool_calls] == ['{"q":1}']


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_bytes_that_are_not_utf8_may_be_tried_again(case: Case, server: WireServer):
    server.plan(damaged(case.protocol, "not-utf-8", "I sear", reply(Say("I search."), fragment=200)))
    with pytest.raises(ProviderError, match="not valid UTF-8") as caught:
        await collect(case.provider(server))
    assert caught.value.retryable


async def test_an_event_may_end_with_half_a_surrogate_pair(server: WireServer):
    halves = [{"choices": [{"index": 0, "delta": {"content": half}}]} for half in ("\ud83e", "\udd50")]
    server.plan(reply(*(Raw(sse(json.dumps(half))) for half in halves)))
    turn = await turn_of(CASE["chat"].provider(server))
    assert turn.message.text.encode("utf-16", "surrogatepass").decode("utf-16") == "🥐"
