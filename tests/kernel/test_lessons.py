"""The lessons as they are saved: complete, quiet about this machine, and small."""

import ast
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from docs.scripts.binder import conda_packages
from docs.scripts.execute_notebooks import FOLDER, METADATA, tidy
from tests.support.kernels import quiet_environment

LESSONS = sorted(FOLDER.glob("*.ipynb"))
ABSOLUTE = re.compile(r"(?<![\w.:/<])/(?:work|tmp|root|home|Users|usr|var|private|srv|opt)/\w|[A-Z]:\\\\")
SOLUTION = re.compile(r"<details><summary>Solution</summary>\n\n```python\n(.*?)\n```", re.DOTALL)


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def lesson(request):
    return nbformat.read(request.param, as_version=4)


def code_cells(book):
    return [cell for cell in book.cells if cell.cell_type == "code"]


def test_there_are_lessons():
    assert "01_first_run" in {path.stem for path in LESSONS}


def test_each_begins_with_one_heading(lesson):
    assert lesson.cells[0].cell_type == "markdown"
    assert re.match(r"# \S", lesson.cells[0].source)
    others = [cell for cell in lesson.cells[1:] if cell.cell_type == "markdown"]
    assert not [cell.source for cell in others if re.match(r"# \S", cell.source)]


def test_each_is_saved_in_its_tidy_form(lesson):
    assert lesson.metadata == METADATA  # so no widget state, and the kernel `python3`
    assert tidy(nbformat.from_dict(lesson)) == lesson
    nbformat.validate(lesson)


def test_each_was_run_from_top_to_bottom(lesson):
    counts = [cell.execution_count for cell in code_cells(lesson)]
    assert counts == list(range(1, len(counts) + 1))


def shows(source: str) -> bool:
    """Whether running the cell must leave an output: an agent's cell, a `print`, or a value at the end."""
    if source.startswith("%"):
        return source.startswith(("%%agent", "%agent")) and "--background" not in source.partition("\n")[0]
    tree = compile(source, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST)
    last = tree.body[-1]
    outside = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    prints = "print" in {node.id for top in outside for node in ast.walk(top) if isinstance(node, ast.Name)}
    return prints or (isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call))


def test_outputs_are_saved_where_there_are_some(lesson):
    assert any(shows(cell.source) for cell in code_cells(lesson))
    assert [cell.source for cell in code_cells(lesson) if shows(cell.source) and not cell.outputs] == []


def test_no_output_is_an_error(lesson):
    outputs = [output for cell in code_cells(lesson) for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output.text for output in outputs if output.get("name") == "stderr"]


def test_nothing_names_a_place_on_this_machine(lesson):
    found = ABSOLUTE.search(nbformat.writes(lesson))
    assert found is None, nbformat.writes(lesson)[max(0, found.start() - 80) : found.end() + 80]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_is_small(path: Path):
    assert path.stat().st_size < 400_000


def test_a_path_of_this_machine_is_found():
    assert all(ABSOLUTE.search(text) for text in ("'/tmp/abc'", "in /home/ana", "C:\\\\Users"))
    assert not ABSOLUTE.search("https://example.org/home/page and </home>")


def test_binder_opens_the_first_lesson():
    root = FOLDER.parent
    readme = (root / "README.md").read_text()
    opened = re.findall(r"mybinder\.org/v2/\S+\?urlpath=lab/tree/(\S+?)\)", readme)
    assert {root / path for path in opened} == {LESSONS[0]}
    assert (root / "binder" / "postBuild").stat().st_mode & 0o111
    assert set(conda_packages(root)) == {"python", "nodejs", "pip"}


@pytest.mark.parametrize(
    ("lesson_name", "count"),
    [
        ("06_how_an_agent_loop_works", 5),
        pytest.param("12_from_a_question_to_a_page", 3, marks=pytest.mark.wide),
    ],
)
def test_the_solutions_of_a_lesson_pass_its_checks(lesson_name, count, tmp_path, monkeypatch):
    for name, value in quiet_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    book = nbformat.read(FOLDER / f"{lesson_name}.ipynb", as_version=4)
    exercises = [i for i, cell in enumerate(book.cells) if "exercise" in cell.metadata.get("tags", ())]
    checks = [cell for cell in book.cells if "exercise-check" in cell.metadata.get("tags", ())]
    assert len(exercises) == len(checks) == count
    assert all("waiting for you" in check.outputs[0].text for check in checks)
    shutil.copytree(FOLDER / "cassettes", tmp_path / "cassettes")
    for place in exercises:
        book.cells[place].source = SOLUTION.search(book.cells[place + 1].source)[1]
    NotebookClient(book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    texts = [check.outputs[0].text for check in checks]
    assert [bool(re.match(rf"Exercise {i}: right", text)) for i, text in enumerate(texts, 1)] == [
        True
    ] * count


def test_links_between_lessons_lead_somewhere(lesson):
    linked = [name for cell in lesson.cells for name in re.findall(r"\]\(([^)]+\.ipynb)\)", cell.source)]
    assert [name for name in linked if not (FOLDER / name).exists()] == []


def test_the_first_lesson_links_to_all_others():
    book = nbformat.read(LESSONS[0], as_version=4)
    assert re.findall(r"\]\((\S+\.ipynb)\)", book.cells[-1].source) == [path.name for path in LESSONS[1:]]
