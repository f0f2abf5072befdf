"""The journal: order, time, and followers that cannot break it."""

import asyncio

from agent_nb.engine.journal import Journal
from agent_nb.events import TextDelta
from agent_nb.providers.base import VirtualClock


async def test_events_of_one_moment_share_their_time():
    clock = VirtualClock(pace=0)
    journal = Journal("r", 0, clock)
    journal.emit(TextDelta, text="a")
    await clock.sleep(1.5)
    journal.emit(TextDelta, text="b")
    journal.emit_now(TextDelta, text="c")
    assert [(event.seq, event.at) for event in journal.events] == [(1, 0.0), (2, 0.0), (3, 1.5)]


async def test_a_late_follower_hears_everything():
    journal = Journal("r", 0, VirtualClock())
    journal.emit(TextDelta, text="a")
    heard = []
    journal.subscribe(heard.append)
    journal.emit_file("c", "a.txt", 0, "b")
    assert heard == journal.events


async def test_batches_end_when_the_journal_is_closed():
    journal = Journal("r", 0, VirtualClock())

    async def follow() -> list[str]:
        return [event.text async for batch in journal.batches() for event in batch]

    follower = asyncio.create_task(follow())
    await asyncio.sleep(0)
    for letter in "abc":
        journal.emit(TextDelta, text=letter)
        await asyncio.sleep(0)
    journal.close()
    assert await follower == ["a", "b", "c"]
