"""The sequence of a run's events: it reads like a list of them and takes a fraction of the memory."""

import pickle
import tracemalloc
from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb import Agent
from agent_nb.core.event_list import PACKED, EventList
from agent_nb.core.events import (
    Event,
    FileDelta,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from agent_nb.providers.scripted import ScriptedProvider, call, text

TEXTS = st.text(st.characters(), max_size=6) | st.sampled_from(["\ud83d", "\ude00", "\0", "é", "€", "🍞"])
KINDS = st.sampled_from([TextDelta, ThinkingDelta, ToolArgsDelta, FileDelta, TurnStarted, ToolFinished])


@st.composite
def stretches(draw: st.DrawFn) -> list[Event]:
    """Events of one kind, with gaps in what usually goes on: the number, the variant, the path, the offset."""
    kind, length = draw(KINDS), draw(st.integers(1, PACKED))
    texts = draw(st.lists(TEXTS, min_size=1, max_size=8))
    first, variant = draw(st.integers(1, 9)), draw(st.integers(0, 1))
    offsets = list(accumulate(len(texts[index % len(texts)]) for index in range(length)))
    events: list[Event] = []
    for index in range(length):
        common = {"run_id": "r", "seq": first + index, "at": index / 7, "variant": variant}
        piece = texts[index % len(texts)]
        if kind is TurnStarted:
            events.append(TurnStarted(step=index, **common))
        elif kind is ToolFinished:
            events.append(ToolFinished(call_id="c", ok=True, summary=piece, **common))
        elif kind is FileDelta:
            events.append(FileDelta(call_id="c", path="a.html", offset=offsets[index], text=piece, **common))
        elif kind is ToolArgsDelta:
            events.append(ToolArgsDelta(call_id="c", text=piece, **common))
        else:
            events.append(kind(text=piece, **common))
    where = draw(st.integers(0, length - 1))
    change = draw(st.sampled_from([{}, {"seq": 0}, {"at": -1.5}, {"variant": 3}, {"run_id": "other"}]))
    events[where] = replace(events[where], **change)
    return events


@given(st.lists(stretches(), max_size=4), st.data())
def test_it_reads_like_a_list(parts: list[list[Event]], data: st.DataObject):
    events = [event for part in parts for event in part]
    packed = EventList(events)
    if data.draw(st.booleans()):
        packed = packed.packed()
    assert packed == events
    assert packed == tuple(events)
    assert (len(packed), list(packed), list(reversed(packed))) == (len(events), events, events[::-1])
    bounds = st.none() | st.integers(-len(events) - 2, len(events) + 2)
    some = slice(data.draw(bounds), data.draw(bounds), data.draw(st.sampled_from([None, 1, 2, -1, -3])))
    assert packed[some] == events[some]
    for index in data.draw(st.lists(st.integers(-len(events), max(0, len(events) - 1)), max_size=3)) * bool(
        events
    ):
        assert packed[index] == events[index]
    for kinds in ((FileDelta,), (TurnStarted, ToolFinished), (ToolStarted, TextDelta)):
        assert list(packed.of(*kinds)) == [event for event in events if isinstance(event, kinds)]
    assert pickle.loads(pickle.dumps(packed)) == events


def test_a_packed_list_stays_as_it_was():
    events = [TextDelta(run_id="r", seq=seq, at=0.0, text="word ") for seq in range(1, 4 * PACKED)]
    growing = EventList(events[:300])
    packed = growing.packed()
    for event in events[300:]:
        growing.append(event)
    assert (growing, packed, growing.packed()) == (events, events[:300], events)


def test_one_that_is_not_there():
    with pytest.raises(IndexError):
        EventList()[0]
    assert EventList() != [TurnStarted(run_id="r", seq=1, at=0.0, step=1)]
    assert EventList() != "events"


def test_a_streamed_page_takes_little_memory():
    page = "<li>Pain au levain, 3 €</li>\n" * 4000
    tracemalloc.start()
    try:
        events = EventList(
            FileDelta(
                run_id="r",
                seq=at // 20,
                at=at / 1000,
                call_id="c",
                path="i",
                offset=at,
                text=page[at : at + 20],
            )
            for at in range(0, len(page), 20)
        ).packed()
        per_character = tracemalloc.get_traced_memory()[0] / len(page)
    finally:
        tracemalloc.stop()
    assert "".join(event.text for event in events.of(FileDelta)) == page
    assert per_character < 4  # a list takes more than 10


def test_a_run_takes_any_sequence_of_events():
    with ScriptedProvider(
        [[call("create_file", {"path": "a.txt", "content": "a"})], [text("Done.")]]
    ) as model:
        run = Agent(model).run_sync("A file.")
    assert isinstance(run.events, EventList)
    assert isinstance(replace(run, events=tuple(run.events)).events, EventList)
