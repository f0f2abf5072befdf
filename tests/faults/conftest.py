"""Prints the table of faults and writes it at the end, if any of them was run."""

import pytest

from tests.support.fault_table import TABLE


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TABLE.rows:
        terminalreporter.write_line("")
        for line in TABLE.lines:
            terminalreporter.write_line(line)
        TABLE.write()
