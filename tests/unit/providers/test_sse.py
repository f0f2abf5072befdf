"""The one SSE reader: whole events, however the bytes are cut, and never misread if they come twice or damaged."""

import json
import re
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_nb.core.errors import ProviderError
from agent_nb.providers.sse import SseReader
from tests.support.wire import Call, Fault, Raw, Reply, Say, Think, WireServer, reply
from tests.support.wire.cases import CASE, CASES, Case, collect, turn_of
from tests.support.wire.dialects import DIALECTS
from tests.support.wire.framing import sse
from tests.support.work import lines_run

STREAM = (
    ": welcome\n\n"
    "event: greeting\ndata: Grüße 🥐\n\n"
    "data: one\ndata: two\n\n"
    "id: 7\nretry: 10\nevent: odd\n\n"
    "data:no space\n\n"
    "data\n\n"
    'data: {"text": "a\\nb"}\n\n\n\n'
    "data: [DONE]\n\n"
)
EVENTS = [
    ("greeting", "Grüße 🥐"),
    ("", "one\ntwo"),
    ("", "no space"),
    ("", ""),
    ("", '{"text": "a\\nb"}'),
    ("", "[DONE]"),
]


WRONG_ORDER = "twice or in the wrong order"
SEARCH = '{"q": "cats, dogs and one mouse"}'
ANSWER = reply(Think("Hm."), Say("I search."), Call("search", SEARCH, id="call_1"), fragment=6)


def read(data: bytes, cuts: list[int] = []) -> list[tuple[str, str]]:  # noqa: B006 - never changed
    reader = SseReader()
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    chunks = [data[start:end] for start, end in pairwise(edges)]
    return [(name, text.decode()) for chunk in chunks for name, text in reader.feed(chunk)]


@example(cuts=[], ending="\n")
@given(cuts=st.lists(st.integers(0, 10_000), max_size=30), ending=st.sampled_from(["\n", "\r\n", "\r"]))
def test_cuts_anywhere_change_nothing(cuts: list[int], ending: str):
    assert read(STREAM.replace("\n", ending).encode(), cuts) == EVENTS


@given(
    events=st.lists(
        st.tuples(st.sampled_from(["", "a", "b.c"]), st.text(st.characters(exclude_characters="\r\n")))
    ),
    cuts=st.lists(st.integers(0, 10_000), max_size=20),
)
def test_any_text_comes_back(events: list[tuple[str, str]], cuts: list[int]):
    data = "".join(
        f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n" for name, text in events
    )
    assert read(data.encode("utf-8", "replace"), cuts) == [
        (name, text.encode("utf-8", "replace").decode()) for name, text in events
    ]


def test_an_event_is_given_as_soon_as_it_ends():
    reader = SseReader()
    assert reader.feed(b"data: one\n") == []
    assert reader.feed(b"\ndata: tw") == [("", b"one")]
    assert reader.feed(b"o\r") == []
    assert reader.feed(b"\r") == [("", b"two")]
    assert reader.feed(b"\ndata: three\n\n") == [("", b"three")]


def test_an_event_cut_short_is_not_given():
    assert read(b"data: whole\n\ndata: {half") == [("", "whole")]
    assert read(b"data: whole\n\ndata: no blank line\n") == [("", "whole")]


def test_a_byte_order_mark_is_skipped():
    assert read(b"\xef\xbb\xbfdata: one\n\n") == [("", "one")]


@pytest.mark.parametrize(
    "data", [b"data: \xff\n\n", b"event: a\ndata: \xff\n\n", b"data: a\n\ndata: \xff\n\n"]
)
def test_bytes_that_are_not_utf8_are_not_replaced(data: bytes):
    assert SseReader().feed(data)[-1][1] == b"\xff"


def test_a_name_that_is_not_utf8_is_refused():
    with pytest.raises(UnicodeDecodeError):
        read(b"event: \xff\ndata: a\n\n")


def test_work_grows_with_the_bytes():
    def read_in_pieces(length: int) -> None:
        reader, data = SseReader(), b"data: " + b"x" * length + b"\n\n"
        for start in range(0, len(data), 7):
            reader.feed(data[start : start + 7])

    small, large = (lines_run(partial(read_in_pieces, length)) for length in (2_000, 20_000))
    assert large < 11 * small


def test_a_long_event_is_joined_once():
    reader = SseReader()
    for _ in range(2_000):
        assert reader.feed(b"data: " if not reader._pieces else b"x" * 50) == []
    assert len(reader._pieces) == 2_000
    assert len(reader.feed(b"\n\n")[0][1]) == 1_999 * 50
    assert reader._pieces == []


def damaged(protocol: str, kind: str, mark: str, answer: Reply = ANSWER) -> Reply:
    """The answer with a fault at the first event in which the expression is found."""
    events = [chunk for chunk in DIALECTS[protocol](answer, "m").stream() if isinstance(chunk, bytes)]
    index = next(at for at, event in enumerate(events) if re.search(mark.encode(), event))
    return replace(answer, fault=Fault(kind, index))


@pytest.mark.parametrize(
    ("protocol", "kind", "mark", "says"),
    [
        ("anthropic_messages", "duplicate", '"tool_use"', WRONG_ORDER),
        ("anthropic_messages", "reorder", '"tool_use"', WRONG_ORDER),
        ("anthropic_messages", "reorder", r'"e\\"}"', WRONG_ORDER),
        ("responses", "duplicate", '"delta":" dogs "', WRONG_ORDER),
        ("responses", "reorder", '"delta":" dogs "', WRONG_ORDER),
        ("responses", "reorder", r'item\.done.*"function_call"', WRONG_ORDER),
        ("responses", "reorder", '"name":"search"', "could not be read"),
        ("chat", "reorder", '"name":"search"', WRONG_ORDER),
        ("interactions", "reorder", '"name":"search"', WRONG_ORDER),
        ("generate_content", "duplicate", '"functionCall"', WRONG_ORDER),
    ],
)
async def test_events_twice_or_in_the_wrong_order_may_be_tried_again(
    server: WireServer, protocol, kind, mark, says
):
    server.plan(damaged(protocol, kind, mark))
    with pytest.raises(ProviderError, match=says) as caught:
        await collect(CASE[protocol].provider(server))
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
