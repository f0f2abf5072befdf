"""The pages of lesson 05's cassette: they fit a phone, can be read and fetch nothing."""

import pytest

from docs.scripts.record_train import RECORDINGS, page_of
from tests.support.widget_stage import axe_findings
from tests.wide.test_demo_pages import visit as visit  # noqa: PLC0414


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.page)
def test_a_page_fits_reads_and_fetches_nothing(visit, recording, scheme):
    page = visit(page_of(recording), scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert axe_findings(page, "html") == []
    assert (visit.troubles, visit.requests) == ([], [])
