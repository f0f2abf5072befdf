"""The lessons as they are saved: complete, quiet about this machine, and small."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook, new_output

from agent_nb import Agent, replay
from docs.scripts.execute_notebooks import FOLDER, METADATA, tidy
from docs.scripts.record_train import CASSETTE, PROMPT, RECORDINGS, page_of
from tests.kernel.wrong_answers import WRONG
from tests.support.kernels import quiet_environment
from tests.support.waiting import PATIENCE
from tests.support.wire.cases import case_of

LESSONS = sorted(FOLDER.glob("*.ipynb"))
ABSOLUTE = re.compile(r"(?<![\w.:/<])/(?:work|tmp|root|home|Users|usr|var|private|srv|opt)/\w|[A-Z]:\\\\")
SOLUTION = re.compile(r"<details><summary>Solution</summary>\n\n```python\n(.*?)\n```", re.DOTALL)


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def lesson(request):
    return nbformat.read(request.param, as_version=4)


def code_cells(book):
    return [cell for cell in book.cells if cell.cell_type == "code"]


def test_there_are_lessons_and_answers_to_each():
    assert [path.stem for path in LESSONS] == list(WRONG)


def test_each_is_saved_in_its_tidy_form(lesson):
    assert lesson.metadata == METADATA  # so no widget state, and the kernel `python3`
    assert tidy(nbformat.from_dict(lesson)) == lesson
    nbformat.validate(lesson)


def test_running_a_lesson_again_changes_nothing():
    saved = []
    for address in ("0x7eff54d68950", "0x7eff54d6A1F0"):
        shown = {"text/html": f"<td>&lt;Groups object at {address}&gt;</td>"}
        outputs = [
            new_output("stream", text=f"<Groups object at {address}>\n"),
            new_output("display_data", data=shown),
        ]
        saved.append(tidy(new_notebook(cells=[new_code_cell("groups", outputs=outputs)])))
    assert saved[0] == saved[1]
    assert saved[0].cells[0].outputs[1].data["text/html"] == "<td>&lt;Groups object at …&gt;</td>"


def test_each_was_run_from_top_to_bottom(lesson):
    counts = [cell.execution_count for cell in code_cells(lesson)]
    assert counts == list(range(1, len(counts) + 1))


def test_outputs_that_nbval_does_not_compare_are_saved_too(lesson):
    ignored = tagged(lesson, "nbval-ignore-output")
    assert [cell.source for cell in ignored if cell.source.startswith("%") and not cell.outputs] == []


def test_no_output_is_an_error_where_none_is_meant(lesson):
    cells = [cell for cell in code_cells(lesson) if "raises-exception" not in cell.metadata.get("tags", ())]
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output.text for output in outputs if output.get("name") == "stderr"]


def test_nothing_names_a_place_on_this_machine(lesson):
    found = ABSOLUTE.search(nbformat.writes(lesson))
    assert found is None, nbformat.writes(lesson)[max(0, found.start() - 80) : found.end() + 80]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("cassettes/**/*.jsonl")), ids=lambda path: path.name)
def test_no_cassette_names_a_place_on_this_machine(path: Path):
    assert ABSOLUTE.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_is_small(path: Path):
    assert path.stat().st_size < 400_000


def tagged(book, tag):
    return [cell for cell in book.cells if tag in cell.metadata.get("tags", ())]


def with_answers(book, wrong):
    """The lesson with two answers to each exercise: a wrong one, whose check must raise, and its own solution."""
    cells, answers, solution = [], iter(wrong), ""
    for cell in book.cells:
        cells.append(cell)
        if found := SOLUTION.search(cell.source):
            solution = found[1]
        if "exercise" in cell.metadata.get("tags", ()):
            cell.source = next(answers)
        if "exercise-check" in cell.metadata.get("tags", ()):
            cells += [new_code_cell(solution), new_code_cell(cell.source, metadata={"tags": ["checked"]})]
            cell.metadata["tags"] = ["refused", "raises-exception"]
    return nbformat.from_dict({**book, "cells": cells})


@pytest.mark.parametrize("name", WRONG)
def test_each_has_exercises_that_wait(name):
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    checks = tagged(book, "exercise-check")
    assert 3 <= len(checks) <= 5
    assert len(tagged(book, "exercise")) == len(checks) == len(WRONG[name])
    for number, check in enumerate(checks, 1):
        assert check.outputs[0].text == f"Exercise {number} is waiting for you.\n"
    folds = [cell.source for cell in book.cells if SOLUTION.search(cell.source)]
    assert len(folds) == len(checks)
    assert all("<summary>Hint</summary>" in fold for fold in folds)


QUICK = ("06_how_an_agent_loop_works",)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.wide) for name in WRONG]
)
def test_a_check_refuses_a_wrong_answer_and_accepts_the_solution(name, tmp_path, monkeypatch):
    for variable, value in quiet_environment(tmp_path).items():
        monkeypatch.setenv(variable, value)
    shutil.copytree(FOLDER, tmp_path / "lessons", ignore=shutil.ignore_patterns("*.ipynb", ".agent_nb"))
    book = with_answers(nbformat.read(FOLDER / f"{name}.ipynb", as_version=4), WRONG[name])
    NotebookClient(
        book, timeout=PATIENCE, resources={"metadata": {"path": str(tmp_path / "lessons")}}
    ).execute()
    refused, accepted = tagged(book, "refused"), tagged(book, "checked")
    assert len(refused) == len(accepted) == len(WRONG[name])
    assert [cell.outputs[-1].get("ename") for cell in refused] == ["AssertionError"] * len(refused)
    for number, cell in enumerate(accepted, 1):
        printed = "".join(output.get("text", "") for output in cell.outputs)
        assert re.search(rf"^Exercise {number}: right", printed, re.MULTILINE)


def test_links_between_lessons_lead_somewhere(lesson):
    linked = [name for cell in lesson.cells for name in re.findall(r"\]\(([^)]+\.ipynb)\)", cell.source)]
    assert [name for name in linked if not (FOLDER / name).exists()] == []


def anchors(page: Path) -> set[str]:
    """What a link to a part of this page can name, as GitHub makes it from a heading."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {"", *(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)}


def test_links_to_the_docs_lead_somewhere(lesson):
    links = [link for cell in lesson.cells for link in re.findall(r"\]\((\.\./docs/[^)]+)\)", cell.source)]
    parts = [link.partition("#") for link in links]
    wrong = [
        link for link, (path, _, name) in zip(links, parts, strict=True) if name not in anchors(FOLDER / path)
    ]
    assert wrong == []


def test_the_first_lesson_links_to_all_others():
    book = nbformat.read(LESSONS[0], as_version=4)
    assert re.findall(r"\]\((\S+\.ipynb)\)", book.cells[-1].source) == [path.name for path in LESSONS[1:]]


async def test_the_cassette_of_the_train_pages_holds_them():
    run = await Agent(replay(CASSETTE, pace=0)).start_variants(PROMPT)
    assert [variant.model for variant in run.variants] == [
        case_of(recording.vendor).name for recording in RECORDINGS
    ]
    assert [variant.html for variant in run.variants] == [page_of(recording) for recording in RECORDINGS]
    assert {variant.reason for variant in run.variants} == {"end_turn"}


def test_the_lesson_asks_what_was_recorded():
    book = nbformat.read(FOLDER / "05_variants.ipynb", as_version=4)
    (cell,) = [cell for cell in book.cells if cell.source.startswith("%%agent train ")]
    options, _, prompt = cell.source.partition("\n")
    assert prompt == PROMPT
    assert options.split()[3::2] == [case_of(recording.vendor).name for recording in RECORDINGS]
