"""Opens the page of a run in the browser of the machine that runs Python."""

import os
import tempfile
import webbrowser
from functools import cache
from pathlib import Path

from agent_nb._base.atomic import write_atomically
from agent_nb.errors import ConfigError
from agent_nb.render import to_page
from agent_nb.run.record import RunRecord


def open_page(run: RunRecord) -> Path:
    page = to_page(run)
    if page is None:
        raise ConfigError(f"`{run.name}` has no page to open: {', '.join(run.files) or 'no files'}.")
    browser = _browser()
    if browser is None:
        raise ConfigError(
            f"There is no browser on the machine that runs Python. `{run.name}.files.save('site')` writes the files "
            "to a folder; in a notebook, the output of the cell shows the page."
        )
    folder = Path(_folder().name)
    path = folder / f"{run.name}-{run.id}.html"
    write_atomically(path, page.encode("utf-8", "replace"), within=folder)
    browser.open(path.as_uri())
    return path


def _browser() -> webbrowser.BaseBrowser | None:
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return None
    # Without a display Python finds text browsers, which would take the kernel's terminal and not return.
    is_text_browser = type(browser) is webbrowser.GenericBrowser and "BROWSER" not in os.environ
    return None if is_text_browser else browser


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="agent_nb-", ignore_cleanup_errors=True)
