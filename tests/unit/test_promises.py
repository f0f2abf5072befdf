"""docs/internals/security.md names a test for each promise, and the test is there."""

from docs.scripts.trust import promises
from tests.support import ROOT


def test_every_promise_has_its_attack():
    rows = promises()
    text = (ROOT / "docs/internals/security.md").read_text(encoding="utf-8")
    assert len(rows) == text.count("\n| ") - text.count("\n| promise |")
    for row in rows:
        for test in row.tests:
            assert (ROOT / test).is_file(), (row.text, test)
