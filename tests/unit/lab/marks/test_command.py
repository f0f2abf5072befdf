"""`python -m agent_nb.marks`: arguments, exit status, and what is written."""

import csv
import subprocess
import sys

import pytest

from agent_nb.lab.marks.command import main
from tests.support.submissions import live_run, submit


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two submissions that can be read, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "submissions").mkdir()
    for name, page in (("Zoë 三", "<p>1</p>"), ("محمد", "<p>1</p>")):
        submit(tmp_path / "submissions" / f"{name}.zip", [live_run(page)])
    return tmp_path


def rows(path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_all_submissions_in_a_process_of_its_own(folder):
    (folder / "submissions" / "broken.zip").write_text("x")
    before = {path for path in folder.rglob("*") if "work" not in str(path)}
    command = [sys.executable, "-m", "agent_nb.marks", "submissions/*.zip", "-o", "marks.csv"]
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == "Wrote marks.csv: 3 submissions, 1 could not be read.\n"
    found = {row["student"]: row for row in rows(folder / "marks.csv")}
    assert found["broken"]["error"] == "The zip file is damaged."
    assert found["Zoë 三"]["same_page_as"] == "محمد"
    after = {path for path in folder.rglob("*") if "work" not in str(path)}
    assert after - before == {folder / "marks.csv"}


def test_a_folder_and_supplied_files(folder, capsys):
    (folder / "given").mkdir()
    (folder / "given" / "start.html").write_text("<p>1</p>")
    assert main(["submissions", "-o", "marks.csv", "--supplied", "given"]) == 0
    assert capsys.readouterr().out == "Wrote marks.csv: 2 submissions.\n"
    assert [row["same_page_as"] for row in rows(folder / "marks.csv")] == ["", ""]


def test_files_of_the_same_name_are_told_apart_by_their_folders(folder):
    for name in ("ann", "bob"):
        (folder / name).mkdir()
        submit(folder / name / "week3-submission.zip", [])
    assert main(["ann", "bob", "submissions", "-o", "marks.csv"]) == 0
    names = [row["student"] for row in rows(folder / "marks.csv")]
    assert names[:2] == ["ann/week3-submission", "bob/week3-submission"]
    assert set(names[2:]) == {"Zoë 三", "محمد"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing/*.zip", "-o", "marks.csv"], "There are no zip files in 'nothing/*.zip'."),
        (
            ["submissions", "-o", "submissions/محمد.zip"],
            "cannot be the table: name a file such as marks.csv.",
        ),
        (["submissions", "-o", "."], "'.' cannot be the table"),
        (["submissions", "-o", "محمد work/x/y.csv/"], "cannot be written"),
        (["submissions", "-o", "marks.csv", "--supplied", "none"], "There is no file or folder 'none'."),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_written(folder, arguments, sentence, capsys):
    (folder / "محمد work").write_text("a file")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert main(arguments) == 2
    written = capsys.readouterr()
    assert sentence in written.err
    assert written.err.count("\n") == 1
    assert written.out == ""
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_the_help_says_what_the_table_is_not(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert "no proof of misconduct" in shown
    assert "exit status" in shown
