"""One student's row, and pages that several have."""

import json
from dataclasses import replace

import pytest

from agent_nb import Files
from agent_nb._base.text import sha256
from agent_nb.files import zipped
from agent_nb.lab.log import FILE
from agent_nb.lab.marks import archive as archive_module
from agent_nb.lab.marks.row import read_row, with_same_pages
from tests.support.notebooks import notebook
from tests.support.shells import quick_run
from tests.support.submissions import CHECK, live_run, parts_of, submit


def test_a_row(tmp_path):
    book = notebook("%load_ext agent_nb", CHECK, (CHECK, 3, "CheckFailed"))
    runs = [live_run("<p>1</p>"), live_run("<p>2</p>", "2")]
    around = {"hints": ("question",), "held_back": 3, "edited": ("a.css", "b.css")}
    path = submit(tmp_path / "Zoë 三.zip", runs, book=book, **around)
    row = read_row("Zoë 三", path)
    assert row.error == ""
    assert (row.checks_passed, row.checks_total, row.runs, row.hints, row.held_back) == (1, 2, 2, 2, 6)
    assert (row.cost, row.hand_edits, row.chain_breaks) == (0.5, 4, 0)
    assert row.pages == {sha256("<p>1</p>"), sha256("<p>2</p>")}
    assert row.notes == (f"The check of cell 3 (`{CHECK[:36]}`) does not hold.",)


def test_a_submission_that_cannot_be_read_is_a_row_that_says_so(tmp_path):
    (tmp_path / "a.zip").write_text("no zip")
    (tmp_path / "b.zip").write_bytes(zipped({"week3.ipynb": b"{"}))
    assert read_row("a", tmp_path / "a.zip").error == "The zip file is damaged."
    assert read_row("b", tmp_path / "b.zip").error == "The notebook is damaged: it is no JSON with cells."


def test_what_is_wrong_with_the_log_is_counted_and_said(tmp_path):
    parts = parts_of(tmp_path / "work", [live_run("<p>1</p>"), live_run("<p>2</p>", "2"), live_run("3", "3")])
    parts[FILE] = b"\n".join(parts[FILE].splitlines()[1:]) + b"\n"
    (tmp_path / "a.zip").write_bytes(zipped(parts))
    row = read_row("a", tmp_path / "a.zip")
    assert (row.runs, row.chain_breaks) == (2, 1)
    assert row.notes == ("Line 1 does not fit what is before.", "1 run not in the log.")
    del parts[FILE]
    (tmp_path / "a.zip").write_bytes(zipped(parts))
    row = read_row("a", tmp_path / "a.zip")
    assert (row.runs, row.notes) == (0, ("There is no log.",))


@pytest.mark.parametrize(
    "change",
    [{"settings": []}, {"id": {}}, {"model": 3}, {"files": {"../x": []}}, {"files": 3}, {"variants": [3]}],
)
def test_a_run_that_somebody_wrote_by_hand(tmp_path, change):
    parts = parts_of(tmp_path / "work", [live_run("<p>1</p>")])
    name = next(name for name in parts if name.startswith("runs/"))
    parts[name] = json.dumps(json.loads(parts[name]) | change).encode()
    (tmp_path / "a.zip").write_bytes(zipped(parts))
    assert read_row("a", tmp_path / "a.zip").notes == ("1 run damaged or too large.",)


def test_a_run_that_is_too_large_does_not_lose_the_others(tmp_path, monkeypatch):
    path = submit(tmp_path / "a.zip", [live_run("x" * 400_000), live_run("<p>2</p>", "2")])
    monkeypatch.setattr(archive_module, "MAX_RUN", 300_000)
    row = read_row("a", path)
    assert (row.error, row.runs, row.notes) == ("", 2, ("1 run damaged or too large.",))


def same(tmp_path, **runs) -> dict[str, tuple[str, ...]]:
    rows = [read_row(name, submit(tmp_path / f"{name}.zip", each)) for name, each in runs.items()]
    return {row.student: row.same_page_as for row in with_same_pages(rows, {sha256("<p>Given</p>")})}


def test_the_same_page_as_another(tmp_path):
    found = same(
        tmp_path,
        ann=[live_run("<p>Mine</p>"), live_run("<p>Given</p>", "2")],
        bob=[live_run("<p>Other</p>"), live_run("<p>Mine</p>", "2")],
        cleo=[live_run("<p>Third</p>"), live_run("<p>Given</p>", "2")],
        dan=[live_run("<p>Third</p>")],
        eve=[live_run("<p>Third</p>")],
        fay=[live_run("")],
        gil=[live_run("")],
    )
    assert found == {
        "ann": ("bob",),
        "bob": ("ann",),
        "cleo": ("dan", "eve"),
        "dan": ("cleo", "eve"),
        "eve": ("cleo", "dan"),
        "fay": (),
        "gil": (),
    }


def test_pages_of_the_demo_and_of_cassettes_are_nobodys_own_unless_they_were_edited(tmp_path):
    demo = replace(quick_run(), name="hero")
    replayed = replace(live_run("<p>Recorded</p>", "9"), settings={"replayed": "cassettes/hero.jsonl"})
    edited = demo.with_files({"index.html": "<p>By hand</p>"})
    found = same(
        tmp_path,
        ann=[demo, replayed],
        bob=[demo, replayed],
        cleo=[edited],
        dan=[edited],
        eve=[replace(live_run("", "7"), files=Files({"index.html": "<p>Recorded</p>"}))],
    )
    assert found == {"ann": (), "bob": (), "cleo": ("dan",), "dan": ("cleo",), "eve": ()}


def test_one_submission_does_not_decide_for_the_class_what_was_supplied(tmp_path):
    page = live_run("<p>Mine</p>")
    claimed = replace(live_run("<p>Mine</p>", "2"), settings={"replayed": "cassettes/hero.jsonl"})
    assert same(tmp_path, ann=[page], bob=[page], eve=[claimed]) == {
        "ann": ("bob", "eve"),
        "bob": ("ann", "eve"),
        "eve": ("ann", "bob"),
    }
    assert same(tmp_path, ann=[page], eve=[claimed]) == {"ann": ("eve",), "eve": ("ann",)}


def test_one_submission_does_not_make_a_page_of_the_class_its_own(tmp_path):
    replayed = replace(live_run("<p>Recorded</p>"), settings={"replayed": "cassettes/hero.jsonl"})
    found = same(tmp_path, ann=[replayed], bob=[replayed], eve=[live_run("<p>Recorded</p>", "2")])
    assert set(found.values()) == {()}
