"""The log of a lab: what cells write to it, its hashes, and what others may have done to them."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.classroom import log as log_module
from agent_nb.classroom.log import FILE, MAX_LINE, MAX_PROMPT, Entry, LabLog, entry_of, read_log, status_of
from tests.support.shells import quick_run

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
APPEND = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from agent_nb.classroom.log import Entry, LabLog
for number in range(15):
    LabLog(Path(sys.argv[1])).append(Entry(time=datetime.now(UTC), run=sys.argv[2], id=str(number), prompt="A form",
        model="demo:", status="demo", ended="end_turn"))
"""


DEMO = "%%agent hero -m demo: --pace 0\nA form"


def entry(name: str = "hero", minutes: int = 0, **more) -> Entry:
    values = {"prompt": "A form", "model": "demo:", "status": "demo", "ended": "end_turn", **more}
    return Entry(time=NOW + timedelta(minutes=minutes), run=name, id=name, **values)


@pytest.fixture
def log(tmp_path) -> LabLog:
    """A log of three lines."""
    log = LabLog(tmp_path)
    for minutes, name in enumerate(("one", "two", "three")):
        log.append(entry(name, minutes))
    return log


def lines(log: LabLog) -> list[bytes]:
    return log.read().splitlines()


def test_each_line_has_the_hash_of_the_line_before(log):
    reading = read_log(log.read())
    assert [each.run for each in reading.entries] == ["one", "two", "three"]
    assert [len(each.before) for each in reading.entries] == [0, 64, 64]
    assert not list(reading.remarks())
    assert log.path.name == FILE == "lab-log.jsonl"


def test_a_log_with_other_line_breaks_or_none_at_its_end_goes_on(log):
    log.path.write_bytes(log.read().replace(b"\n", b"\r\n"))
    log.append(entry("four", 4))
    log.path.write_bytes(log.read().rstrip(b"\n"))
    log.append(entry("five", 5))
    reading = read_log(log.read())
    assert [each.run for each in reading.entries] == ["one", "two", "three", "four", "five"]
    assert not list(reading.remarks())


@pytest.mark.parametrize(
    ("change", "breaks"),
    [
        (lambda each: [each[0].replace(b"A form", b"A firm"), *each[1:]], (2,)),
        (lambda each: each[1:], (1,)),
        (lambda each: [each[0], each[2]], (2,)),
        (lambda each: [each[0], each[2], each[1]], (2, 3)),
        (lambda each: [*each, each[2]], (4,)),
        (lambda each: [each[0], b"[1, 2]", *each[1:]], (2, 3)),
        (lambda each: [each[0], b'{"time": 3}', *each[1:]], (2, 3)),
    ],
    ids=["edited", "first-removed", "removed", "swapped", "repeated", "other-json", "no-entry"],
)
def test_a_change_shows(log, change, breaks):
    reading = read_log(b"\n".join(change(lines(log))) + b"\n")
    assert reading.breaks == list(breaks)
    assert "not match the line before." in " ".join(reading.remarks())


def test_a_line_that_was_cut_short_stays_and_shows(log):
    log.path.write_bytes(log.read()[:-40])
    cut = lines(log)[-1]
    log.append(entry("four", 4))
    reading = read_log(log.read())
    assert lines(log)[2] == cut
    assert [each.run for each in reading.entries] == ["one", "two", "four"]
    assert list(reading.remarks()) == ["Line 3 does not match the line before."]
    log.path.write_bytes(log.read().replace(cut, cut[:-1]))
    assert read_log(log.read()).breaks == [3, 4]


@given(end=st.integers(0, 700))
def test_a_log_can_be_cut_anywhere(tmp_path_factory, end):
    log = LabLog(tmp_path_factory.mktemp("log"))
    for minutes, name in enumerate(("one", "第二", "three")):
        log.append(entry(name, minutes))
    log.path.write_bytes(log.read()[:end])
    log.append(entry("next", 4))
    reading = read_log(log.read())
    assert reading.entries[-1].run == "next"
    assert len(reading.breaks) <= 1


def test_a_lab_file_that_was_edited_is_said(tmp_path):
    log = LabLog(tmp_path)
    for minutes, lab in ((1, "a"), (2, "a"), (3, "b"), (4, "b")):
        log.append(entry("hero", minutes, lab=lab))
    reading = read_log(log.read())
    assert (reading.rules, reading.breaks) == ([3], [])
    assert list(reading.remarks()) == ["The lab file had changed at line 3."]


def test_two_notebooks_at_once_make_one_chain(tmp_path):
    notebooks = [
        subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path), name]) for name in ("one", "two")
    ]
    assert [notebook.wait(60) for notebook in notebooks] == [0, 0]
    reading = read_log(LabLog(tmp_path).read())
    assert len(reading.entries) == 30
    assert {each.run for each in reading.entries} == {"one", "two"}
    assert not reading.breaks


def test_a_log_that_another_notebook_holds_is_waited_for(log, monkeypatch):
    monkeypatch.setattr(log_module, "PATIENCE", 0.01)
    before = log.read()
    with FileLock(log.path.parent / ".agent_nb" / "lab-log.lock"), pytest.raises(TimeoutError):
        log.append(entry("four", 4))
    assert log.read() == before


def test_the_entry_of_a_run():
    run = quick_run()
    around = {"lab": "abc", "notebook": "Übung 三.ipynb", "edited": ("a.css",)}
    failed = replace(run, failed_check="len(files) > 1: len(files) is 1")
    made = entry_of(failed, check="len(files) > 1", now=NOW, **around)
    assert (made.status, made.ended, made.passed, made.model) == ("demo", "end_turn", False, "demo:")
    assert made.files == {path: hashlib.sha256(page.encode()).hexdigest() for path, page in run.files.items()}
    assert Entry.from_line(made.to_line()) == made
    wire = json.loads(made.to_line())
    assert wire["time"] == "2026-11-15T12:00:00.000+00:00"
    assert wire["notebook"] == "Übung 三.ipynb"


def test_the_status_says_who_answered_and_else_how_it_ended():
    run = quick_run()
    asked = replace(run, model="anthropic:claude-opus-5-5", cost=0.25)
    replayed = replace(asked, settings={"replayed": "cassettes/hero.jsonl"})
    assert [status_of(each) for each in (run, asked, replayed)] == ["demo", "finished", "replayed"]
    assert status_of(replace(asked, reason="failed")) == "failed"
    assert status_of(replace(asked, reason="interrupted")) == "stopped"
    assert status_of(replace(asked, variants=(run, asked))) == "finished"
    assert (entry_of(asked).cost, entry_of(replayed).cost) == (0.25, 0.0)
    unchecked = entry_of(replace(asked, reason="interrupted"), check="files")
    assert unchecked.passed is None


def test_secrets_are_masked_and_long_prompts_are_cut():
    key = "sk-ant-api03-" + "a1B2" * 8
    prompt = "x " * (MAX_PROMPT // 2 - 5) + key
    line = entry_of(replace(quick_run(), prompt=prompt), check=f"{key!r} in html").to_line()
    assert b"api03" not in line
    assert len(line) < MAX_LINE
    assert Entry.from_line(line).prompt.endswith("•••")


@pytest.mark.parametrize(
    "change",
    [
        {"time": "yesterday"},
        {"time": "2026-11-15T12:00:00"},
        {"run": 3},
        {"status": "excellent"},
        {"cost": -1},
        {"cost": float("nan")},
        {"cost": True},
        {"files": []},
        {"files": {"a": 3}},
        {"edited": [None]},
        {"passed": "yes"},
    ],
)
def test_a_line_with_wrong_values_is_no_entry(change):
    wire = json.loads(entry().to_line()) | change
    assert Entry.from_line(json.dumps(wire).encode()) is None
    assert Entry.from_line(b"[" * 100_000) is None


def test_a_log_that_is_no_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / FILE)
    with pytest.raises(OSError, match="is not a file"):
        LabLog(tmp_path).append(entry())
    with pytest.raises(OSError, match="is not a file"):
        LabLog(tmp_path).read()


@pytest.fixture
def entries(shell, tmp_path):
    """A lab file, and what the log says under it."""
    (tmp_path / "lab.toml").write_text('[lab]\ntitle = "Woche 3"', encoding="utf-8")

    def read():
        reading = read_log((tmp_path / FILE).read_bytes())
        assert not reading.breaks
        return reading.entries

    return read


def test_without_a_lab_file_nothing_is_logged(shell, tmp_path):
    assert shell.run(DEMO).ok
    assert not (tmp_path / FILE).exists()
    assert f"There is no {FILE} in" in repr(shell.run("%agent lab log").displays)


def test_a_line_for_each_run(shell, entries, monkeypatch, tmp_path):
    (tmp_path / "Übung 三.ipynb").touch()
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "Übung 三.ipynb"))
    assert shell.run(DEMO).ok
    assert shell.run(DEMO.replace("--pace 0", "--pace 0 --check '<form' in html")).ok
    assert not shell.run(
        DEMO.replace("hero", "other").replace("--pace 0", "--pace 0 --check len(files) > 9")
    ).ok
    (tmp_path / "lab.toml").write_text('[lab]\ntitle = "Woche 4"', encoding="utf-8")
    assert shell.run("%%agent more -m demo: --background --pace 0\nA form").ok
    shell.names["finishing"] = shell.session.finishing
    assert shell.run("import asyncio\nawait asyncio.gather(*finishing)").ok
    first, second, third, fourth = entries()
    assert (first.run, first.prompt, first.status, first.check) == ("hero", "A form", "demo", "")
    assert first.id == shell.session.replaced[0][1].id
    assert first.notebook == "Übung 三.ipynb"
    assert (second.check, second.passed, third.passed) == ("'<form' in html", True, False)
    assert (third.run, fourth.run) == ("other", "more")
    assert first.lab == third.lab != fourth.lab
    assert first.files == second.files


def test_edits_by_hand_are_logged_once_with_the_next_run(shell, entries):
    shell.run(DEMO)
    shell.run("hero = hero.with_files({'index.html': '<p>Mine</p>', 'a.css': 'p {}'})")
    shell.run("hero.with_files({'b.css': 'never assigned'})")
    shell.run("%%agent hero -c -m demo: --pace 0\nMake it green")
    shell.run("files = files.write('index.html', '<p>Other</p>')")
    shell.run(DEMO.replace("hero", "third"))
    shell.run(DEMO.replace("hero", "fourth"))
    assert [each.edited for each in entries()] == [(), ("a.css", "index.html"), ("index.html",), ()]


def test_a_log_that_cannot_be_written_is_said_and_the_run_stays(shell, entries, tmp_path):
    (tmp_path / FILE).mkdir()
    cell = shell.run(DEMO)
    assert cell.ok
    assert f"This run is not in {FILE}, which cannot be written: {FILE} is not a file." in cell.stdout
    assert shell.names["hero"].reason == "end_turn"


def test_the_timeline(shell, entries):
    shell.run("%%agent hero -m demo: --pace 0\nA form \u202ereversed\u202c <b>, טופס")
    (shown,) = shell.run("%agent lab log").displays
    for form in ("text/plain", "text/html"):
        assert "hero" in shown[form]
        assert "demo, done" in shown[form]
        assert "\u202e" not in shown[form]
        assert "A form reversed" in shown[form]
        assert "Each line fits the one before." in shown[form]
    assert "<b>" not in shown["text/html"]
    assert "takes at most `log`, not 'logs'" in str(shell.run("%agent lab logs").error)
