"""The wire in few bytes: what is packed here, and in what the page makes of it."""

import json
import shutil
import subprocess
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.events import (
    FileDelta,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolStarted,
    UsageUpdated,
)
from agent_nb.messages import Usage
from agent_nb.notebook.live.sender import Outlet
from tests.support import ROOT
from tests.support.unpacking import Unpacker

JS = ROOT / "js"
NODE = shutil.which("node")
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
KINDS = st.sampled_from(["text", "thinking", "args", "file", "tool", "usage"])
STORY = st.lists(st.tuples(KINDS, st.integers(0, 2), WORDS, st.integers(0, 900)), min_size=1, max_size=40)


def events_of(story):
    """Events as engines emit them: offsets go on where the file's text ended."""
    at, ends, made = 0.0, dict.fromkeys(range(3), 0), []
    for kind, variant, words, later in story:
        at = round(at + later / 1000, 3)
        base = {"run_id": "r", "seq": len(made) + 1, "at": at, "variant": variant}
        match kind:
            case "text":
                made.append(TextDelta(text=words, **base))
            case "thinking":
                made.append(ThinkingDelta(text=words, **base))
            case "args":
                made.append(ToolArgsDelta(call_id="other", text=words, **base))
            case "file":
                made.append(FileDelta(call_id="c", path="a", offset=ends[variant], text=words, **base))
                ends[variant] += len(words)
            case "tool":
                made.append(ToolStarted(call_id=words, name="n", title="t", **base))
            case _:
                usage = Usage(input=7, output=len(words))
                made.append(UsageUpdated(usage=usage, cost=0.5, estimated=True, **base))
    return made


def sent(events, cuts, *, named=False):
    """The messages of a run whose events come in groups of these sizes, and one page that came late."""
    growing: list = []
    outlet = Outlet(7, growing, lambda: {"run": "hero-1", "session": "s", "meta": {}})
    messages, start = [], 0
    for cut in [*cuts, len(events)]:
        growing += events[start : start + cut]
        start += cut
        if message := outlet.more(named=named):
            messages.append(message)
        if len(messages) == 3:
            messages.append(outlet.again())
    return messages


def seen(batches):
    """What each variant is told, pieces joined, without times and guesses; batches that start over replace."""
    told: dict[int, list] = {}
    for batch in batches:
        if batch["first"] == 1:
            told = {}
        for event in batch["events"]:
            rest = {
                key: value for key, value in event.items() if key not in ("at", "variant", "seq", "run_id")
            }
            mine = told.setdefault(event.get("variant", 0), [])
            if event["type"] == "usage_updated":
                continue
            before = mine[-1] if mine else {}
            same = before.get("type") == rest["type"] and before.get("call_id") == rest.get("call_id")
            if same and "text" in rest:
                before["text"] += rest["text"]
            else:
                mine.append(rest)
    return {variant: mine for variant, mine in told.items() if mine}


@given(STORY, st.lists(st.integers(1, 9), max_size=12), st.booleans())
def test_what_is_packed_can_be_unpacked(story, cuts, named):
    events = events_of(story)
    unpacker = Unpacker()
    batches = [unpacker.read(message) for message in json.loads(json.dumps(sent(events, cuts, named=named)))]
    whole = Outlet(1, events, lambda: {"run": "r", "session": "s"})
    whole.sent = len(events)
    assert seen(batches) == seen([Unpacker().read(whole.again())])
    live = [batch for number, batch in enumerate(batches) if number != 3]
    assert all(after["first"] == before["last"] + 1 for before, after in pairwise(live))
    assert batches[-1]["last"] == len(events)


@given(STORY)
def test_a_run_sent_late_keeps_its_times(story):
    events = [event for event in events_of(story) if not isinstance(event, UsageUpdated)]
    outlet = Outlet(1, events, lambda: {"run": "r", "session": "s"})
    outlet.sent = len(events)
    told = {event["at"] for event in Unpacker().read(outlet.again())["events"]}
    assert told <= {event.at for event in events}
    assert all(any(abs(event.at - at) <= 0.1 for at in told) for event in events)


def file_growing(words):
    """An outlet that has sent the first of these words, and the list to add the others to."""
    events = events_of([("file", 0, text, later) for text, later in words])
    growing = events[:1]
    outlet = Outlet(7, growing, lambda: {"run": "hero-1", "session": "s"})
    outlet.more()
    return outlet, growing, events[1:]


def test_words_that_go_on_cost_four_bytes():
    outlet, growing, rest = file_growing([("bread", 10), ("butter", 240), ("wine", 10)])
    growing += rest
    assert outlet.more(named=False) == "2obutterwine"


def test_words_say_whose_where_another_run_spoke():
    outlet, growing, rest = file_growing([("bread", 1), ("butter", 1), ("wine", 1)])
    growing += rest
    assert outlet.more(named=True) == [7, 2, 2, "butterwine"]


def test_words_after_a_pause_tell_their_time():
    outlet, growing, rest = file_growing([("bread", 10), ("butter", 900)])
    growing += rest
    assert outlet.more(named=False) == [7, 2, 1, 0.91, "butter"]


def test_times_of_bare_words_do_not_drift():
    outlet, growing, rest = file_growing([("bread", 4)] * 200)
    unpacker = Unpacker()
    unpacker.read(outlet.again())
    for event in rest:
        growing.append(event)
        (told,) = unpacker.read(outlet.more(named=False))["events"]
        assert abs(told["at"] - event.at) <= 0.01


def test_a_lost_message_is_found_out():
    outlet, growing, rest = file_growing([("bread", 10)] * 100)
    unpacker = Unpacker()
    unpacker.read(outlet.again())
    for number, event in enumerate(rest):
        growing.append(event)
        message = outlet.more(named=False)
        if number == 5:
            continue
        have = unpacker._channels[7].last
        if unpacker.read(message)["first"] != have + 1:
            break
    else:
        pytest.fail("nothing told of the gap")
    assert number < 40


UNPACK = """
const { buildSync } = require("esbuild");
const code = buildSync({ entryPoints: ["src/unpack.ts"], bundle: true, write: false, format: "cjs" });
const module_ = { exports: {} };
new Function("module", "exports", code.outputFiles[0].text)(module_, module_.exports);
const stories = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(stories.map((messages) => {
  const unpacker = new module_.exports.Unpacker();
  return messages.map((message) => unpacker.read(message));
})));
"""

STORIES = [
    [("text", 0, "é😀", 5), ("text", 0, "x", 1500), ("file", 0, "a😀", 1), ("file", 0, "b", 1)],
    [("file", 0, "a", 1), ("file", 1, "b", 1), ("file", 0, "c", 1), ("file", 1, "d", 1), ("tool", 1, "t", 1)],
    [("usage", 2, "abc", 600), ("usage", 2, "abcd", 600), ("thinking", 2, "hm", 1), ("args", 2, "{", 1)] * 3,
]


@pytest.mark.skipif(NODE is None or not (JS / "node_modules").exists(), reason="needs the page's tools")
def test_the_page_unpacks_the_same():
    stories = [sent(events_of(story), [1, 1, 1, 1]) for story in STORIES]
    ran = subprocess.run(
        [str(NODE), "-e", UNPACK],
        cwd=JS,
        input=json.dumps(stories),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    for messages, told in zip(stories, json.loads(ran.stdout), strict=True):
        unpacker = Unpacker()
        expected = [unpacker.read(json.loads(json.dumps(message))) for message in messages]
        assert seen(told) == seen(expected)
        for mine, theirs in zip(expected, told, strict=True):
            assert [event["type"] for event in mine["events"]] == [e["type"] for e in theirs["events"]]
            usage = [event["usage"] for event in mine["events"] if event["type"] == "usage_updated"]
            assert usage == [e["usage"] for e in theirs["events"] if e["type"] == "usage_updated"]
