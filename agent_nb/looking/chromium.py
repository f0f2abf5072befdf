"""Looks at pages with headless Chromium.

The page is shown under the policy of the live preview, and Chromium can reach nothing but the library files of the
stacks. Chromium's own sandbox is what keeps a page that exploits a bug of the browser from the kernel, so a root user,
for whom it does not work, has to allow Chromium without it.
"""

import asyncio
import contextlib
import os
import shutil
import weakref
from collections.abc import AsyncIterator, Sequence

from agent_nb._base.threads import off_loop
from agent_nb.errors import ConfigError
from agent_nb.files import Files
from agent_nb.looking.chromium_page import Page
from agent_nb.looking.devtools import BrowserGoneError, connected
from agent_nb.looking.element_look import ElementLook, ElementRequest, read_looks
from agent_nb.looking.page_check import CheckRequest, PageCheck, ViewerUnavailableError
from agent_nb.looking.page_report import read_report
from agent_nb.render.policy import allowed_hosts

PATH_VARIABLE = "AGENT_NB_CHROMIUM"
"""The path of the browser, or `off`."""
SANDBOX_VARIABLE = "AGENT_NB_CHROMIUM_SANDBOX"
"""`off` runs Chromium without its sandbox."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
START_SECONDS = 20.0
AT_ONCE = 2
"""Browsers that run at the same time, whatever the number of variants."""

_turns: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]" = (
    weakref.WeakKeyDictionary()
)


class ChromiumViewer:
    """A `PageViewer` that starts a browser for each look.

    Without a path it uses the Chromium or Chrome on this machine. Root needs `sandbox=False`, or the variable
    AGENT_NB_CHROMIUM_SANDBOX=off, which counts where `sandbox` is not given.
    """

    def __init__(self, path: str | None = None, *, sandbox: bool | None = None) -> None:
        if not hasattr(os, "posix_spawn"):
            raise ConfigError("Pages can be shown in Chromium on Linux and macOS only.")
        found = path or find_chromium()
        if found is None:
            raise ConfigError(
                f"There is no Chromium on this machine. Install it, or set {PATH_VARIABLE} to its path."
            )
        if sandbox is None:
            sandbox = os.environ.get(SANDBOX_VARIABLE, "").lower() != "off"
        if sandbox and os.geteuid() == 0:
            raise ConfigError(
                "Chromium's sandbox does not work for root. Run as another user, or set"
                f" {SANDBOX_VARIABLE}=off to show pages without it."
            )
        self._path, self._sandbox = found, sandbox

    async def check(self, request: CheckRequest) -> PageCheck:
        async with self._page(request) as page:
            await page.look(request.widths)
        return await off_loop(read_report, page.report, request, "headless Chromium")

    async def look_at(self, request: ElementRequest) -> Sequence[ElementLook | None]:
        async with self._page(request) as page:
            await page.look_at(request.selectors, request.width)
        return await off_loop(read_looks, page.report, request)

    @contextlib.asynccontextmanager
    async def _page(self, request: CheckRequest | ElementRequest) -> AsyncIterator[Page]:
        """A page in a browser of its own, as soon as it is this one's turn."""
        from agent_nb.looking.chromium_process import running

        files = request.files if isinstance(request.files, Files) else Files(dict(request.files))
        turns = _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE))
        async with turns, contextlib.AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(START_SECONDS):
                    browser = running(self._path, allowed_hosts(), sandbox=self._sandbox)
                    connection = await stack.enter_async_context(
                        connected(*await stack.enter_async_context(browser))
                    )
                    await connection.open_page()
            except (TimeoutError, OSError, BrowserGoneError) as error:
                raise ViewerUnavailableError(f"Chromium did not start ({error or 'too slow'}).") from None
            with contextlib.suppress(BrowserGoneError):
                yield Page(connection, files, request.path)


def find_chromium() -> str | None:
    """The path of the browser; None if there is none, or it is switched off."""
    named = os.environ.get(PATH_VARIABLE, "")
    if named.lower() == "off":
        return None
    return next(filter(None, map(shutil.which, (named,) if named else NAMES)), None)


def installed_viewer() -> ChromiumViewer | None:
    """The viewer for runs that nobody watches; None if there is no Chromium, or it would need permission."""
    with contextlib.suppress(ConfigError):
        return ChromiumViewer()
    return None
