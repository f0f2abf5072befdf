"""The pages of lesson 05's cassette: they fit a phone, can be read and fetch nothing."""

import pytest

from docs.scripts.record_train import RECORDINGS, page_of
from tests.wide.test_demo_pages import CHROMIUM, CONTRAST, visit  # noqa: F401 - a fixture


@pytest.mark.wide
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.page)
def test_a_page_fits_reads_and_fetches_nothing(visit, recording, scheme):  # noqa: F811
    page = visit(page_of(recording), scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    contrast, where = page.evaluate(CONTRAST)
    assert contrast >= 4.5, where
    assert (visit.troubles, visit.requests) == ([], [])
