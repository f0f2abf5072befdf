"""`make test-matrix`: what it installs, and the page that it writes."""

from docs.scripts.matrix import ROWS, SHOWN, TARGET, Result, lowest_versions, page


def test_the_lowest_versions_are_the_lower_bounds():
    assert "pillow==10.3" in lowest_versions()
    assert len(lowest_versions()) >= 14


def test_the_page_names_failures_and_what_did_not_run():
    versions = dict.fromkeys(SHOWN, "1.0")
    passed = Result(python="3.11.7", versions=versions, passed=12, skipped=1, failed=0)
    failed = Result(python="3.12.1", versions=versions, passed=10, skipped=0, failed=2)
    text = page({ROWS[0]: passed, ROWS[2]: failed})
    assert f"| 3.11.7 | {ROWS[0].ipykernel} | lowest | 12 passed, 1 skipped |" in text
    assert "| newest | 10 passed, **2 failed** |" in text
    assert text.count("this Python was not available") == len(ROWS) - 2


def test_the_saved_page_has_a_line_for_each_row_and_no_failure():
    text = TARGET.read_text(encoding="utf-8")
    assert all(f"| {row.ipykernel} | {row.versions} |" in text for row in ROWS)
    assert "failed" not in text
