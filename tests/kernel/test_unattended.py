"""Nobody watching: nbclient, papermill and nbval run notebooks of agent cells to the end."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.support.kernels import quiet_environment
from tests.support.waiting import PATIENCE


def notebook(*cells: str) -> nbformat.NotebookNode:
    book = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return book


@pytest.fixture
def quiet(tmp_path, monkeypatch):
    for name, value in quiet_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


RUN = (
    "%load_ext agent_nb",
    "%%agent hero -m demo: --pace 0\nA form",
    "assert hero.html and files is hero.files",
)


def execute(book: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    return NotebookClient(book, timeout=PATIENCE, resources={"metadata": {"path": str(folder)}}).execute()


def test_nbclient_waits_for_the_run_and_saves_the_same_where_a_page_is_asked_for(quiet, monkeypatch):
    before = execute(notebook(*RUN), quiet)
    (output,) = before.cells[1].outputs
    assert set(output.data) == {"text/html", "text/markdown", "text/plain"}
    assert "widget" not in str(before.metadata)
    monkeypatch.setenv("JPY_SESSION_NAME", "in.ipynb")  # as in a kernel that a Jupyter server has started
    after = execute(notebook(*RUN), quiet)
    assert [cell.outputs for cell in after.cells] == [cell.outputs for cell in before.cells]
    assert after.metadata == before.metadata


@pytest.mark.wide
def test_papermill_runs_the_notebook(quiet):
    nbformat.write(notebook(*RUN), quiet / "in.ipynb")
    command = [sys.executable, "-m", "papermill", "in.ipynb", "out.ipynb", "--no-progress-bar"]
    subprocess.run(command, cwd=quiet, check=True, capture_output=True, timeout=PATIENCE)
    assert nbformat.read(quiet / "out.ipynb", 4).cells[1].outputs[0].data["text/html"]


@pytest.mark.wide
def test_nbval_sees_a_changed_output(quiet):
    """That it finds the same output again is what `make test-lessons` shows."""
    book = execute(notebook(*RUN), quiet)
    book.cells[1].outputs[0].data["text/html"] = "<p>something else</p>"
    nbformat.write(book, quiet / "other.ipynb")
    options = ["-rA", "--nbval", "other.ipynb", "-p", "no:cacheprovider", "-p", "no:asyncio"]
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=quiet, capture_output=True, text=True, timeout=PATIENCE, check=False)
    outcomes = re.findall(r"^(PASSED|FAILED) (\S+)", done.stdout, re.MULTILINE)
    assert sorted(outcomes) == [("FAILED", "other.ipynb::Cell"), *[("PASSED", "other.ipynb::Cell")] * 2], (
        done.stdout[-2000:]
    )
