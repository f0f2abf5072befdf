"""The built page in a real browser, on a local page that plays the kernel's part; no notebook is needed."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from agent_nb._base.wire import to_wire
from agent_nb.run.protocol import Meta
from tests.support import ROOT, waiting
from tests.support.browser import CHROMIUM

BUNDLE = ROOT / "agent_nb" / "static" / "widget.js"
RUNS = ROOT / "js" / "dev" / "runs"
AXE = ROOT / "js" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PATIENCE = 1000 * waiting.PATIENCE
META = Meta(key="hero-dev", name="hero", model="demo:", demo=True)
CLIPBOARD = """() => {
    window.copied = [];
    Object.defineProperty(navigator, 'clipboard', {
        value: { writeText: async (text) => { window.copied.push(text) } }
    });
}"""


def skip_without_page() -> None:
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    if not (BUNDLE.exists() and AXE.exists()):
        pytest.skip("needs the built page and axe-core: `make build`")


class DevServer(http.server.ThreadingHTTPServer):
    """Serves the dev page and the bundle, and remembers what else was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), DevHandler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class DevHandler(http.server.SimpleHTTPRequestHandler):
    server: DevServer

    def translate_path(self, path: str) -> str:
        name = urlsplit(path).path.lstrip("/") or "index.html"
        built = (BUNDLE.parent / name).is_file()
        return str((BUNDLE.parent if built else ROOT / "js" / "dev") / name)

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        super().do_GET()

    def do_POST(self) -> None:
        self.server.asked.append(f"POST {self.path}")
        self.send_error(404)

    def end_headers(self) -> None:
        self.send_header("Set-Cookie", "jupyter=secret")
        super().end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def serve_page() -> Iterator[DevServer]:
    server = DevServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def press_how(inside: Any) -> None:
    """Unfolds the transcript of a run that has ended, below its field, or folds it."""
    inside.locator(".anb-how").click()


@contextmanager
def open_playwright() -> Iterator[Any]:
    """Starts Playwright's driver. There is only one at a time, and no test may be a coroutine meanwhile."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        yield playwright


@contextmanager
def open_chromium(playwright: Any, *flags: str) -> Iterator[Any]:
    """Starts Chromium with scrollbars as people see them, which Playwright hides."""
    browser = playwright.chromium.launch(
        executable_path=CHROMIUM, args=[*FLAGS, *flags], ignore_default_args=["--hide-scrollbars"]
    )
    yield browser
    browser.close()


# These are for single modules elsewhere; `tests/browser/conftest.py` has them for its whole folder.
@pytest.fixture(scope="module")
def server() -> Iterator[DevServer]:
    with serve_page() as server:
        yield server


@pytest.fixture(scope="module")
def playwright() -> Iterator[Any]:
    skip_without_page()
    with open_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(playwright: Any) -> Iterator[Any]:
    with open_chromium(playwright) as browser:
        yield browser


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "run_id": "r", "variant": 0, "at": 0.0, **fields}


def wrote(path: str, text: str, media_type: str = "text/html") -> list[dict[str, Any]]:
    call_id = f"call {path}"
    size, lines = len(text.encode()), text.count("\n") + 1
    change = {"version": 1, "action": "created", "size": size, "first_line": 1, "added": lines, "removed": 0}
    return [
        event("tool_started", call_id=call_id, name="any", title="create"),
        event("file_delta", call_id=call_id, path=path, offset=0, text=text),
        event("file_changed", path=path, media_type=media_type, call_id=call_id, patch=None, **change),
    ]


def edited(path: str, version: int, patch: list[list[Any]], media_type: str = "text/html") -> dict[str, Any]:
    change = {"version": version, "action": "edited", "size": 1, "first_line": 1, "added": 1, "removed": 1}
    return event("file_changed", path=path, media_type=media_type, call_id=None, patch=patch, **change)


def returned(call_id: str, *outputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The end of a call with these outputs."""
    end = {"ok": True, "summary": "", "seconds": 0.1, "code": None, "hint": ""}
    return event("tool_finished", call_id=call_id, outputs=list(outputs), **(end | more))


def ended(reason: str = "end_turn", **more: Any) -> dict[str, Any]:
    """The end of a run."""
    usage = {"input": 1200, "cached_read": 0, "cached_write": 0, "output": 400, "reasoning": 0}
    end = {"usage": usage, "cost": None, "seconds": 9.0, "error": None}
    return event("run_finished", reason=reason, **(end | more))


def stand_still(answers: Any) -> None:
    """Scrolls to these answers, because a click that scrolls moves their card, and waits until a press counts."""
    answers.scroll_into_view_if_needed()
    answers.evaluate(
        """(node) => new Promise((resolve) => {
            let place = '';
            let since = performance.now();
            const look = () => {
                const now = JSON.stringify(node.getBoundingClientRect());
                if (now !== place || node.matches('.waits')) since = performance.now();
                place = now;
                if (performance.now() - since > 700) resolve();
                else setTimeout(look, 50);
            };
            look();
        })"""
    )


class Stage:
    """One browser page with the widget on it, playing events."""

    def __init__(self, page: Any, server: DevServer) -> None:
        self.page, self.server = page, server
        page.set_default_timeout(PATIENCE)
        self.popups: list[Any] = []
        self.dialogs: list[Any] = []
        page.on("popup", lambda popup: self.popups.append(popup))
        page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def play(
        self, events: list[dict[str, Any]], *, ready: dict[str, Any] | None = None, **meta: Any
    ) -> "Stage":
        """Plays events as a run whose `Meta` has these fields, then sends `ready`, if given."""
        for seq, item in enumerate(events, 1):
            item["seq"] = seq
        self.page.goto(f"{self.server.address}/?record&speed=0")
        record = {"meta": to_wire(replace(META, **meta)), "events": events, "ready": ready}
        self.page.evaluate("record => { window.record = record; return window.start() }", record)
        return self

    def clear(self) -> None:
        """Removes everything but the loaded browser before the next test."""
        for other in self.page.context.pages:
            if other is not self.page:
                other.close()
        self.popups.clear()
        self.dialogs.clear()
        self.page.context.clear_permissions()
        self.page.emulate_media(color_scheme="null", reduced_motion="null", forced_colors="null")
        self.page.set_viewport_size({"width": 1280, "height": 720})
        self.page.mouse.move(0, 0)
        if not self.page.url.startswith(self.server.address):
            self.page.goto(f"{self.server.address}/none")
        self.page.evaluate("localStorage.clear(); sessionStorage.clear()")

    def more(self, *events: dict[str, Any]) -> None:
        """Sends further events of the same run."""
        self.page.evaluate(
            """events => {
                const { kernel } = window;
                for (const event of events) {
                    kernel.record.events.splice(kernel.sent, 0, { ...event, seq: kernel.sent + 1 });
                    kernel.sent++;
                    kernel.batch(kernel.sent, kernel.sent);
                }
            }""",
            list(events),
        )

    def still(self) -> None:
        """Waits until the card that asks has stood still, so that presses count."""
        stand_still(self.widget.locator(".anb-acts").first)

    @property
    def widget(self) -> Any:
        return self.page.locator("[data-anb-run]")

    @property
    def preview(self) -> Any:
        # Playwright gives up, instead of looking again, when a frame with a frame in it is removed while it looks.
        self.page.wait_for_timeout(100)
        self.widget.locator(".anb-page iframe + iframe").wait_for(state="detached")
        return self.widget.frame_locator(".anb-page iframe >> nth=-1").frame_locator("iframe")

    def reports(self) -> str:
        """Everything the previewed page said, as the kernel heard it."""
        return "\n".join(
            self.page.evaluate(
                """() => window.kernel.commands
                    .filter((command) => command.command === 'preview_report')
                    .flatMap((command) => command.entries.map((entry) => entry.text))"""
            )
        )

    def check(self, path: str = "index.html", **other: Any) -> dict[str, Any]:
        """The page's report about a page of the run, or about another, as the kernel gets it."""
        self.page.evaluate("([path, other]) => window.kernel.check(path, other)", [path, other])
        checked = "window.kernel.commands.find((one) => one.command === 'checked')"
        self.page.wait_for_function(f"() => {checked}")
        answer: dict[str, Any] = self.page.evaluate(f"() => {checked}")
        assert answer["ok"], answer["error"]
        return dict(answer["report"])

    def wait_for_report(self, text: str) -> str:
        self.page.wait_for_function(
            """text => window.kernel.commands.some((command) => command.command === 'preview_report'
                && command.entries.some((entry) => entry.text.includes(text)))""",
            arg=text,
        )
        return self.reports()


def findings(stage: Stage) -> list[str]:
    return axe_findings(stage.page, "[data-anb-run]")


def axe_findings(page: Any, place: str) -> list[str]:
    """What axe finds serious or critical in an element, and regions of the same name. Frames are left out."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate(
        """place => {
            const element = document.querySelector(place);
            const roots = [element, ...element.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean);
            // A change of theme may still be under way, with colours that nobody is meant to read.
            for (const animation of [document, ...roots].flatMap(root => root.getAnimations()))
                if (animation instanceof CSSTransition) animation.finish();
            return axe.run(element, { iframes: false, rules: { region: { enabled: false } } });
        }""",
        place,
    )
    return [
        f"{found['id']}: {node['target']} {node['failureSummary']}"
        for found in result["violations"]
        if found["impact"] in ("serious", "critical") or found["id"] == "landmark-unique"
        for node in found["nodes"]
    ]


def focused(stage: Stage) -> str:
    """The name of what has the focus."""
    name: str = stage.page.evaluate(
        """() => {
            const element = document.querySelector('[data-anb-run]').shadowRoot.activeElement;
            return element ? (element.getAttribute('aria-label') ?? element.textContent).trim() : '';
        }"""
    )
    return name


@pytest.fixture(scope="module")
def used_stages() -> dict[Any, Stage]:
    """The stage of the test before, by browser. A new one would cost a context and three processes."""
    return {}


@pytest.fixture
def stage(
    browser: Any, server: DevServer, used_stages: dict[Any, Stage], request: pytest.FixtureRequest
) -> Iterator[Stage]:
    stage = used_stages.pop(browser, None) or Stage(browser.new_context().new_page(), server)
    server.asked.clear()
    failures = request.session.testsfailed
    yield stage
    if request.session.testsfailed == failures:
        stage.clear()
        used_stages[browser] = stage
    else:
        stage.page.context.close()
