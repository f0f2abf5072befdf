"""Captures what code prints and displays, from the streams and the display publisher.

The stream objects stay the same, because loggers keep references to them; only their `write` is replaced. A context
variable separates the output of the code and of its tasks from that of other cells and tools.
"""

import base64
import contextlib
import contextvars
import os
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agent_nb._base.constants import INTERACTIVE_TYPE
from agent_nb._base.secrets import StreamMasker, mask
from agent_nb.core.events import MimeBundle

HEAD, TAIL = 40_000, 10_000
"""Characters of printed text to keep at the start and at the end."""
MAX_LIVE = 30_000
MAX_LIVE_LINES = 2_000
"""Number of lines sent one by one; after that, text is sent at intervals."""
LIVE_INTERVAL = 0.03
MAX_OUTPUTS = 40
MAX_PLAIN, MAX_HTML, MAX_IMAGE = 20_000, 500_000, 6_000_000
DRAIN_SECONDS = 0.5
END = "\x1b[0;0m"
"""End marker written after all output; invisible in a terminal that shows the kernel's own output."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_OVERWRITTEN = re.compile(r"(?<![^\n\r])[^\n\r]*+\r")
DRAWN = ("text/plain", "text/html", "text/markdown", "image/")
"""Prefixes of the media types that a card can show."""
_INTERACTIVE = tuple(
    f"application/vnd.{library}"
    for library in ("plotly.", "vega", "bokeh", "holoviews", "jupyter.widget-view")
)

_current: contextvars.ContextVar["Capture | None"] = contextvars.ContextVar("capture", default=None)


class Capture:
    """The output of one call, bounded in size while it grows."""

    def __init__(self, show: Callable[[MimeBundle], None]) -> None:
        self._show = show
        self._outputs: list[tuple[str, Any]] = []
        """Pairs of a display id and a bundle, or of an empty string and a list of text pieces."""
        self._room, self._characters, self._left_out = HEAD, 0, 0
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._masker, self._waiting = StreamMasker(), ""
        self._live_room, self._lines, self._shown_at = MAX_LIVE, 0, 0.0
        self._lock = threading.RLock()
        self._threads = set(threading.enumerate())
        self.closed = False
        """Whether the capture has ended. Later output belongs to the cell that started the run."""

    def takes(self, watcher: threading.Thread | None = None) -> bool:
        """Whether current output comes from the code: its tasks, its threads, or the stream's own `watcher`."""
        if self.closed:
            return False
        if _current.get() is self:
            return True
        thread = threading.current_thread()
        return thread is watcher or (thread not in self._threads and not thread.name.startswith("agent_nb"))

    def routed(self, original: Callable[..., Any], instead: Callable[..., Any]) -> Callable[..., Any]:

        def call(*args: Any, **options: Any) -> Any:
            return (instead if self.takes() else original)(*args, **options)

        return call

    def new_threads(self) -> list[str]:
        threads = (thread for thread in threading.enumerate() if thread not in self._threads)
        return [thread.name for thread in threads if not thread.name.startswith("agent_nb")]

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        with self._lock:
            self._characters += len(text)
            self._keep(text)
            self._show_text(text)
        return len(text)

    def display(self, data: Mapping[str, Any], transient: Mapping[str, Any] | None, *, update: bool) -> bool:
        """Add a bundle, or replace the one with the same display id; return False if there is none to replace."""
        bundle, display_id = bounded(data), str((transient or {}).get("display_id") or "")
        with self._lock:
            if update:
                places = [
                    at for at, (output_id, _) in enumerate(self._outputs) if output_id == display_id != ""
                ]
                for at in places:
                    self._outputs[at] = display_id, bundle
                return bool(places)
            if bundle and len(self._outputs) < MAX_OUTPUTS:
                self._outputs.append((display_id or "display", bundle))
                self._flush_text()
                self._show(bundle)
            else:
                self._left_out += bool(bundle)
        return True

    def clear(self) -> None:
        with self._lock:
            self._outputs.clear()
            self._tail.clear()
            self._room, self._tail_length, self._characters, self._left_out = HEAD, 0, 0, 0

    def bundles(self) -> tuple[MimeBundle, ...]:
        with self._lock:
            bundles = [
                {"text/plain": overwritten("".join(content))} if kind == "" else content
                for kind, content in self._outputs
            ]
            if self._tail:
                omitted = self._characters - (HEAD - self._room) - self._tail_length
                note = f"\n[{omitted:,} characters omitted]\n" if omitted else ""
                bundles.append({"text/plain": overwritten(note + "".join(self._tail))})
            if self._left_out:
                bundles.append({"text/plain": f"[{self._left_out} more outputs omitted]\n"})
        return tuple(bundles)

    def _keep(self, text: str) -> None:
        head, overflow = text[: self._room], text[self._room :]
        self._room -= len(head)
        if head:
            if not self._outputs or self._outputs[-1][0] != "":
                self._outputs.append(("", []))
            self._outputs[-1][1].append(head)
        if overflow:
            self._tail.append(overflow[-TAIL:])
            self._tail_length += len(self._tail[-1])
            while self._tail_length - len(self._tail[0]) >= TAIL:
                self._tail_length -= len(self._tail.popleft())

    def _show_text(self, text: str) -> None:
        """Send text to the page line by line, later at intervals. Loop timers may never fire if the code blocks."""
        if not self._live_room:
            return
        self._waiting += text[: self._live_room]
        self._live_room -= min(len(text), self._live_room)
        now = time.monotonic()
        ends_line = text.endswith("\n") and self._lines < MAX_LIVE_LINES
        if ends_line or now - self._shown_at >= LIVE_INTERVAL or not self._live_room:
            self._lines += ends_line
            self._shown_at = now
            self._flush_text()

    def _flush_text(self) -> None:
        text, self._waiting = self._masker.more(plain(self._waiting)), ""
        if text:
            self._show({"text/plain": text})


def is_captured() -> bool:
    """Whether the caller is code whose output is captured."""
    return _current.get() is not None


def forget_captures() -> None:
    """Forget a capture of the process that this one was copied from."""
    _current.set(None)


@contextlib.contextmanager
def capturing(capture: Capture, shell: Any) -> Iterator[None]:
    """Redirect the output of the block, its tasks and its threads to the capture."""
    streams = [stream for stream in (sys.stdout, sys.stderr) if stream is not None]
    originals = sys.stdout, sys.stderr
    token = _current.set(capture)
    try:
        with contextlib.ExitStack() as stack:
            drains = [stack.enter_context(_routed_stream(stream, capture)) for stream in streams]
            stack.enter_context(_routed_displays(shell.display_pub, capture))
            yield
            for drain in drains:
                drain()
    finally:
        capture.closed = True
        sys.stdout, sys.stderr = originals  # the code may have replaced them
        _current.reset(token)


@contextlib.contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    attributes = vars(owner)
    before = attributes.get(name)
    existed = name in attributes
    setattr(owner, name, value)
    try:
        yield
    finally:
        if existed:
            setattr(owner, name, before)
        else:
            delattr(owner, name)


@contextlib.contextmanager
def _routed_stream(stream: Any, capture: Capture) -> Iterator[Callable[[], None]]:
    """Redirect writes to the stream; yield a function that waits for pending output."""
    write = stream.write
    close = getattr(stream, "close", bool)  # JupyterLite's streams have no `close`
    watcher = getattr(stream, "watch_fd_thread", None)
    drained, process = threading.Event(), os.getpid()

    def routed_write(text: str) -> Any:
        # The watcher reads what a process that the code has forked writes.
        if watcher is not None and os.getpid() != process:
            os.write(stream._original_stdstream_fd, text.encode("utf-8", "replace"))
            return len(text)
        if watcher is not None and threading.current_thread() is watcher and END in text:
            drained.set()
            text = text.replace(END, "")
        return capture.write(text) if capture.takes(watcher) else write(text)

    def drain() -> None:
        """Wait for subprocess output, which ipykernel reads from the file descriptor in a thread."""
        with contextlib.suppress(OSError, AttributeError):
            os.write(stream._original_stdstream_fd, END.encode())
            drained.wait(DRAIN_SECONDS)

    routed_close = capture.routed(close, lambda: None)
    with replaced(stream, "write", routed_write), replaced(stream, "close", routed_close):
        yield drain if watcher is not None else lambda: None


@contextlib.contextmanager
def _routed_displays(publisher: Any, capture: Capture) -> Iterator[None]:
    publish, clear = publisher.publish, publisher.clear_output

    def routed_publish(data: Any, metadata: Any = None, **options: Any) -> None:
        update = bool(options.get("update"))
        if not capture.takes() or not capture.display(data, options.get("transient"), update=update):
            publish(data, metadata, **options)

    routed_clear = capture.routed(clear, lambda wait=False: capture.clear())
    with replaced(publisher, "publish", routed_publish), replaced(publisher, "clear_output", routed_clear):
        yield


def bounded(data: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a bundle that a card can show, without oversized ones; bytes as base64."""
    bundle: dict[str, Any] = {}
    if any(kind.startswith(_INTERACTIVE) for kind in data):
        data, bundle[INTERACTIVE_TYPE] = {"text/plain": data.get("text/plain", "")}, True
    for kind, value in data.items():
        content = base64.b64encode(value).decode() if isinstance(value, bytes) else value
        if not isinstance(content, str) or not kind.startswith(DRAWN):
            continue
        if kind == "text/plain":
            bundle[kind] = cut(plain(content), MAX_PLAIN)
        elif len(content) <= (MAX_IMAGE if kind.startswith("image/") else MAX_HTML):
            bundle[kind] = content
    latex = data.get("text/latex")  # Markdown can show formulas
    if isinstance(latex, str) and len(latex) <= MAX_PLAIN and [*bundle] == ["text/plain"]:
        bundle["text/markdown"] = latex
    # Drop uninformative text such as `<IPython.core.display.Latex object>`.
    if "text/markdown" in bundle and str(bundle.get("text/plain", "")).startswith("<IPython."):
        del bundle["text/plain"]
    return bundle


def cut(text: str, limit: int) -> str:
    """The start and the end of a text, with a note on what was omitted between them."""
    if len(text) <= limit:
        return text
    text = mask(text)
    head, tail = limit * 4 // 5, limit // 5
    return f"{text[:head]}\n[{len(text) - head - tail:,} characters omitted]\n{text[-tail:]}"


def plain(text: str) -> str:
    return _ANSI.sub("", text) if "\x1b" in text else text


def overwritten(text: str) -> str:
    """The text as a terminal finally shows it: a carriage return overwrites the line."""
    text = plain(text)
    return _OVERWRITTEN.sub("", text.replace("\r\n", "\n")) if "\r" in text else text
