import json
from pathlib import Path

import pytest

from agent_nb.render.outputs import plain_html
from tests.support import ROOT

CASES = json.loads(Path(ROOT / "tests/support/plain_html.json").read_text())


@pytest.mark.parametrize(("markup", "written"), CASES["plain"])
def test_tables_and_text_are_written_anew(markup, written):
    assert plain_html(markup) == written


@pytest.mark.parametrize("markup", [case for [case] in CASES["framed"]])
def test_more_than_that_is_not(markup):
    assert plain_html(markup) is None


def test_tags_end_where_they_began():
    assert plain_html("</div></div><p>a<b>b</p>c<td>") == "<p>a<b>b</b></p>c<td></td>"
