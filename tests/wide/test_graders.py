"""`--check` cells under nbgrader and Otter: ordinary cells that fail, so both tools take their points away.

The tools have an environment of their own, which `make test-graders` makes.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.support import ROOT
from tests.support.kernels import quiet_environment

BIN = ROOT / ".venv-graders" / "bin"
pytestmark = pytest.mark.skipif(not BIN.exists(), reason="`make test-graders` installs nbgrader and Otter")

HOLDS = "%%agent hero -m demo: --pace 0 --check '<form' in html\nA form"
FAILS = "%%agent other -m demo: --pace 0 --check len(files) > 9\nA form"
STUB = "%%agent prompt -m demo: --pace 0\n### BEGIN SOLUTION\nA form with a name\n### END SOLUTION"
OTTER_TEST = """
from otter.test_files import test_case
OK_FORMAT = False
name = {name!r}
points = None

@test_case(points={points})
def check({run}):
    assert not {run}.failed_check
"""
SCORES = """
import json
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db") as gradebook:
    grades = [grade for book in gradebook.find_submission("week3", "ann").notebooks for grade in book.grades]
    print(json.dumps({grade.name: [grade.auto_score, grade.max_score] for grade in grades}))
"""


def run(folder: Path, *command: str) -> str:
    environment = quiet_environment(
        folder, HOME=str(folder), PYTHONPATH=str(ROOT), PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}"
    )
    done = subprocess.run(
        [str(BIN / "python"), *command],
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write(path: Path, *cells: Any) -> None:
    path.parent.mkdir(parents=True)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=list(cells), metadata={"kernelspec": kernel}), path)


def graded(source: str, name: str, points: int, **other: bool) -> Any:
    """A cell with autograder tests, as nbgrader's toolbar marks it, or with other flags."""
    flags = {"grade": True, "locked": True, "solution": False, "task": False, "schema_version": 3, **other}
    metadata = {**flags, "grade_id": name, "points": points, "cell_type": "code"}
    return new_code_cell(source, metadata={"nbgrader": metadata})


def test_nbgrader(tmp_path):
    exercise = graded(STUB, "exercise", 0, grade=False, locked=False, solution=True)
    untouched = graded("assert '<form' in prompt.files['index.html']", "untouched", 4)
    checks = [graded(HOLDS, "holds", 2), graded(FAILS, "fails", 3)]
    cells = [new_code_cell("%load_ext agent_nb"), *checks, exercise, untouched]
    write(tmp_path / "source" / "week3" / "lab.ipynb", *cells)
    run(tmp_path, "-m", "nbgrader", "generate_assignment", "week3", "--create")
    shutil.copytree(tmp_path / "release" / "week3", tmp_path / "submitted" / "ann" / "week3")
    run(tmp_path, "-m", "nbgrader", "autograde", "week3", "--create")
    assert json.loads(run(tmp_path, "-c", SCORES)) == {"holds": [2, 2], "fails": [0, 3], "untouched": [0, 4]}


def test_otter(tmp_path):
    (tmp_path / "tests").mkdir()
    for name, variable, points in (("holds", "hero", 2), ("fails", "other", 3)):
        source = OTTER_TEST.format(name=name, run=variable, points=points)
        (tmp_path / "tests" / f"{name}.py").write_text(source)
    first = "%load_ext agent_nb\nimport otter\ngrader = otter.Notebook(tests_dir='tests')"
    checks = [new_code_cell(f"grader.check({name!r})") for name in ("holds", "fails")]
    write(tmp_path / "work" / "lab.ipynb", *map(new_code_cell, (first, HOLDS, FAILS)), *checks)
    run(tmp_path, "-m", "otter", "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment")
    run(tmp_path, "-m", "otter", "run", "-a", "autograder.zip", "-o", "work", "work/lab.ipynb")
    results = json.loads((tmp_path / "work" / "results.json").read_text())["tests"]
    scores = {each["name"]: [each["score"], each["max_score"]] for each in results if "score" in each}
    assert scores == {"holds": [2, 2], "fails": [0, 3]}
