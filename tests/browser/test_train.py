"""Lesson 05's cassette: it holds the pages as they stand in `pages/train`, for the prompt of the lesson."""

import nbformat
import pytest

from agent_nb import Agent, replay
from docs.scripts.execute_notebooks import FOLDER
from docs.scripts.record_train import CASSETTE, PROMPT, RECORDINGS, page_of
from tests.support.wire.cases import case_of
from tests.wide.test_demo_pages import CHROMIUM, CONTRAST, browser, visit  # noqa: F401 - fixtures


async def test_the_cassette_holds_the_three_pages():
    run = await Agent(replay(CASSETTE, pace=0)).race(PROMPT)
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


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.page)
def test_a_page_fits_reads_and_fetches_nothing(visit, recording, scheme):  # noqa: F811
    page = visit(page_of(recording), scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    contrast, where = page.evaluate(CONTRAST)
    assert contrast >= 4.5, where
    assert (visit.troubles, visit.requests) == ([], [])
