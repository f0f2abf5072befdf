"""Prints the table of faults and writes it at the end, if any of them was run; with `-n`, that of all workers."""

from typing import Any

import pytest

from tests.support.fault_table import TABLE


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["faults"] = TABLE.to_plain()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker has ended; one that crashed has sent nothing."""
    if plain := getattr(node, "workeroutput", {}).get("faults"):
        TABLE.merge(plain)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TABLE.rows:
        terminalreporter.write_line("")
        for line in TABLE.lines:
            terminalreporter.write_line(line)
        TABLE.write()
