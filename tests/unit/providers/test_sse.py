"""The one SSE reader: whole events, however the bytes are cut."""

import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.providers.sse import SseReader

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


def read(data: bytes, cuts: list[int] = []) -> list[tuple[str, str]]:  # noqa: B006 - never changed
    reader = SseReader()
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    chunks = [data[start:end] for start, end in pairwise(edges)]
    return [(name, text.decode()) for chunk in chunks for name, text in reader.feed(chunk)]


def test_a_whole_stream_gives_its_events():
    assert read(STREAM.encode()) == EVENTS


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


def _lines_run(data: bytes, size: int) -> int:
    """How many lines of Python the reader runs: a count of work that no clock blurs."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    reader = SseReader()
    sys.settrace(trace)
    try:
        for start in range(0, len(data), size):
            reader.feed(data[start : start + size])
    finally:
        sys.settrace(None)
    return count


def test_work_grows_with_the_bytes():
    small, large = (b"data: " + b"x" * length + b"\n\n" for length in (2_000, 20_000))
    assert _lines_run(large, 7) < 11 * _lines_run(small, 7)


def test_a_long_event_is_joined_once():
    reader = SseReader()
    for _ in range(2_000):
        assert reader.feed(b"data: " if not reader._pieces else b"x" * 50) == []
    assert len(reader._pieces) == 2_000
    assert len(reader.feed(b"\n\n")[0][1]) == 1_999 * 50
    assert reader._pieces == []
