"""Emulates what is documented of front ends that cannot be started here: a page of frames, driven by a real kernel.

VS Code shows all outputs of a notebook in one webview and loads a widget with its first view. Colab puts the outputs of
every cell into a sandboxed frame of their own, and shows widgets of third parties only after
`google.colab.output.enable_custom_widget_manager()`, which leaves a mark in the metadata of the view.
"""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from playwright.sync_api import FrameLocator, Page

from tests.support.kernels import PATIENCE, Kernel

_HERE = Path(__file__).parent
_SHOWN = ("comm_open", "comm_msg", "display_data", "update_display_data")

COLAB = """
import sys, types
colab, output, widgets = (types.ModuleType(f"google.colab{name}") for name in ("", ".output", ".output._widgets"))
widgets._installed_url = None
def mark(message):
    view = "application/vnd.jupyter.widget-view+json"
    if view in message["content"].get("data", {}):
        manager = {"custom_widget_manager": {"url": widgets._installed_url}}
        message["content"].setdefault("metadata", {})[view] = {"colab": manager}
    return message
def enable_custom_widget_manager():
    widgets._installed_url = "https://example.org/manager.js"
    get_ipython().display_pub.register_hook(mark)
output.enable_custom_widget_manager, output._widgets, colab.output = enable_custom_widget_manager, widgets, output
sys.modules.update({module.__name__: module for module in (colab, output, widgets)})
"""
"""Run in the kernel, it makes the part of `google.colab` that widgets use."""


@dataclass(frozen=True)
class Rules:
    """How a front end shows outputs."""

    name: str
    frame_for: Literal["notebook", "cell"]
    sandbox: str


VS_CODE = Rules("vscode", frame_for="notebook", sandbox="allow-scripts allow-same-origin allow-forms")
IN_COLAB = Rules("colab", frame_for="cell", sandbox="allow-scripts allow-forms")


class FrontEnd:
    """A notebook under those rules. A thread carries messages; `until` lets the page go on."""

    def __init__(self, page: Page, kernel: Kernel, rules: Rules) -> None:
        self.page, self._kernel, self._rules = page, kernel, rules
        self._to_page: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self._to_kernel: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self._ended = threading.Event()
        self._idle = threading.Event()
        page.expose_function("sendToKernel", lambda content: self._to_kernel.put(("comm_msg", content)))
        page.goto((_HERE / "notebook.html").as_uri())
        output = (_HERE / "output.html").read_text(encoding="utf-8")
        page.evaluate("setUp", {"name": rules.name, "sandbox": rules.sandbox, "output": output})
        self._thread = threading.Thread(target=self._carry)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def start(self, code: str) -> None:
        """Runs a cell."""
        self._idle.clear()
        request = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
        self._to_kernel.put(("execute_request", {**request, "allow_stdin": True, "stop_on_error": True}))

    def until(self, condition: Callable[[], object]) -> None:
        """Carries messages to the page until the condition holds."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "it did not happen"
            while not self._to_page.empty():
                self.page.evaluate("([cell, message]) => take(cell, message)", list(self._to_page.get()))
            self.page.wait_for_timeout(50)

    def finish(self) -> None:
        """Until the cell has ended and the page has all of its outputs."""
        self.until(lambda: self._idle.is_set() and self._to_page.empty())

    def frame(self, number: int = -1) -> FrameLocator:
        """The frame with that number, or the last."""
        return self.page.frame_locator("body > iframe").nth(number)

    def _carry(self) -> None:
        """Moves messages both ways. Only this thread uses the kernel's sockets."""
        client, running = self._kernel.client, ""
        while not self._ended.is_set():
            while not self._to_kernel.empty():
                message = client.session.msg(*self._to_kernel.get(), metadata={"cellId": "cell"})
                client.shell_channel.send(message)
                if message["msg_type"] == "execute_request":
                    running = message["msg_id"]
            try:
                message = client.get_iopub_msg(timeout=0.05)
            except queue.Empty:
                continue
            kind, parent = message["msg_type"], message["parent_header"].get("msg_id", "")
            if kind in _SHOWN:
                places = {"notebook": "", "cell": parent}
                content = {"type": kind, "content": message["content"]}
                self._to_page.put((places[self._rules.frame_for], content))
            elif kind == "status" and parent == running and message["content"]["execution_state"] == "idle":
                self._idle.set()
