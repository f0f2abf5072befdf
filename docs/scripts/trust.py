"""Runs the tests that docs/internals/security.md names, and prints its promises with the results: `make test-trust`."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

PAGE = Path(__file__).parents[1] / "internals" / "security.md"
_ROW = re.compile(r"^\| (?P<promise>[^|]+?) \| (?P<tests>`tests/[^|]+?) \|$", re.MULTILINE)


class Promise(NamedTuple):
    text: str
    tests: tuple[str, ...]


def promises() -> list[Promise]:
    """The rows of the page, in order."""
    found = _ROW.finditer(PAGE.read_text(encoding="utf-8"))
    return [Promise(row["promise"], tuple(re.findall(r"`(tests/[^`]+)`", row["tests"]))) for row in found]


class Results:
    """A plugin of pytest that notes how the tests of each file ended."""

    def __init__(self) -> None:
        self.passed: dict[str, int] = {}
        self.failed: dict[str, int] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or (report.passed and report.when == "call"):
            counts = self.failed if report.failed else self.passed
            file = report.nodeid.partition("::")[0]
            counts[file] = counts.get(file, 0) + 1


def main() -> int:
    rows, results = promises(), Results()
    files = list(dict.fromkeys(test for row in rows for test in row.tests))
    # The trust tests are marked, because some take minutes: an empty -m takes them all.
    # In the order of the folders: pytest-xdist would start files with few tests last, which take longest.
    workers = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    code = pytest.main(["-q", "-p", "no:nbval", "-m", "", *workers, *files, *sys.argv[1:]], plugins=[results])
    print()
    for row in rows:
        failed = sum(results.failed.get(test, 0) for test in row.tests)
        passed = sum(results.passed.get(test, 0) for test in row.tests)
        state = (
            f"{failed} of {failed + passed} FAILED"
            if failed
            else f"held, {passed} attacks"
            if passed
            else "NOT RUN"
        )
        print(f"{state:20}  {row.text}")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
