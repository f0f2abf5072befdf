"""Files that cannot be played or written: one sentence each, and nothing is overwritten."""

import asyncio
import functools
import gzip
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_nb import Agent, replay, tool
from agent_nb.core.errors import AgentError, CassetteError
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render import FORMS
from agent_nb.tools import Toolbox
from tests.support.cassettes import PROMPT, change_row, facts, play, record
from tests.support.mutations import mutated
from tests.support.scripts import write

CASSETTES = Path(__file__).parents[3] / "notebooks" / "cassettes"
PAGE = "<!doctype html>\n" + "<p>bread and butter</p>\n" * 9
EDIT = call(
    "edit_file", {"path": "index.html", "old": "<!doctype html>", "new": "<!doctype html>\n<title>x</title>"}
)
TURNS = ([text("Here it comes.", fragment=3), write(content=PAGE, fragment=9)], [EDIT], [text("ok")])


@pytest.fixture
async def tape(tmp_path):
    path = tmp_path / "hero.run.jsonl"
    await record(path, *TURNS)
    return path


def lines_of(tape: Path) -> list[str]:
    return tape.read_text().splitlines()


def rows_of(tape: Path) -> list[Any]:
    return [json.loads(line) for line in lines_of(tape)]


def changed(tape: Path, kind: str, **fields: Any) -> str:
    """The file with the last line of a type changed."""
    change_row(tape, kind, **fields)
    return tape.read_text()


def to(kind: str, **fields: Any) -> Callable[[Path], str]:
    return lambda tape: changed(tape, kind, **fields)


def without(tape: Path, kind: str) -> str:
    return "\n".join(line for line in lines_of(tape) if f'"type":"{kind}"' not in line)


def swapped(tape: Path) -> str:
    lines = lines_of(tape)
    lines[4:6] = lines[5], lines[4]
    return "\n".join(lines)


def bomb(tape: Path) -> str:
    """Many variants that share one large header."""
    changed(tape, "header", settings={"line": "x" * 1_000_000})
    rows = {row.get("type"): row for row in rows_of(tape)}
    start, end = {**rows["run_started"], "seq": 1}, {**rows["run_finished"], "seq": 2}
    last = {"type": "end", "chosen": 0, "variants": [{"digests": {}}] * 201}
    return "\n".join(map(json.dumps, [rows[None], rows["conversation"], *[start, end] * 201, last]))


CASES = {
    "empty": (lambda tape: "", "is not a saved run: its first line is not JSON"),
    "a page": (lambda tape: "<!doctype html>\n<p>", "is not a saved run: its first line is not JSON"),
    "another JSON file": (lambda tape: '{"cells": [], "nbformat": 4}', "its first line is not a run header"),
    "a list": (lambda tape: "[1, 2]", "is not a saved run"),
    "bytes": (lambda tape: b"\x89PNG\xff\xfe", "is not a saved run: its first line is not JSON"),
    "newer": (to("header", version=3), "was saved by a newer agent_nb"),
    "older": (to("header", version=1), "was saved by an older agent_nb"),
    "nothing but brackets": (lambda tape: "[" * 200_000, "its first line is not JSON"),
    "no prompt": (lambda tape: "\n".join(lines_of(tape)).replace('"prompt"', '"question"', 1), "1: it lacks `prompt`"),
    "odd settings": (to("header", settings=[]), "at line 1: `settings` is a list"),
    "odd fingerprint": (to("header", fingerprint={"yours": {"files": 3}}), "line 1: `fingerprint.yours.files` is 3"),
    "no events": (lambda tape: lines_of(tape)[0], "is truncated"),
    "cut in a line": (lambda tape: tape.read_text()[:-20], "is truncated"),
    "cut between lines": (lambda tape: "\n".join(lines_of(tape)[:-1]), "is truncated"),
    "cut in the events": (lambda tape: "\n".join(lines_of(tape)[:6]), "is truncated"),
    "no end": (lambda tape: without(tape, "run_finished"), "the run has no end"),
    "bad JSON": (lambda tape: "\n".join([*lines_of(tape)[:6], "{oops", *lines_of(tape)[6:]]), "at line 7: it is not"),
    "a line too few": (lambda tape: without(tape, "turn_finished"), "is expected here, not"),
    "lines swapped": (swapped, "is expected here, not"),
    "two files merged": (lambda tape: tape.read_text() * 2, "the run has already ended"),
    "two starts": (to("turn_started", type="run_started", prompt="", model=""), "inside another"),
    "no start": (lambda tape: without(tape, "run_started"), "event 1 is expected here, not 2"),
    "no conversation": (lambda tape: without(tape, "conversation"), "its conversation is missing"),
    "odd type": (to("turn_finished", type="song"), "is of an unknown type, 'song'"),
    "odd field": (to("turn_finished", stop="tired"), "`stop` is 'tired', not one of"),
    "time goes back": (to("turn_finished", at=-1), "which is before the previous event"),
    "endless time": (lambda tape: tape.read_text().replace('"at":0.0', '"at":1e400'), "`at` is inf, not a number"),
    "unknown call": (to("tool_running", call_id="other"), "'other' is not a call of this run"),
    "no answer": (to("tool_running", type="approval_requested", name="x", args={}), "nobody has answered"),
    "a path out": (to("file_changed", path="../x"), "'../x'"),
    "patch out of range": (to("file_changed", patch=[[900, 2, "x"]]), "changes lines 900 to 902 of"),
    "patch backwards": (to("file_changed", patch=[[3, 1, "x"], [1, 1, "x"]]), "changes lines 1 to 2"),
    "another patch": (to("file_changed", patch=[[0, 1, "x"]]), "do not make the files that it had"),
    "odd pace": (to("file_delta", pace="3*x"), "`pace` is '3*x', not a list"),
    "pace too short": (to("file_delta", pace=[3, 0, 3]), "its pace does not match its text"),
    "pace goes back": (to("file_delta", pace=[-3, 0, len(PAGE) + 3, 0]), "its pace does not match its text"),
    "the same header again": (bomb, "its variants repeat more than 200,000,000 characters"),
    "odd message": (to("conversation", messages=[99]), "`messages[0]` is 99, not an object"),
    "odd file": (to("end", files={"index.html": 3}), "These are not saved files"),
    "a number too far": (to("file_changed", version=7), "version 2 of 'index.html' is expected here, not 7"),
    "odd earlier versions": (to("file_changed", version=1, earlier=[{"keep": 9}]), "damaged at line"),
    "far too much": (lambda tape: gzip.compress(b" " * 200_000_001), "it unpacks to more than 200,000,000 bytes"),
    "badly compressed": (lambda tape: b"\x1f\x8b" + b"x" * 99, "it is not compressed as it should be"),
    "odd name": (to("header", name="../x"), "`name` is '../x', which is not a valid name"),
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


@pytest.mark.parametrize(
    ("limit", "most", "says"),
    [
        ("MOST_VERSIONS", len(PAGE), "its file versions have more than"),
        ("MOST_EVENTS", 5, "more than 5 events"),
    ],
)
def test_what_a_file_makes_is_counted(tape, monkeypatch, limit, most, says):
    monkeypatch.setattr(f"agent_nb.run.run_reader.{limit}", most)
    with pytest.raises(CassetteError, match=says):
        replay(tape)


@functools.cache
def base_rows() -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "base.run.jsonl"
        asyncio.run(record(path, *TURNS, tools=[*Toolbox.default(), asking([])], approve="auto"))
        return rows_of(path)


def asking(calls: list[str]) -> Any:
    @tool(approval="ask")
    def ask(what: str) -> str:
        """Asks."""
        calls.append(what)
        return "done"

    return ask


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_any_json_as_a_file_is_refused_or_shown_and_calls_no_tool(chance):
    calls = list[str]()
    head, *rows = base_rows()

    async def scenario(path: Path) -> None:
        path.write_text("\n".join(map(json.dumps, [head, *mutated(rows, chance)])))
        try:
            run = await play(path, tools=[*Toolbox.default(), asking(calls)], approve="auto")
        except AgentError:
            return
        assert all((*(form.render(run) for form in FORMS), run._repr_mimebundle_()))

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder) / "tape.run.jsonl"))
    assert not calls


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CassetteError, match=r"There is no cassette '.*no\.run\.jsonl'"):
        replay(tmp_path / "no.run.jsonl")
    with pytest.raises(CassetteError, match="cannot be read: Is a directory"):
        replay(tmp_path)
    with pytest.raises(CassetteError, match="cannot be read: File name too long"):
        replay(tmp_path / ("x" * 300))
    with pytest.raises(CassetteError, match="cannot be read: embedded null byte"):
        replay("a\0b")


async def test_what_is_no_file_is_neither_read_nor_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(CassetteError, match="cannot be read: It is not a regular file"):
        replay(pipe)
    with pytest.raises(CassetteError, match="cannot be recorded: it is not a file"):
        await Agent(ScriptedProvider([[text("x")]])).recording(pipe).run(PROMPT)
    assert pipe.is_fifo()


async def test_marks_and_line_ends_of_editors_do_no_harm(tape):
    run = await play(tape)
    tape.write_bytes(b"\xef\xbb\xbf" + tape.read_bytes().replace(b"\n", b"\r\n"))
    assert facts(await play(tape)) == facts(run)


async def test_the_home_folder_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    run = await record("~/hero.run.jsonl", [text("ok")])
    assert (tmp_path / "hero.run.jsonl").exists()
    assert facts(await play("~/hero.run.jsonl")) == facts(run)


async def test_another_file_is_not_recorded_over(tape, tmp_path):
    precious = tmp_path / "data.jsonl"
    precious.write_text('{"mine": 1}\n')
    for path, why in ((tape, "recorded with another prompt .*"), (precious, "is not a saved run.*")):
        before = path.read_bytes()
        with pytest.raises(CassetteError, match=f"{why} Delete it, or record to another path"):
            await record(path, [text("new")], prompt="Something else")
        assert path.read_bytes() == before
    run = await record(tape, [text("new")])  # the same prompt
    assert facts(await play(tape)) == facts(run)


async def test_a_place_that_takes_no_file_is_told_first(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    places = {
        "file/hero.jsonl": "is not a writable folder",
        "folder": "it is a folder",
        "x" * 300: "File name too long",
    }
    for path, why in places.items():
        provider = ScriptedProvider([[text("x")]])
        with pytest.raises(CassetteError, match=why):
            await Agent(provider).recording(tmp_path / path).run(PROMPT)
        assert not provider.requests


async def test_a_disk_that_fails_at_the_end_keeps_the_run(tmp_path, caplog):
    path = tmp_path / "new" / "hero.run.jsonl"
    handle = Agent(ScriptedProvider([[text("x")]])).recording(path).start(PROMPT)
    path.parent.write_text("in the way")
    assert (await handle).text == "x"
    assert handle.recorded == f"Not recorded: {path.as_posix()!r} cannot be written: File exists."
    assert handle.recorded in caplog.text
