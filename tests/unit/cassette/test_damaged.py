"""Cassettes that cannot be played or written: one sentence each, and nothing is overwritten."""

import base64
import json
import os
import random
import zlib
from pathlib import Path

import pytest

from agent_nb import Agent, replay
from agent_nb.cassette.reader import parse_cassette
from agent_nb.errors import CassetteError
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support.cassettes import PROMPT, facts, play, record
from tests.support.mutations import mutated
from tests.support.scripts import write

CASSETTES = Path(__file__).parents[3] / "notebooks" / "cassettes"


@pytest.fixture
async def tape(tmp_path):
    path = tmp_path / "hero.jsonl"
    await record(path, [text("Here it comes.", fragment=3), write(fragment=9)], [text("ok")])
    return path


def lines_of(tape: Path) -> list[str]:
    return tape.read_text().splitlines()


def changed(tape: Path, kind: str, **fields) -> str:
    """The file with the first line of a kind changed."""
    rows = [json.loads(line) for line in lines_of(tape)]
    row = next(row for row in rows if next(iter(row)) == kind)
    row.update(fields)
    return "\n".join(map(json.dumps, rows))


def packed(pace: str) -> str:
    return "z" + base64.b64encode(zlib.compress(pace.encode(), 1)).decode()


def without(tape: Path, kind: str) -> str:
    return "\n".join(line for line in lines_of(tape) if not line.startswith(f'{{"{kind}"'))


NO_TURNS = '{"end": "end_turn", "turns": 0, "seconds": 0}'
CASES = {
    "empty": (lambda tape: "", "is not a cassette: its first line is not JSON"),
    "a page": (lambda tape: "<!doctype html>\n<p>", "is not a cassette: its first line is not JSON"),
    "another JSON file": (lambda tape: '{"cells": [], "nbformat": 4}', "is not a cassette: it does not say"),
    "another format": (lambda tape: '{"format": "vcr"}', "is not a cassette: it does not say"),
    "a list": (lambda tape: "[1, 2]", "is not a cassette"),
    "bytes": (lambda tape: b"\x89PNG\xff\xfe", "is not a cassette: it is not text"),
    "newer": (lambda tape: changed(tape, "format", version=2), "by a newer agent_nb (format 2; this one reads 1)"),
    "no version": (lambda tape: '{"format": "agent_nb.cassette"}', "is not a cassette: it does not say"),
    "one long line": (lambda tape: '{"format": "' + "x" * 2_000_000, "its first line is not JSON"),
    "nothing but brackets": (lambda tape: "[" * 200_000, "its first line is not JSON"),
    "two files merged": (lambda tape: tape.read_text() * 2, "'variant' is expected here, not 'format'"),
    "cut in a line": (lambda tape: tape.read_text()[:-20], "is cut short"),
    "cut between lines": (lambda tape: "\n".join(lines_of(tape)[:-1]), "is cut short"),
    "cut in the head": (lambda tape: "\n".join(lines_of(tape)[:2]), "is cut short"),
    "bad JSON": (lambda tape: "\n".join([*lines_of(tape)[:6], "{oops", *lines_of(tape)[6:]]), "at line 7: it is not"),
    "a turn too few": (lambda tape: without(tape, "turn"), "is damaged at line"),
    "turns miscounted": (lambda tape: changed(tape, "end", turns=3), "the run has 3 turns and the file 2"),
    "turns out of order": (lambda tape: changed(tape, "turn", turn=2), "turn 1 is expected here, not 2"),
    "a result too few": (lambda tape: without(tape, "tool"), "turn 1 has 1 calls and 0 results"),
    "no call": (lambda tape: without(tape, "call"), "these arguments belong to no call"),
    "text changed": (lambda tape: changed(tape, "text", text="Here."), "does not fit its text of 5"),
    "pace changed": (lambda tape: changed(tape, "pace", pace="3*x"), "'3*x' is not a pace"),
    "pace packed badly": (lambda tape: changed(tape, "pace", pace="zzz"), "its pace cannot be decompressed"),
    "no stop": (lambda tape: tape.read_text().replace('"stop"', '"halt"'), "it lacks `stop`"),
    "odd ending": (lambda tape: changed(tape, "end", end="tired"), "`end` is 'tired', not one of end_turn, "),
    "cut nowhere": (lambda tape: changed(tape, "end", end="stopped"), "'during' is missing"),
    "cut oddly": (lambda tape: changed(tape, "end", end="stopped", during="wait"), "cannot have ended during 'wait'"),
    "cut in no tools": (lambda tape: changed(tape, "end", end="failed", during="tools"), "turn 2 has 0 calls"),
    "no turns": (lambda tape: "\n".join([*lines_of(tape)[:4], NO_TURNS]), "it has no turns"),
    "odd moment": (lambda tape: changed(tape, "tool", tool="dancing"), "`tool` is 'dancing', not one of ready, "),
    "odd line": (lambda tape: tape.read_text().replace('{"turn": 1', '{"song": 1'), "'song' is not known here"),
    "odd call": (lambda tape: changed(tape, "tool", id="other"), "a result for 'other', which was not called"),
    "odd count": (lambda tape: changed(tape, "turn", usage={"loaves": 3}), "'loaves' is not a token count"),
    "endless gap": (lambda tape: tape.read_text().replace('"name"', '"after": 1e400, "name"'), "`after` is inf, not"),
    "endless pace": (lambda tape: changed(tape, "pace", pace="0*9999999 " * 30 + "14"), "does not fit its text"),
    "swollen pace": (lambda tape: changed(tape, "pace", pace=packed("1 " * 30_000_000)), "its text of 14 characters"),
    "odd gap": (lambda tape: changed(tape, "call", after="soon"), "`after` is 'soon', not a number"),
    "no question": (lambda tape: changed(tape, "yours", yours=[]), "at line 2: `yours` is a list, not an object"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_bad_file_is_one_sentence(tape, case):
    make, says = CASES[case]
    content = make(tape)
    tape.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CassetteError) as raised:
        replay(tape)
    assert says in str(raised.value)
    assert str(tape) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("lesson", ["order", "poster", "ovens", "train", "shop-2"])
def test_a_damaged_line_of_a_lesson_is_one_sentence_or_does_no_harm(lesson):
    rows = [json.loads(line) for line in (CASSETTES / f"{lesson}.jsonl").read_text().splitlines()]
    chance, refused = random.Random(lesson), 0
    for _ in range(100):
        place = chance.randrange(len(rows))
        lines = [*rows[:place], *mutated([rows[place]], chance), *rows[place + 1 :]]
        try:
            parse_cassette("\n".join(map(json.dumps, lines)), lesson)
        except CassetteError as error:
            assert "\n" not in str(error)  # noqa: PT017
            refused += 1
    assert refused > 50


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CassetteError, match=r"There is no cassette '.*no\.jsonl'"):
        replay(tmp_path / "no.jsonl")
    with pytest.raises(CassetteError, match="cannot be read: Is a directory"):
        replay(tmp_path)
    with pytest.raises(CassetteError, match="cannot be read: File name too long"):
        replay(tmp_path / ("x" * 300))
    with pytest.raises(CassetteError, match="cannot be read: embedded null byte"):
        replay("a\0b")


async def test_what_is_no_file_is_neither_read_nor_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(CassetteError, match="is not a cassette: it is not a file"):
        replay(pipe)
    with pytest.raises(CassetteError, match="cannot be recorded: it is not a file"):
        await Agent(ScriptedProvider([[text("x")]])).recording(pipe, force=True).run(PROMPT)
    assert pipe.is_fifo()


async def test_marks_and_line_ends_of_editors_do_no_harm(tape):
    run = await play(tape)
    tape.write_bytes(b"\xef\xbb\xbf" + tape.read_bytes().replace(b"\n", b"\r\n"))
    assert facts(await play(tape)) == facts(run)


async def test_the_home_folder_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    run = await record("~/hero.jsonl", [text("ok")])
    assert (tmp_path / "hero.jsonl").exists()
    assert facts(await play("~/hero.jsonl")) == facts(run)


async def test_text_changed_by_hand_plays_without_its_pace(tape):
    rows = lines_of(tape)
    place = next(i for i, row in enumerate(rows) if row.startswith('{"text"'))
    rows[place : place + 2] = ['{"text": "Mine."}']
    tape.write_text("\n".join(rows))
    assert (await play(tape)).messages[1].text == "Mine."


async def test_another_prompt_is_not_recorded_over(tape):
    before = tape.read_bytes()
    with pytest.raises(CassetteError, match=r"recorded with another prompt .* `--force`"):
        await record(tape, [text("new")], prompt="Something else")
    assert tape.read_bytes() == before
    with ScriptedProvider([[text("new")]]) as provider:
        await Agent(provider).recording(tape, force=True).run("Something else")
    assert (await play(tape, "Something else")).text == "new"


async def test_the_same_prompt_is_recorded_over(tape):
    run = await record(tape, [text("new")])
    assert facts(await play(tape)) == facts(run)


async def test_a_foreign_file_is_not_recorded_over(tmp_path):
    precious = tmp_path / "data.jsonl"
    precious.write_text('{"mine": 1}\n')
    with pytest.raises(CassetteError, match=r"is not a cassette.*`--force`"):
        await record(precious, [text("x")])
    assert precious.read_text() == '{"mine": 1}\n'


async def test_a_place_that_takes_no_file_is_told_first(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    places = {
        "file/hero.jsonl": "takes no new files",
        "folder": "it is a folder",
        "x" * 300: "File name too long",
    }
    for path, why in places.items():
        provider = ScriptedProvider([[text("x")]])
        with pytest.raises(CassetteError, match=why):
            await Agent(provider).recording(tmp_path / path).run(PROMPT)
        assert not provider.requests


async def test_a_disk_that_fails_at_the_end_keeps_the_run(tmp_path, caplog):
    path = tmp_path / "new" / "hero.jsonl"
    handle = Agent(ScriptedProvider([[text("x")]])).recording(path).start(PROMPT)
    path.parent.write_text("in the way")
    assert (await handle).text == "x"
    assert handle.recorded == f"Not recorded: {path.as_posix()!r} cannot be written: File exists."
    assert handle.recorded in caplog.text
