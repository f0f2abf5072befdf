"""The browser of the tests and of the scripts that draw: an installed one, else the one that Playwright installs.

`python -m tests.support.browser` prints its path, or fails.
"""

import sys
from pathlib import Path

from agent_nb.pages.chromium import find_chromium


def _find_playwrights() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


CHROMIUM = find_chromium() or _find_playwrights()
"""Its path; without one Playwright fails and says how to install its own."""

if __name__ == "__main__":
    print(CHROMIUM or "There is no browser.")
    sys.exit(not CHROMIUM)
