"""One page in Chromium: shows a document under the policy of the preview, and collects what happens."""

import asyncio
import base64
import contextlib
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from agent_nb._base.wire import Json
from agent_nb.files import Files
from agent_nb.looking.devtools import BrowserGoneError, Connection
from agent_nb.looking.element_look import MAX_SIDE
from agent_nb.looking.page_check import PHONE
from agent_nb.looking.page_report import MAX_HEIGHT
from agent_nb.render.gate import gated
from agent_nb.render.policy import SANDBOX, allowed_files, policy_for
from agent_nb.render.preview import TooLargeError, assembled, with_frame_script

SECONDS = 10.0
"""For everything that a page may take. What is not done by then is missing from the report."""
LOAD_SECONDS, REPLY_SECONDS, FINDINGS_SECONDS = 4.0, 2.0, 3.0
SETTLE_SECONDS, RESETTLE_SECONDS = 3.0, 2.0
MAX_PAGE = 10_000_000
_MAX_ENTRIES = 200
_MAX_AT_A_PLACE = 3
_MAX_STUCK = 3
_HOST = "https://preview.invalid/"
_HEIGHTS = {PHONE: 844}
_LEVELS = {"error": "error", "assert": "error", "warning": "warning"}
_ORDER = ("error", "warning", "info")
_HEADLESS = Path(__file__).parent.parent / "static" / "headless.js"
"""Functions of the page's own checks, built to be run here."""
_VIOLATION = re.compile(r"'(https?:[^']+)' violates")
_NOT_THE_PAGES = ("network", "rendering", "security")
_NOT_ALLOWED = "the preview does not allow it"
_BUSY = "A script did not end and was stopped"


class Page:
    """The page of one check. `report` is what `read_report` takes."""

    def __init__(self, connection: Connection, files: Files, path: str) -> None:
        self._connection, self._files, self._path = connection, files, path
        self._document, removed, too_large = _document(files, path)
        self._console: list[Json] = []
        self._logged_at: Counter[tuple[str, Any, Any]] = Counter()
        """How many messages of a level each line of a file has caused."""
        self._blocked = dict.fromkeys(removed, _NOT_ALLOWED)
        self._requests: dict[str, str] = {}
        """Addresses by the ids of requests."""
        self._inlined: dict[str, str] = {}
        """The files behind scripts, by the ids of the scripts."""
        self._notes: list[str] = []
        self._screenshots: list[Json] = []
        self._overflow: Json | None = None
        self._findings: list[Json] = []
        self._elements: list[Json | None] = []
        self._loaded = asyncio.Event()
        self._paused = asyncio.Event()
        """Clear while a script that does not end is to be stopped."""
        self._paused.set()
        self._served = False
        if too_large:
            self._notes.append("The files of the page are too large to be shown with it.")
        connection.on_event = self._on_event

    @property
    def report(self) -> Json:
        left_out = self._logged_at.total() - len(self._console)
        return {
            "screenshots": sorted(self._screenshots, key=lambda shot: int(shot["width"])),
            "console": sorted(self._console, key=lambda line: _ORDER.index(line["level"])),
            "blocked": [{"address": address, "reason": why} for address, why in self._blocked.items()],
            "overflow": self._overflow,
            "findings": self._findings,
            "elements": self._elements,
            "notes": [
                *self._notes,
                *([f"{left_out} more messages came from the same lines."] if left_out else []),
            ],
        }

    async def look(self, widths: tuple[int, ...]) -> None:
        """Loads the page, takes a screenshot at each width and checks accessibility, as far as the time allows."""
        async with self._limited():
            for number, width in enumerate(sorted(widths, reverse=True)):
                await self._resize(width)
                if number == 0:
                    await self._load()
                await self._settle(RESETTLE_SECONDS if number else SETTLE_SECONDS)
                await self._capture(width)
            await self._resize(max(widths))
            await self._find_problems()

    async def look_at(self, selectors: tuple[str, ...], width: int) -> None:
        """Loads the page and finds out how these elements look, as far as the time allows."""
        async with self._limited():
            await self._resize(width)
            await self._load()
            await self._settle(SETTLE_SECONDS)
            elements = await self._evaluate(f"elementStyles({json.dumps(selectors)})")
            for element in elements if isinstance(elements, list) else ():
                self._elements.append(element and {**element, "png": await self._image_of(element["box"])})

    @contextlib.asynccontextmanager
    async def _limited(self) -> AsyncIterator[None]:
        """Ends the work when its time is over, and notes what cut it short."""
        try:
            async with asyncio.timeout(SECONDS):
                yield
        except TimeoutError:
            self._notes.append(f"The check was ended after {SECONDS:g} s.")
        except BrowserGoneError as error:
            self._notes.append(f"The check ended early: {error}.")

    async def _resize(self, width: int) -> None:
        await self._connection.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=_HEIGHTS.get(width, 800),
            deviceScaleFactor=1,
            mobile=False,
        )

    async def _load(self) -> None:
        for domain in ("Page", "Runtime", "Network", "Log", "Debugger"):
            await self._connection.send(f"{domain}.enable")
        await self._connection.send("Fetch.enable", patterns=[{"urlPattern": "*"}])
        self._connection.send("Page.navigate", url=_HOST)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._loaded.wait(), LOAD_SECONDS)
        for _ in range(_MAX_STUCK):
            if not await self._is_stuck():
                break
        else:
            self._notes.append("The page is busy all the time.")
        if not self._loaded.is_set():
            self._notes.append(f"The page was not loaded after {LOAD_SECONDS:g} s.")

    async def _is_stuck(self) -> bool:
        """Whether a script kept the page from answering; if so, it has been stopped."""
        try:
            await asyncio.wait_for(self._connection.send("Runtime.evaluate", expression="1"), REPLY_SECONDS)
            return False
        except TimeoutError:
            self._paused.clear()
            self._connection.send("Debugger.pause")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._paused.wait(), REPLY_SECONDS)
            self._connection.send("Runtime.terminateExecution")
            self._connection.send("Debugger.resume")
            return True

    async def _find_problems(self) -> None:
        found = None
        with contextlib.suppress(TimeoutError):
            found = await asyncio.wait_for(self._evaluate("findProblems()"), FINDINGS_SECONDS)
        if isinstance(found, list):
            self._findings = found
        else:
            self._notes.append("Accessibility was not checked.")

    async def _settle(self, seconds: float) -> None:
        if not await self._evaluate(f"within({1000 * seconds:g}, headless.settle())"):
            self._notes.append(f"The page had not settled after {seconds:g} s.")

    async def _image_of(self, box: list[float]) -> str:
        """A small PNG of what is at this place of the page, in base64; empty if nothing is drawn there."""
        left, top, *sides = box
        width, height = (min(side, MAX_HEIGHT) for side in sides)
        if min(width, height) < 1:
            return ""
        scale = min(1, MAX_SIDE / max(width, height))
        clip = {"x": left, "y": top, "width": width, "height": height, "scale": scale}
        return await self._screenshot(clip)

    async def _screenshot(self, clip: Json) -> str:
        taken = await self._connection.send(
            "Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True
        )
        return str(taken["data"])

    async def _capture(self, width: int) -> None:
        metrics = await self._connection.send("Page.getLayoutMetrics")
        height = max(1, int(metrics["cssContentSize"]["height"]))
        if width == PHONE:
            self._overflow = await self._evaluate("findOverflow()")
        shown = min(height, MAX_HEIGHT)
        clip = {"x": 0, "y": 0, "width": width, "height": shown, "scale": 1}
        png = await self._screenshot(clip)
        self._screenshots.append({"width": width, "height": height, "png": png, "cut": shown < height})

    async def _evaluate(self, call: str) -> Any:
        """What a function of `js/src/check/headless.ts` returns, run where the page cannot change what it uses."""
        tree = await self._connection.send("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        world = await self._connection.send("Page.createIsolatedWorld", frameId=frame)
        answer = await self._connection.send(
            "Runtime.evaluate",
            expression=f"{_HEADLESS.read_text(encoding='utf-8')};headless.{call}",
            contextId=world["executionContextId"],
            awaitPromise=True,
            returnByValue=True,
        )
        return answer["result"].get("value")

    # What the page does

    def _on_event(self, name: str, data: Json) -> None:
        match name:
            case "Page.loadEventFired":
                self._loaded.set()
            case "Fetch.requestPaused":
                self._answer(data)
            case "Network.requestWillBeSent":
                if len(self._requests) < 10 * _MAX_ENTRIES:
                    self._requests[data["requestId"]] = data["request"]["url"]
            case "Network.loadingFailed":
                self._failed(data)
            case "Runtime.consoleAPICalled":
                text = " ".join(map(_argument, data["args"]))
                self._log(_LEVELS.get(data["type"], "info"), text, data.get("stackTrace"))
            case "Runtime.exceptionThrown":
                self._thrown(data["exceptionDetails"])
            case "Log.entryAdded":
                self._browser_says(data["entry"])
            case "Debugger.scriptParsed" if data["url"].startswith("data:"):
                self._inlined[data["scriptId"]] = self._file_in(data["url"])
            case "Debugger.paused":
                self._stopped_at(data["callFrames"][0])
            case "Page.javascriptDialogOpening":
                self._connection.send("Page.handleJavaScriptDialog", accept=False)

    def _answer(self, data: Json) -> None:
        """Serves the page, and lets the library files of the stacks pass. Nothing else is loaded."""
        request, address = data["requestId"], data["request"]["url"]
        if address == _HOST and not self._served:
            self._served = True
            policy = f"{policy_for(self._document)}; sandbox {SANDBOX}"
            headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy}
            self._connection.send(
                "Fetch.fulfillRequest",
                requestId=request,
                responseCode=200,
                responseHeaders=[{"name": name, "value": value} for name, value in headers.items()],
                body=base64.b64encode(self._document.encode("utf-8", "replace")).decode(),
            )
        elif address in allowed_files():
            self._connection.send("Fetch.continueRequest", requestId=request)
        else:
            leaves = data.get("resourceType") == "Document"
            self._block(address, "the page tried to go there" if leaves else _NOT_ALLOWED)
            # An aborted navigation leaves the page as it is.
            reason = "Aborted" if leaves else "BlockedByClient"
            self._connection.send("Fetch.failRequest", requestId=request, errorReason=reason)

    def _failed(self, data: Json) -> None:
        address = self._requests.pop(data["requestId"], "")
        if data.get("blockedReason") == "csp":
            self._block(address, _NOT_ALLOWED)
        elif data["errorText"] != "net::ERR_ABORTED":
            self._block(address, data["errorText"])

    def _block(self, address: str, reason: str) -> None:
        if address.startswith(_HOST):
            address, reason = unquote(address.removeprefix(_HOST)), "there is no such file"
        if address and address != "favicon.ico" and len(self._blocked) < _MAX_ENTRIES:
            self._blocked.setdefault(address, reason)

    def _thrown(self, details: Json) -> None:
        described = details.get("exception", {}).get("description") or _argument(details.get("exception", {}))
        text = " ".join(filter(None, (details.get("text"), described.splitlines()[0] if described else "")))
        self._log("error", text, details.get("stackTrace") or {"callFrames": [details]})

    def _browser_says(self, entry: Json) -> None:
        """Messages of the browser. Those about loads are reported as blocked loads."""
        if found := _VIOLATION.search(entry["text"]):
            self._block(found[1], _NOT_ALLOWED)
        elif entry["source"] not in _NOT_THE_PAGES and "Security Policy" not in entry["text"]:
            self._log(_LEVELS.get(entry["level"], "info"), entry["text"], entry.get("stackTrace"))

    def _log(self, level: str, text: str, stack: Json | None) -> None:
        frame = stack["callFrames"][0] if stack and stack.get("callFrames") else None
        line = {"level": level, "text": text[:1000]}
        if frame:
            line |= {"line": frame["lineNumber"] + 1, "file": self._file_of(frame)}
        place = level, line.get("file"), line.get("line")
        self._logged_at[place] += 1
        if self._logged_at[place] <= _MAX_AT_A_PLACE:
            self._console.append(line)
        if (
            self._logged_at.total() == _MAX_ENTRIES
        ):  # else a page that logs without end leaves no time for the rest
            self._connection.send("Runtime.disable")
            self._notes.append(f"Nothing was read from the console after {_MAX_ENTRIES} messages.")

    def _stopped_at(self, frame: Json) -> None:
        if self._paused.is_set():
            self._connection.send("Debugger.resume")  # a `debugger` statement
            return
        place = {"url": frame.get("url", ""), **frame["location"]}
        self._notes.append(f"{_BUSY}: {self._file_of(place)}, line {place['lineNumber'] + 1}.")
        self._paused.set()

    def _file_of(self, frame: Json) -> str:
        """The file that a stack frame is in."""
        known = self._inlined.get(frame.get("scriptId", ""))
        return known or frame.get("url", "").removeprefix(_HOST).rpartition("/")[2] or self._path

    def _file_in(self, address: str) -> str:
        """The file that was inlined as this data URL."""
        text = unquote(address.partition(",")[2])
        return next((path for path, content in self._files.items() if content == text), "a script")


def _document(files: Files, path: str) -> tuple[str, list[str], bool]:
    """The page as it is shown, what was removed from it, and whether its other files had to be left out."""
    page = files[path]
    assert isinstance(page, str)
    removed: list[str] = []
    try:
        document, too_large = assembled(files, path, MAX_PAGE), False
    except TooLargeError:
        document, too_large = page[:MAX_PAGE], True
    return with_frame_script(gated(document, removed)), removed, too_large


def _argument(value: Json) -> str:
    found = value.get(
        "value", value.get("description", value.get("unserializableValue", value.get("type", "")))
    )
    return str(found)[:1000]
