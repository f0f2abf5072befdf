"""A run on its way to the page: nothing is lost, whenever a page comes and however the events arrive."""

import asyncio
import json
import time

from hypothesis import given
from hypothesis import strategies as st

from agent_nb.core.events import FileDelta, TextDelta, ThinkingDelta, ToolArgsDelta, ToolStarted, UsageUpdated
from agent_nb.core.messages import Usage
from agent_nb.notebook.live.live_run import BURST, FIRST_CHECKPOINT, MESSAGE_SECONDS, Pace, RunStream
from agent_nb.run.protocol import Meta, Ready
from tests.support.waiting import PATIENCE

META = Meta(key="hero-1", name="hero", model="demo:", demo=True)
READY = Ready(line="`hero` is ready", variant=0, picked=False, paths=(), digest="d")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
KINDS = st.sampled_from(["text", "thinking", "args", "file", "tool", "usage"])
STORY = st.lists(st.tuples(KINDS, st.integers(0, 2), TEXT, st.integers(0, 900)), min_size=1, max_size=40)


def events_of(story):
    """Events as engines emit them: offsets go on where the file's text ended."""
    at, ends, made = 0.0, dict.fromkeys(range(3), 0), []
    for kind, variant, text, later in story:
        at = round(at + later / 1000, 3)
        base = {"run_id": "r", "seq": len(made) + 1, "at": at, "variant": variant}
        match kind:
            case "text":
                made.append(TextDelta(text=text, **base))
            case "thinking":
                made.append(ThinkingDelta(text=text, **base))
            case "args":
                made.append(ToolArgsDelta(call_id="other", text=text, **base))
            case "file":
                made.append(FileDelta(call_id="c", path="a", offset=ends[variant], text=text, **base))
                ends[variant] += len(text)
            case "tool":
                made.append(ToolStarted(call_id=text, name="n", title="t", **base))
            case _:
                usage = Usage(input=7, output=len(text))
                made.append(UsageUpdated(usage=usage, cost=0.5, estimated=True, **base))
    return made


class Page:
    """What a page makes of the batches: it applies those that follow, and starts over with one from event 1."""

    def __init__(self) -> None:
        self.have, self.gaps, self.variants = 0, 0, {}

    def receive(self, batch: dict) -> None:
        if batch["last"] <= self.have:
            return
        if batch["first"] not in (1, self.have + 1):
            self.gaps += 1
            return
        if batch["first"] == 1:
            self.variants = {}
        self.have = batch["last"]
        for event in batch["events"]:
            self._apply({key: value for key, value in event.items() if key not in ("at", "variant")}, event)

    def _apply(self, event: dict, source: dict) -> None:
        """Deltas are joined: where they end depends on what may be part of a secret, and was known then."""
        rows = self.variants.setdefault(source.get("variant", 0), [])
        before = rows[-1] if rows else {}
        if "text" in event and all(before.get(name) == event.get(name) for name in ("type", "call_id")):
            before["text"] += event["text"]
        else:
            rows.append(event)


def new_stream(events=()):
    sent: list[dict] = []
    return RunStream(
        "r1", list(events), META, lambda message: sent.append(json.loads(json.dumps(message)))
    ), sent


@given(STORY, st.lists(st.integers(1, 9), max_size=12), st.integers(0, 12))
def test_every_page_ends_with_the_same(story, cuts, late):
    async def play():
        stream, sent = new_stream()
        start = 0
        for number, cut in enumerate([*cuts, len(events)]):
            stream.events.extend(events[start : start + cut])
            start += cut
            if number == late % (len(cuts) + 1):
                opened = len(sent)
                stream.send_all()
            stream.flush()
        whole, once = new_stream(events)
        whole.send_all()
        return [page_of(batches) for batches in (sent, sent[opened:], once)]

    def page_of(batches):
        page = Page()
        for batch in batches:
            page.receive(batch)
        return page

    events = events_of(story)
    first, second, whole = asyncio.run(play())
    assert first.gaps == 0
    assert first.have == second.have == len(events)
    assert first.variants == second.variants == whole.variants


async def test_a_page_that_cannot_ask_is_sent_everything_now_and_then():
    events = events_of([("text", 0, "bread ", 10)] * FIRST_CHECKPOINT * 3)
    for watched, checkpoints in ((False, 2), (True, 0)):
        stream, sent = new_stream()
        if watched:
            stream.watched.set()
        for event in events:
            stream.events.append(event)
            stream.flush()
        assert len([batch for batch in sent if batch["first"] == 1]) - 1 == checkpoints


async def test_the_ready_line_comes_last_and_again_with_everything():
    stream, sent = new_stream(events_of([("text", 0, "bread ", 10)]))
    stream.finish(READY)
    stream.send_all()
    assert [message["kind"] for message in sent] == ["batch", "ready", "batch", "ready"]
    assert [message["meta"]["digest"] for message in sent[::2]] == ["d", "d"]


class Streams:
    """Streams that have just sent `counts` events each, and the order in which they send what follows."""

    def __init__(self, **counts: int) -> None:
        self.order: list[str] = []
        self._sent = asyncio.Event()
        self.streams = {}
        for name, count in counts.items():
            events = events_of([("text", 0, "bread ", 1)] * count)
            self.streams[name] = RunStream(name, events, META, self._send)
            self.streams[name].flush()
        self.order.clear()

    def _send(self, message: dict) -> None:
        self.order.append(message["run_id"])
        self._sent.set()

    def emit(self, name: str, kind: str = "text") -> None:
        stream = self.streams[name]
        (event,) = events_of([(kind, 0, "butter", 1)])
        stream.events.append(event)
        stream.on_event(event)

    async def until(self, count: int) -> list[str]:
        async with asyncio.timeout(PATIENCE):
            while len(self.order) < count:
                self._sent.clear()
                await self._sent.wait()
        return self.order


def test_many_runs_share_the_messages_that_a_page_can_take():
    pace, now, sent = Pace(), 0.0, 0
    waiting = [0.0] * 100
    while now < 10:
        now += 0.01
        for run, due in enumerate(waiting):
            if due <= now:
                sent += 1
                waiting[run] = now + max(0.04, pace.delay(now))
    assert sent * MESSAGE_SECONDS < 10 + BURST + 2 * len(waiting) * MESSAGE_SECONDS


def test_a_few_runs_do_not_wait_for_each_other():
    pace = Pace()
    assert {pace.delay(batch * 0.04) for batch in range(100) for run in range(8)} == {0.0}


async def test_a_run_waits_while_others_send():
    pace, sent = Pace(), []
    while not pace.delay(time.monotonic()) > 5:
        pass
    stream = RunStream("r1", events_of([("text", 0, "bread ", 0)]), META, sent.append, pace)
    stream.on_event(stream.events[0])
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not sent
    stream.flush()
    assert [message["last"] for message in sent] == [1]


async def test_what_nobody_sees_comes_later_and_at_once_when_it_is_scrolled_to():
    streams = Streams(away=1, seen=1)
    away = streams.streams["away"]
    away.set_on_screen("one window", on_screen=False)
    streams.emit("away")
    streams.emit("seen")
    assert (await streams.until(1))[0] == "seen"
    away.set_on_screen("one window", on_screen=True)
    assert streams.order == ["seen", "away"]


async def test_two_windows_count_together():
    stream, _ = new_stream()
    assert stream.on_screen  # nobody has said
    for one, other, together in ((False, True, True), (True, False, True), (False, False, False)):
        stream.set_on_screen("one", on_screen=one)
        stream.set_on_screen("other", on_screen=other)
        assert stream.on_screen == together


async def test_the_first_event_goes_at_once():
    streams = Streams(quiet=0)
    streams.emit("quiet")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert streams.order == ["quiet"]


async def test_events_that_wait_go_together():
    streams = Streams(one=1, other=1)
    for _ in range(5):
        streams.emit("one")
    streams.emit("other")
    assert sorted(await streams.until(2)) == ["one", "other"]


async def test_an_estimate_of_the_usage_sends_nothing():
    streams = Streams(estimate=1, text=1)
    streams.emit("estimate", "usage")
    streams.emit("text")
    assert await streams.until(1) == ["text"]
