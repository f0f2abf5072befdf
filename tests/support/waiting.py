"""Waiting for something that happens in its own time, however slow the machine is."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE = 150
"""Seconds to wait for anything. Only a test that fails waits so long, and some machines are very slow."""


def wait_for(condition: Callable[[], object]) -> None:
    """Polls until the condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def wait_until(page: "Page", condition: Callable[[], object]) -> None:
    """Polls until the condition holds, while the page goes on."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        page.wait_for_timeout(50)
