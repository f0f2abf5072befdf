"""Prints the table of faults and writes it at the end, if any of them was run, also if the tests were interrupted.

Each test sends its rows with its report, because with `-n` it runs in another process.
"""

import pytest

from tests.support.fault_table import TABLE, Table

TOTAL = Table()


def pytest_runtest_teardown(item: pytest.Item) -> None:
    item.user_properties.append(("faults", TABLE.take()))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        for name, rows in report.user_properties:
            if name == "faults":
                TOTAL.merge(rows)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TOTAL.rows:
        terminalreporter.write_line("")
        for line in TOTAL.lines:
            terminalreporter.write_line(line)
        TOTAL.write()
