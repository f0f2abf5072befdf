"""A plugin of pytest: nbval waits 5 seconds for the first output of a cell, which a busy machine exceeds."""

import pytest

from tests.support.waiting import PATIENCE


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = PATIENCE
