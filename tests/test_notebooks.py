"""The lessons as they are saved: complete, quiet about this machine, and small."""

import re
from pathlib import Path

import nbformat
import pytest

from tests.execute_notebooks import FOLDER, METADATA, tidy

LESSONS = sorted(FOLDER.glob("*.ipynb"))
ABSOLUTE = re.compile(r"(?<![\w.:/<])/(?:work|tmp|root|home|Users|usr|var|private|srv|opt)/\w|[A-Z]:\\\\")
SILENT = re.compile(
    r"\s*(?:%load_ext|%config|from |import |assert |def |class |@|async def |[\w.]+(?:, \w+)* = )|%%agent.*--background"
)
"""How a cell may begin that shows nothing."""


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


def test_outputs_are_saved_where_there_are_some(lesson):
    empty = [cell.source for cell in code_cells(lesson) if not cell.outputs]
    assert [source for source in empty if not SILENT.match(source)] == []


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
    assert all(ABSOLUTE.search(text) for text in ("'/tmp/abc'", "in /work/main", "C:\\\\Users"))
    assert not ABSOLUTE.search("https://example.org/home/page and </home>")
