"""Checks pages in headless Chromium, which is controlled by Playwright."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote

from agent_nb._base.bundles import bundle
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError
from agent_nb.files import Files
from agent_nb.pages.element_look import MAX_SIDE, ElementLook, ElementRequest, read_looks
from agent_nb.pages.page_check import (
    MAX_HEIGHT,
    PHONE,
    CheckRequest,
    PageCheck,
    ViewerUnavailableError,
    read_report,
)
from agent_nb.pages.page_gate import gated
from agent_nb.pages.policy import SANDBOX, allowed_files, allowed_hosts, policy_for
from agent_nb.pages.preview import TooLargeError, assembled, with_frame_script

PATH_VARIABLE = "AGENT_NB_CHROMIUM"
"""The path of the browser, or `off`."""
SANDBOX_VARIABLE = "AGENT_NB_CHROMIUM_SANDBOX"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
START_SECONDS, SECONDS, LOAD_SECONDS, SETTLE_SECONDS = 20.0, 10.0, 4.0, 3.0
"""Timeouts for the start and the check of a page. Unfinished parts are missing from the report."""
AT_ONCE = 2
"""Maximum concurrent browsers, for any number of variants."""
MAX_PAGE, MAX_ENTRIES, MAX_AT_A_PLACE = 10_000_000, 200, 3
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "TZ")
"""Environment variables passed to Chromium; others may contain keys."""
_FOLDERS = "HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"
_FLAGS = (
    "--no-proxy-server",
    "--disable-gpu",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
)
_HOST = "https://preview.invalid/"
_LEVELS = {"error": "error", "assert": "error", "warning": "warning"}
_HEADLESS = bundle("headless")
_VIOLATION = re.compile(r"'(https?:[^']+)' violates")
_NOT_ALLOWED = "the preview does not allow it"

_turns = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]()


class ChromiumViewer:
    """A `PageViewer` that starts a browser for each check.

    Without a path it uses an installed Chromium or Chrome. Root needs `sandbox=False`, or the variable
    AGENT_NB_CHROMIUM_SANDBOX=off if `sandbox` is unset.
    """

    def __init__(self, path: str | None = None, *, sandbox: bool | None = None) -> None:
        if find_spec("playwright") is None:
            raise ConfigError(
                'Checking pages requires Playwright and Chromium: `pip install "agent-nb[look]"`.'
            )
        executable = path or find_chromium()
        if executable is None:
            raise ConfigError(
                f"There is no Chromium on this machine. Install it, or set {PATH_VARIABLE} to its path."
            )
        if sandbox is None:
            sandbox = os.environ.get(SANDBOX_VARIABLE, "").lower() != "off"
        if sandbox and hasattr(os, "geteuid") and os.geteuid() == 0:
            raise ConfigError(
                "Chromium's sandbox does not work for root. Run as another user, or set"
                f" {SANDBOX_VARIABLE}=off to show pages without it."
            )
        self._path, self._sandbox = executable, sandbox

    async def check(self, request: CheckRequest) -> PageCheck:
        async with self._page(request) as page:
            await page.look(request.widths)
        return await off_loop(read_report, page.report, request, "headless Chromium")

    async def look_at(self, request: ElementRequest) -> Sequence[ElementLook | None]:
        async with self._page(request) as page:
            await page.look_at(request.selectors, request.width)
        return await off_loop(read_looks, page.report, request)

    @contextlib.asynccontextmanager
    async def _page(self, request: CheckRequest | ElementRequest) -> AsyncIterator["_Page"]:
        """Yield a page in a new browser, once a slot is free."""
        from playwright.async_api import Error

        page = _Page(Files(request.files), request.path, request.bound)
        turns = _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE))
        async with turns, _playwright() as (starting, home):
            try:
                async with asyncio.timeout(START_SECONDS):
                    browser = await self._launch(await asyncio.shield(starting), home)
                    await page.open(await browser.new_context(service_workers="block"))
            except (TimeoutError, OSError, Error) as error:
                why = str(error).partition("\n")[0] or "too slow"
                raise ViewerUnavailableError(f"Chromium did not start ({why}).") from None
            try:
                async with asyncio.timeout(SECONDS):
                    yield page
            except TimeoutError:
                page.notes.append(f"The check was ended after {SECONDS:g} s.")
            except Error as error:
                page.notes.append(f"The check ended early: {str(error).partition(chr(10))[0]}.")

    async def _launch(self, playwright: Any, home: str) -> Any:
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        hosts = "".join(f", EXCLUDE {host}" for host in allowed_hosts())
        return await playwright.chromium.launch(
            executable_path=self._path,
            chromium_sandbox=self._sandbox,
            args=[*_FLAGS, f"--host-resolver-rules=MAP * ~NOTFOUND{hosts}"],
            env={**environment, **dict.fromkeys(_FOLDERS, home)},
        )


@contextlib.asynccontextmanager
async def _playwright() -> AsyncIterator[tuple["asyncio.Future[Any]", str]]:
    """Yield the future of a starting Playwright and a temporary folder. Its process and the browser end with the check,
    even if cancelled during the start, or with this process."""
    from playwright.async_api import async_playwright

    manager = async_playwright()

    async def end() -> None:
        await asyncio.wait([starting])
        if starting.exception() is None:
            await manager.__aexit__()

    with tempfile.TemporaryDirectory(prefix="agent_nb-chromium-", ignore_cleanup_errors=True) as home:
        starting = asyncio.ensure_future(manager.__aenter__())
        try:
            yield starting, home
        finally:
            await asyncio.shield(end())


def find_chromium() -> str | None:
    setting = os.environ.get(PATH_VARIABLE, "")
    if setting.lower() == "off":
        return None
    return next(filter(None, map(shutil.which, (setting,) if setting else NAMES)), None)


def installed_viewer() -> ChromiumViewer | None:
    """Return the viewer for unattended runs; None if Chromium is missing or would need permission."""
    with contextlib.suppress(ConfigError):
        return ChromiumViewer()
    return None


class _Page:
    """Loads one document under the preview's policy, and records its console, errors and requests."""

    def __init__(self, files: Files, path: str, bound: str = "") -> None:
        self._files, self._path, self._bound = files, path, bound
        self.notes: list[str] = []
        try:
            document = assembled(files, path, MAX_PAGE)
        except TooLargeError:
            document = str(files[path])[:MAX_PAGE]
            self.notes.append("The files of the page are too large to be shown with it.")
        removed: list[str] = []
        self._document = with_frame_script(gated(document, removed), bound)
        self._blocked = dict.fromkeys(removed, _NOT_ALLOWED)
        self._console: list[Json] = []
        self._logged_at: Counter[tuple[Any, ...]] = Counter()
        """Number of messages by level and source line."""
        self._inlined: dict[str, str] = {}
        self._seen: Json = {"screenshots": [], "elements": [], "findings": None, "overflow": None}

    @property
    def report(self) -> Json:
        left_out = self._logged_at.total() - len(self._console)
        notes = [f"{left_out} more messages came from the same lines."] if left_out else []
        blocked = [{"address": address, "reason": why} for address, why in self._blocked.items()]
        return {**self._seen, "console": self._console, "blocked": blocked, "notes": [*self.notes, *notes]}

    async def open(self, context: Any) -> None:
        self._page = await context.new_page()
        self._send = (session := await context.new_cdp_session(self._page)).send
        await context.route("**/*", self._answer)
        self._page.on("requestfailed", self._failed)
        session.on("Runtime.consoleAPICalled", self._logged)
        session.on("Runtime.exceptionThrown", lambda data: self._thrown(data["exceptionDetails"]))
        session.on("Log.entryAdded", lambda data: self._refused(data["entry"]["text"]))
        session.on("Debugger.scriptParsed", self._parsed)
        for domain in ("Runtime", "Log", "Debugger"):
            await self._send(f"{domain}.enable")
        await self._send("Debugger.setSkipAllPauses", {"skip": True})

    async def look(self, widths: tuple[int, ...]) -> None:
        """Load the page, take a screenshot at each width and check accessibility, within the time limit."""
        await self._load(max(widths))
        for width in sorted(widths, reverse=True):
            await self._resize(width)
            await self._settle()
            await self._capture(width)
        await self._resize(max(widths))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_SECONDS):
                self._seen["findings"] = await self._evaluate("findProblems()")
        if not isinstance(self._seen["findings"], list):
            self.notes.append("Accessibility was not checked.")

    async def look_at(self, selectors: tuple[str, ...], width: int) -> None:
        """Load the page and record the appearance of these elements, within the time limit."""
        await self._load(width)
        await self._settle()
        for element in await self._evaluate(f"elementStyles({json.dumps(selectors)})") or ():
            self._seen["elements"].append(
                element and {**element, "png": await self._image_of(*element["box"])}
            )

    async def _load(self, width: int) -> None:
        from playwright.async_api import Error

        await self._resize(width)
        try:
            await self._page.goto(_HOST, timeout=1000 * LOAD_SECONDS)
        except Error:
            self.notes.append(f"The page was not loaded after {LOAD_SECONDS:g} s.")

    async def _resize(self, width: int) -> None:
        await self._page.set_viewport_size({"width": width, "height": 844 if width == PHONE else 800})

    async def _settle(self) -> None:
        if not await self._evaluate(f"within({1000 * SETTLE_SECONDS:g}, headless.settle())"):
            self.notes.append(f"The page had not settled after {SETTLE_SECONDS:g} s.")

    async def _evaluate(self, call: str) -> Any:
        """Call a function of the bundle `headless.js`, in an isolated world that the page cannot tamper with."""
        tree = await self._send("Page.getFrameTree")
        world = await self._send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
        expression = f"{_HEADLESS.read_text(encoding='utf-8')};headless.{call}"
        options = {"contextId": world["executionContextId"], "awaitPromise": True, "returnByValue": True}
        answer = await self._send("Runtime.evaluate", {"expression": expression, **options})
        return answer["result"].get("value")

    async def _capture(self, width: int) -> None:
        metrics = await self._send("Page.getLayoutMetrics")
        height = max(1, int(metrics["cssContentSize"]["height"]))
        if width == PHONE:
            self._seen["overflow"] = await self._evaluate("findOverflow()")
        png = await self._screenshot(x=0, y=0, width=width, height=min(height, MAX_HEIGHT), scale=1)
        shot = {"width": width, "height": height, "png": png, "cut": height > MAX_HEIGHT}
        self._seen["screenshots"].insert(0, shot)  # the narrowest is captured last

    async def _image_of(self, x: float, y: float, width: float, height: float) -> str:
        width, height = min(width, MAX_HEIGHT), min(height, MAX_HEIGHT)
        if min(width, height) < 1:
            return ""
        scale = min(1, MAX_SIDE / max(width, height))
        return await self._screenshot(x=x, y=y, width=width, height=height, scale=scale)

    async def _screenshot(self, **clip: float) -> str:
        options = {"format": "png", "clip": clip, "captureBeyondViewport": True}
        return str((await self._send("Page.captureScreenshot", options))["data"])

    # Events of the page

    async def _answer(self, route: Any) -> None:
        """Serve the page and allow the stacks' library files. All other requests are blocked."""
        address = route.request.url
        if address == _HOST and self._document:
            policy = f"{policy_for('' if self._bound else self._document)}; sandbox {SANDBOX}"
            document, self._document = self._document, ""
            headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy}
            await route.fulfill(body=document.encode("utf-8", "replace"), headers=headers)
        elif address in allowed_files() and not self._bound:
            await route.continue_()
        elif route.request.is_navigation_request():
            self._block(address, "the page tried to go there")
            await route.abort("aborted")  # keeps the current page
        else:
            self._block(address, _NOT_ALLOWED)
            await route.abort("blockedbyclient")

    def _failed(self, request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":
            self._block(request.url, _NOT_ALLOWED if request.failure == "csp" else str(request.failure))

    def _block(self, address: str, reason: str) -> None:
        if address.startswith(_HOST):
            address, reason = unquote(address.removeprefix(_HOST)), "there is no such file"
        if address and address != "favicon.ico" and len(self._blocked) < MAX_ENTRIES:
            self._blocked.setdefault(address, reason)

    def _refused(self, message: str) -> None:
        if match := _VIOLATION.search(message):
            self._block(match[1], _NOT_ALLOWED)

    def _logged(self, data: Json) -> None:
        text = " ".join(map(_argument, data["args"]))
        self._log(_LEVELS.get(data["type"], "info"), text, data.get("stackTrace"))

    def _thrown(self, details: Json) -> None:
        text = f"{details['text']} {_argument(details.get('exception', {}))}".partition("\n")[0]
        self._log("error", text, details.get("stackTrace") or {"callFrames": [details]})

    def _log(self, level: str, text: str, stack: Json | None) -> None:
        line: Json = {"level": level, "text": text[:1000]}
        if stack and stack["callFrames"]:
            frame = stack["callFrames"][0]
            inlined = self._inlined.get(frame.get("scriptId", ""))
            name = inlined or frame.get("url", "").removeprefix(_HOST).rpartition("/")[2] or self._path
            line |= {"file": name, "line": frame["lineNumber"] + 1}
        self._logged_at[place := (level, line.get("file"), line.get("line"))] += 1
        if self._logged_at[place] <= MAX_AT_A_PLACE:
            self._console.append(line)
        if self._logged_at.total() == MAX_ENTRIES:
            # A page that logs endlessly would use up the time limit.
            self._stopping = asyncio.ensure_future(self._send("Runtime.disable"))
            self._stopping.add_done_callback(lambda future: future.cancelled() or future.exception())
            self.notes.append(f"Nothing was read from the console after {MAX_ENTRIES} messages.")

    def _parsed(self, data: Json) -> None:
        """Map script ids to files: these are inlined as data URLs, which stack traces do not contain."""
        if data["url"].startswith("data:"):
            text = unquote(data["url"].partition(",")[2])
            path = next((path for path, content in self._files.items() if content == text), "a script")
            self._inlined[data["scriptId"]] = path


def _argument(value: Json) -> str:
    texts = (value[name] for name in ("value", "description", "unserializableValue", "type") if name in value)
    return str(next(texts, ""))[:1000]
