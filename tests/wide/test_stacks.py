"""The page each stack recommends, in a real browser: the preview's policy lets all of it load and run.

The libraries themselves are stand-ins that need the same powers: scripts made on the fly, `new Function`, new styles.
"""

import http.server
import re
import ssl
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from agent_nb._base.constants import STACKS
from agent_nb.pages.preview import frame_attributes
from agent_nb.prompts import stack_text
from tests.support.tls import self_signed
from tests.support.widget_stage import Stage, open_chromium, wrote

pytest_plugins = ["tests.support.widget_stage"]

MARK = "document.documentElement.dataset.{} = 'ran'"
INLINE = "const made = document.createElement('script'); made.text = {!r}; document.head.append(made)"
LIBRARIES = {
    "react.production.min.js": MARK.format("react"),
    "react-dom.production.min.js": MARK.format("dom"),
    "babel.min.js": f"addEventListener('DOMContentLoaded', () => {{ {INLINE.format(MARK.format('babel'))} }})",
    "vue.global.prod.js": "window.Vue = {createApp: () => ({mount: "
    + f"() => new Function({MARK.format('vue')!r})()}})}}",
    "index.global.js": "const made = document.createElement('style'); made.textContent = 'h1 { color: rgb(1, 2, 3) }';"
    f" document.head.append(made); {MARK.format('tailwind')}",
    "bootstrap.bundle.min.js": MARK.format("bootstrap"),
    "bootstrap.min.css": "h1 { color: rgb(1, 2, 3) }",
}
RAN = {
    "html": [],
    "tailwind": ["tailwind"],
    "react": ["babel", "dom", "react"],
    "vue": ["vue"],
    "bootstrap": ["bootstrap"],
}


def recommended(stack: str) -> str:
    blocks = re.findall(r"```html\n(.*?)```", stack_text(stack), re.DOTALL)
    page = "<!doctype html>\n<title>x</title>\n<h1>A page</h1>\n" + "".join(blocks)
    return re.sub(r'((?:src|href)="https:[^"]+)', r"\1?stand-in", page)  # so that it gets no hash


def addresses(page: str) -> list[str]:
    return re.findall(r'(?:src|href)="([^"]+)"', page)


class Libraries(http.server.BaseHTTPRequestHandler):
    """The address the libraries come from, over TLS as it is."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(f"https://{self.headers['host']}{self.path}")
        name = self.path.partition("?")[0].rpartition("/")[2]
        body = LIBRARIES[name].encode()
        self.send_response(200)
        self.send_header("content-type", "text/css" if name.endswith(".css") else "text/javascript")
        self.send_header("content-length", str(len(body)))
        self.send_header("access-control-allow-origin", "*")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def browser(playwright: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium, for which the libraries' address is the server above."""
    key, certificate = self_signed(tmp_path_factory.mktemp("tls"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Libraries)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"--host-resolver-rules=MAP cdn.jsdelivr.net 127.0.0.1:{server.server_port}"
    with open_chromium(playwright, here, "--ignore-certificate-errors") as browser:
        yield browser
    server.shutdown()
    server.server_close()


@pytest.fixture
def asked() -> list[str]:
    """What the page has asked the internet for."""
    Libraries.asked.clear()
    return Libraries.asked


@pytest.mark.parametrize("stack", STACKS)
def test_live_preview_runs_the_stack(stage: Stage, asked: list[str], stack: str):
    page = recommended(stack)
    stage.play(wrote("index.html", page))
    frame = stage.preview.locator("html")
    frame.get_by_role("heading", name="A page").wait_for()
    check(frame, stack)
    assert sorted(asked) == sorted(addresses(page))
    assert "Blocked by the sandbox" not in stage.reports()


@pytest.mark.parametrize("stack", STACKS)
def test_saved_page_runs_the_stack(stage: Stage, asked: list[str], stack: str):
    page = recommended(stack)
    stage.page.goto(f"{stage.server.address}/nowhere")
    stage.page.evaluate(
        "html => { document.body.innerHTML = html }", f"<iframe {frame_attributes(page)}></iframe>"
    )
    check(stage.page.frame_locator("iframe").frame_locator("iframe").locator("html"), stack)
    assert sorted(asked) == sorted(addresses(page))


@pytest.mark.parametrize("stack", [stack for stack in STACKS if RAN[stack]])
def test_another_file_at_the_address_of_a_library_does_not_run(stage: Stage, asked: list[str], stack: str):
    page = (
        recommended(stack).replace("?stand-in", "")
        + f"<script>onload = () => {{ {MARK.format('end')} }}</script>"
    )
    stage.play(wrote("index.html", page))
    frame = stage.preview.locator("html")
    frame.get_by_role("heading", name="A page").wait_for()
    frame.locator("xpath=self::*[@data-end]").wait_for()
    assert frame.evaluate("root => Object.keys(root.dataset)") == ["end"]
    assert frame.evaluate("root => getComputedStyle(root.querySelector('h1')).color") != "rgb(1, 2, 3)"
    assert sorted({*asked}) == sorted(addresses(page))


def check(frame: Any, stack: str) -> None:
    """Waits for every library to have run, then looks at what they did."""
    frame.evaluate(
        """async (root, names) => {
            for (let turn = 0; turn < 200 && !names.every((name) => name in root.dataset); turn++)
                await new Promise((resolve) => setTimeout(resolve, 25));
        }""",
        RAN[stack],
    )
    assert sorted(frame.evaluate("root => Object.keys(root.dataset)")) == RAN[stack]
    if stack in ("tailwind", "bootstrap"):
        colour = frame.evaluate("root => getComputedStyle(root.querySelector('h1')).color")
        assert colour == "rgb(1, 2, 3)"
