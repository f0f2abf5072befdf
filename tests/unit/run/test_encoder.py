"""What the page is sent: the content about once, whatever the fragments."""

import asyncio
import functools
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb import Agent, Run
from agent_nb._base.secrets import MASK, for_page
from agent_nb.core.events import FileDelta
from agent_nb.files.diffs import apply_patch
from agent_nb.providers.scripted import ScriptedProvider, call, stall, text, think
from agent_nb.run.protocol import LONGEST_ARGUMENT, Encoder
from tests.support.scripts import run_script, stop_at, write

PAGE = "<!doctype html>\n" + "".join(f'<p class="n{i}">bread & "wine" é 😀</p>\n' for i in range(600))


async def make_run(fragment: int = 20):
    turns = [
        [think("Hm. " * 20, fragment=3), write(content=PAGE, fragment=fragment)],
        [call("edit_file", {"path": "index.html", "old": '"n7"', "new": "seven"})],
        [text("Done. " * 30, fragment=4)],
    ]
    return await run_script(*turns)


@pytest.fixture
async def run():
    return await make_run()


def in_batches(run: Run, size: int) -> list[dict]:
    encoder, starts = Encoder(), range(0, len(run.events), size)
    return [event for start in starts for event in sent(encoder, run.events[start : start + size])]


def sent(encoder: Encoder, events) -> list[dict]:
    """The events as they pass the door to the page."""
    return for_page({"events": encoder.encode(events)})["events"]


def rebuild(wire: list[dict]) -> dict[str, str]:
    """What the page's reducer makes of the files."""
    drafts: dict[str, str] = {}
    files: dict[str, str] = {}
    for event in wire:
        path = event.get("path")
        if event["type"] == "file_delta":
            drafts[path] = drafts.get(path, "")[: event["offset"]] + event["text"]
        if event["type"] == "file_changed":
            patch = event["patch"]
            files[path] = (
                drafts[path] if patch is None else apply_patch(files.get(path, ""), tuple(map(tuple, patch)))
            )
    return files


async def test_a_file_whose_path_comes_last_arrives_whole():
    page = call("create_file", {"content": PAGE, "path": "index.html"}, fragment=20)
    run = await run_script([page], [text("Done.")])
    wire = Encoder().encode(run.events)
    assert not [event for event in wire if event["type"] == "tool_args_delta" and "<" in event["text"]]
    assert rebuild(wire) == dict(run.files) == {"index.html": PAGE}


async def test_a_file_that_has_no_path_when_the_run_is_stopped_arrives_whole():
    page = call("create_file", '{"content": "<h1>Bre', fragment=4)
    run = await stop_at(Agent(ScriptedProvider([[page, stall()]])).start("go"), FileDelta)
    assert rebuild(Encoder().encode(run.events)) == dict(run.files)
    assert list(run.files) == ["index.html"]


@functools.cache
def run_of_37() -> Run:
    return asyncio.run(make_run(37))


@given(st.lists(st.integers(1, 400), max_size=12))
def test_batches_join_to_the_same_anywhere(cuts):
    run = run_of_37()
    encoder, wire, start = Encoder(), [], 0
    for cut in [*cuts, len(run.events)]:
        wire += encoder.encode(run.events[start : start + cut])
        start += cut
        if start >= len(run.events):
            break
    wire += encoder.encode(run.events[start:])
    assert rebuild(wire) == dict(run.files)
    assert "".join(event["text"] for event in wire if event["type"] == "text_delta") == run.text
    assert "".join(event["text"] for event in wire if event["type"] == "thinking_delta") == run.thinking
    assert wire[-1]["type"] == "run_finished"


async def test_messages_and_long_arguments_stay_in_the_kernel(run):
    wire = Encoder().encode(run.events)
    assert not [event for event in wire if event["type"] == "message_added"]
    ready = next(event for event in wire if event["type"] == "tool_ready")
    assert len(ready["args"]["content"]) < 1000


async def test_a_summary_that_the_change_contains_is_not_sent(run):
    ended = [event for event in in_batches(run, 7) if event["type"] == "tool_finished"]
    assert [event["summary"] for event in ended] == ["", ""]
    assert [use.summary for use in run.tool_uses] == ["26 kB, 601 lines", "+1 -1"]
    other = await run_script([call("list_files", {})], [text("None.")])
    assert "no files" in [event.get("summary") for event in in_batches(other, 7)]


async def test_half_characters_do_not_break_the_wire():
    half = call("create_file", '{"path": "a.txt", "content": "\\ud83d"}')
    run = await run_script([half], [text("\ud83d ok")])
    json.dumps(sent(Encoder(), run.events), ensure_ascii=False).encode()


KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwx"


async def make_leaky_run():
    """Says a key in everything that streams, a few letters at a time."""
    first = [
        think(f"Hm, {KEY}", fragment=3),
        write(content=f"<p>\n{KEY}</p>\n<p>tasks</p>", fragment=3),
        call("read_file", {"paths": [f"{KEY}.txt"]}, fragment=3),
    ]
    return await run_script(first, [text(f"It is {KEY}, is it? {KEY}", fragment=3)])


def streams(wire: list[dict]) -> dict[str, str]:
    """The text of each stream, with nothing but the mask left of a key."""
    texts: dict[str, str] = {}
    for event in wire:
        if event["type"].endswith("_delta"):
            texts[event["type"]] = texts.get(event["type"], "")[: event.get("offset")] + event["text"]
    return {kind: text.replace(f"sk{MASK}", MASK).replace(f"s{MASK}", MASK) for kind, text in texts.items()}


async def test_the_path_of_a_streamed_file_is_masked():
    run = await run_script([write(f"{KEY}.txt", "a" * 100, fragment=3)], [text("Done.")])
    wire = sent(Encoder(), run.events)
    assert KEY not in json.dumps(wire) + repr(run) + repr(run.files) + run.files._repr_html_()
    assert rebuild(wire) == {f"{MASK}.txt": "a" * 100}


@pytest.mark.parametrize("batch", [1, 2, 7, 1000])
async def test_secrets_are_masked_across_batches(batch):
    wire = in_batches(await make_leaky_run(), batch)
    assert "abcdefghijkl" not in json.dumps(wire)
    texts = streams(wire)
    assert texts["thinking_delta"] == f"Hm, {MASK}"
    assert texts["text_delta"] == f"It is {MASK}, is it? {MASK}"
    assert texts["file_delta"] == f"<p>\n{MASK}</p>\n<p>tasks</p>"
    assert f'["{MASK}.txt"]' in texts["tool_args_delta"]
    assert [event["type"] for event in wire][-1] == "run_finished"


async def test_a_late_page_loses_no_letter():
    run = await make_leaky_run()
    whole = streams(Encoder().encode(run.events))
    for place in range(0, len(run.events), 5):
        live, late = Encoder(), Encoder()
        early_page = live.encode(run.events[: place // 2]) + live.encode(run.events[place // 2 : place])
        late_page = late.encode(run.events[:place])
        rest = late.encode(run.events[place:])
        assert streams(early_page + rest) == streams(late_page + rest) == whole


@pytest.mark.parametrize("batch", [1, 3, 1000])
async def test_held_text_is_sent_in_its_place(batch):
    page = "A sk-short word, sk-other words, at the end sk-"
    run = await run_script([write("a.txt", page, fragment=2)], [text("Done.")])
    wire = in_batches(run, batch)
    pieces = [event for event in wire if event["type"] == "file_delta"]
    assert "".join(piece["text"] for piece in pieces) == page
    ends = [0, *itertools.accumulate(len(piece["text"]) for piece in pieces)]
    assert [piece["offset"] for piece in pieces] == ends[:-1]


async def test_an_argument_is_masked_before_it_is_cut():
    page = "x " * (LONGEST_ARGUMENT // 2 - 6) + KEY
    run = await run_script([write("a.txt", page)], [text("Done.")])
    ready = next(event for event in Encoder().encode(run.events) if event["type"] == "tool_ready")
    assert "sk-" not in json.dumps(ready)


async def test_what_a_stopped_run_kept_is_sent_once():
    arguments = json.dumps({"path": "index.html", "content": PAGE})[:-40]
    provider = ScriptedProvider([[call("create_file", arguments, fragment=1000), stall()]])
    handle = Agent(provider).start("go")
    async for event in handle:
        if event.type == "file_delta" and event.offset > 10_000:
            handle.stop()
    run = await handle
    wire = Encoder().encode(run.events)
    assert len(run.html) > 10_000
    assert rebuild(wire) == dict(run.files)
    assert len(json.dumps(wire)) < 1.5 * len(json.dumps(run.html))
