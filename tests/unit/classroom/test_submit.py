"""`%agent submit`: which file it takes, what it refuses, and what is in the zip file."""

import os
import re
import time
import zipfile

import pytest

from agent_nb import load
from agent_nb.classroom import submit as submit_module
from agent_nb.classroom.log import FILE
from tests.support.notebooks import notebook

NAME = "Übung 三.ipynb"
DEMO = "%%agent hero -m demo: --pace 0 --check '<form' in html\nA form"
KEY = "sk-ant-api03-" + "a1B2" * 8


@pytest.fixture
def save(shell, tmp_path):
    """Saves the notebook: its cells, and when, in seconds from now."""
    (tmp_path / "lab.toml").write_text("[lab]", encoding="utf-8")

    def write(*cells, later: float = 0.0):
        path = tmp_path / NAME
        path.write_bytes(notebook(*cells))
        os.utime(path, (time.time() + later,) * 2)
        return path

    return write


def parts(tmp_path) -> dict[str, bytes]:
    with zipfile.ZipFile(tmp_path / "Übung 三-submission.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_notebook_log_runs_and_pages(shell, save, tmp_path, monkeypatch):
    shell.run(DEMO)
    shell.run(DEMO.replace("hero", "héros"))
    first = shell.names["hero"].id
    shell.run(DEMO)
    shell.run("hero = hero.with_files({'index.html': '<p>Mine</p>'})\ndel héros")
    saved = save(DEMO, DEMO, "x = 1", ("%agent submit", None))
    monkeypatch.setenv("JPY_SESSION_NAME", str(saved))
    cell = shell.run("%agent submit")
    assert cell.ok, cell.error
    found = parts(tmp_path)
    assert list(found) == sorted(found)
    hero = shell.names["hero"]
    assert set(found) >= {
        NAME,
        FILE,
        f"runs/hero-{hero.id}.run.jsonl",
        f"runs/hero-{first}.run.jsonl",
        "pages/héros.html",
    }
    assert len([name for name in found if name.startswith("runs/")]) == 3
    assert "Wrote Übung 三-submission.zip (" in cell.stdout
    assert re.search(
        rf": {NAME} as saved [0-9.]+ s ago, {FILE} with 3 runs, 3 saved runs, 2 pages\.", cell.stdout
    )
    assert cell.stdout.count("\n") == 1
    assert found[NAME] == saved.read_bytes()
    assert b"Mine" in found["pages/hero.html"]
    assert b"Content-Security-Policy" in found["pages/hero.html"]
    (tmp_path / "run.json").write_bytes(found[f"runs/hero-{hero.id}.run.jsonl"])
    assert load(tmp_path / "run.json").files["index.html"] == "<p>Mine</p>"
    before = (tmp_path / "Übung 三-submission.zip").read_bytes()
    assert shell.run(f"%agent submit '{NAME}'").ok
    assert (tmp_path / "Übung 三-submission.zip").read_bytes() == before


def test_a_file_older_than_the_last_cell_is_refused(shell, save, tmp_path):
    shell.run("x = 1")
    save("x = 1", later=-5)
    refused = shell.run(f"%agent submit {NAME}")
    assert "save the notebook first" in str(refused.error)
    assert not list(tmp_path.glob("*.zip"))
    save("x = 1")
    for _ in range(2):
        assert shell.run(f"%agent submit {NAME}").ok


def test_what_is_wrong_with_the_cells_is_said_and_submitted(shell, save, tmp_path):
    save(("a = 1", 2), ("b = 1", 1), ("c = 1", None), (DEMO, 3, "CheckFailed"))
    cell = shell.run(f"%agent submit {NAME}")
    assert cell.ok
    assert "Cell 3 (`c = 1`) did not run." in cell.stdout
    assert "Cell 2 (`b = 1`) ran before the cell above." in cell.stdout
    assert "The check of cell 4" in cell.stdout
    assert "no log" in cell.stdout
    assert NAME in parts(tmp_path)


def test_a_key_in_the_notebook_is_refused(shell, save, tmp_path):
    save("a = 1", f"key = '{KEY}'")
    error = str(shell.run(f"%agent submit {NAME}").error)
    assert "There is an API key in the notebook (cell 2)." in error
    assert KEY not in error
    assert not list(tmp_path.glob("*.zip"))


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("", "This kernel does not know its notebook's file. Name it, such as `%agent submit week3.ipynb`."),
        ("other.ipynb", "There is no notebook 'other.ipynb' in"),
        ("notes.txt", "'notes.txt' is not a notebook."),
    ],
)
def test_a_notebook_that_is_not_found(shell, save, line, error, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "renamed.ipynb")
    assert error in str(shell.run(f"%agent submit {line}").error)


def test_the_file_that_vs_code_names(shell, save):
    shell.names["__vsc_ipynb_file__"] = str(save("a = 1"))
    assert shell.run("%agent submit").ok


def test_sizes_are_bounded_and_said(shell, save, monkeypatch):
    shell.run(DEMO)
    shell.run(DEMO)
    size = len(submit_module.run_file(shell.names["hero"]))
    save("a = 1")
    monkeypatch.setattr(submit_module, "MAX_RUNS", size + 100)
    said = shell.run(f"%agent submit {NAME}").stdout
    assert "1 saved run, 1 page." in said
    assert "1 older run left out: a submission holds" in said
    save("a = 1")
    monkeypatch.setattr(submit_module, "MAX_NOTEBOOK", 10)
    assert "at most 10 bytes can be submitted. Clear large outputs." in str(
        shell.run(f"%agent submit {NAME}").error
    )


def test_the_runs_of_a_notebook_that_was_renamed_go_with_it(shell, save, tmp_path, monkeypatch):
    old = tmp_path / "old.ipynb"
    old.touch()
    monkeypatch.setenv("JPY_SESSION_NAME", str(old))
    shell.run(DEMO)
    shell.run("del hero")
    old.unlink()
    save("a = 1")
    assert "1 saved run, 1 page." in shell.run(f"%agent submit {NAME}").stdout


def test_runs_of_other_notebooks_in_the_folder_stay_there(shell, save, tmp_path, monkeypatch):
    (tmp_path / "other.ipynb").touch()
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "other.ipynb"))
    shell.run(DEMO.replace("hero", "other"))
    shell.run("del other")
    monkeypatch.setenv("JPY_SESSION_NAME", str(save("a = 1")))
    shell.run(DEMO)
    save("a = 1")
    shell.run("%agent submit")
    assert [name for name in parts(tmp_path) if name.startswith("pages/")] == ["pages/hero.html"]
