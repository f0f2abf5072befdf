"""The values of a run's page in the kernel: one store per variant, shared by all views of the page.

A view is a frame that shows the page: a preview in a cell, or `run.page` as a widget. The last writer of a name wins.
"""

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NoReturn

from IPython.core.getipython import get_ipython

from agent_nb._base.secrets import Exact, for_model, short_line, shortened
from agent_nb._base.text import change_texts, showable_text
from agent_nb._base.threads import running_loop
from agent_nb._base.wire import Json, WireError, from_wire
from agent_nb.core.errors import ConfigError, error_text
from agent_nb.notebook.page.bindings import Binding, Bindings, encoded, encoding
from agent_nb.notebook.page.calls import MAX_MESSAGE, call
from agent_nb.notebook.values.secret_values import Collector, remembered
from agent_nb.notebook.values.value_masking import Masks

INTERVAL = 0.05
"""Minimum seconds between two values of one name."""
CHUNK = 1_000_000
"""Maximum characters per message. Each message takes about 2 ms to deliver, and a long one blocks the loop."""
MAX_SET = 4_000_000
"""Maximum JSON characters that a page may set or pass to a function; parsing them takes 40 ms."""
MAX_SAVED = 1_000_000
"""Maximum characters of values saved with an output."""
SEARCH = 0.05
"""Maximum seconds of processor time to search one value for secrets."""
MOST_VIEWS = 20
MOST_CALLS = 100
"""Maximum calls of all views that run or wait."""
CLOSED = "The page is no longer connected to the notebook."

SendToView = Callable[[Json], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewMessage:
    """A message from a view of a page."""

    do: Literal["get", "set", "call", "cancel", "close"]
    view: str
    name: str = ""
    text: str = ""
    """JSON: the value to set, or the arguments of a call."""
    id: int = 0
    """Call id."""


@dataclass(slots=True)
class PageView:
    """A view, the names that it observes, and its calls that run or wait."""

    send: SendToView
    names: set[str] = field(default_factory=set)
    calls: dict[asyncio.Task[None], ViewMessage] = field(default_factory=dict)


class PageStore:
    """The values of one page, its views, and their calls."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        self.values = {name: row.value for name, row in bindings.items() if row.kind != "function"}
        self._seen = {name: row.value for name, row in bindings.items() if row.kind == "value"}
        """The variable of each name when the page's value was last set."""
        self.page: Any = None
        """The widget, created on first access."""
        self.closed = False
        self.views: dict[str, PageView] = {}
        self._texts = dict(bindings.encoded)
        """The JSON of the values; empty for one that is encoded when it is sent."""
        self._due: dict[str, set[str]] = {}
        """Names with a value to send, and the views that await it."""
        self._sent: dict[str, float] = {}
        self._sending: asyncio.Task[None] | None = None
        self._sending_name = ""
        """The name whose value is being encoded, or sent in parts."""
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that serves the views, once known."""
        self._secrets: dict[str, dict[str, str]] = {}
        """The secrets of all values, and their forms."""
        for name, value in self.values.items():
            self._search(name, value)

    @property
    def rows(self) -> dict[str, Binding]:
        """The bindings for the next page, including the values set by this page."""
        return {
            name: replace(row, value=self.values[name]) if row.kind == "filled" else row
            for name, row in self.bindings.items()
        }

    def set(self, name: str, value: Any) -> None:
        """Set a value from Python; raises `ConfigError` if it cannot be encoded as JSON."""
        text = next(encoding(name, value))
        self._search(name, value)
        self._change(name, value, text)

    def follow(self) -> None:
        """Take over the variables that the notebook has set to other objects."""
        for name, seen in self._seen.items():
            if (value := self.bindings.variables.get(name, seen)) is seen:
                continue
            self._search(name, value)
            try:
                self._change(name, value)
            except Exception:  # an observer raised: shown as IPython shows the errors of widgets
                if (shell := get_ipython()) is None:
                    raise
                shell.showtraceback()

    def receive(self, content: Any, send: SendToView) -> None:
        """Handle a message from a view; raises `ConfigError` if it is malformed or its name is not bound."""
        try:
            message: ViewMessage = from_wire(ViewMessage, content)
        except WireError as error:
            raise ConfigError(f"That is not a valid message from a page: {error}.") from None
        if message.do == "close":
            self.close_views([message.view])
            return
        if self.closed:
            send({"do": "off", "why": CLOSED})
            return
        self._loop = running_loop()
        view = self.views.setdefault(message.view, PageView(send))
        view.send = send
        self.close_views(list(self.views)[:-MOST_VIEWS])
        match message.do:
            case "get":
                self._check(message.name, "value")
                view.names.add(message.name)
                self._due.setdefault(message.name, set()).add(message.view)
                self._start_sending()
            case "set":
                self._set_from_page(view, message)
            case "call":
                self._start_call(view, message)
            case "cancel":
                for task, call_message in view.calls.items():
                    if call_message.id == message.id:
                        task.cancel()

    def close(self) -> None:
        """End the connection of all views and cancel their calls."""
        self.closed = True
        self._seen.clear()
        for view in self.views.values():
            view.send({"do": "off", "why": CLOSED})
        self.close_views(list(self.views))

    def close_views(self, keys: Collection[str]) -> None:
        """Forget these views and cancel their calls, including the one that runs."""
        if self._loop and self._loop.is_running() and running_loop() is not self._loop:  # in another thread
            self._loop.call_soon_threadsafe(self.close_views, keys)
            return
        tasks = [task for key in keys if key in self.views for task in self.views.pop(key).calls]
        for task in tasks:
            task.cancel()

    def saved(self) -> dict[str, str]:
        """The masked JSON of the values to save with an output, as many as fit."""
        texts, remaining = dict[str, str](), MAX_SAVED
        for name, value in self.values.items():
            try:
                texts[name] = self.masked_text(name, value, remaining)
            except (ConfigError, TypeError, ValueError):
                continue
            remaining -= len(texts[name])
        return texts

    def masked_text(self, name: str, value: Any, limit: int) -> str:
        """The JSON of a value without secrets, also of other values; raises `ConfigError` if longer than `limit`."""
        deque(encoding(name, value, limit), maxlen=0)  # checks the length first: masking is slow
        *_, text = encoding(name, Masks().over(value), limit)
        mask = partial(for_model, values=remembered().union(*self._secrets.values()))
        return text if mask(text) == text else json.dumps(change_texts(json.loads(text), mask))

    def _search(self, name: str, value: Any) -> None:
        """Search for secrets, which the page may copy into another value."""
        with contextlib.suppress(Exception):  # the value's own code, or too many items
            Collector(self._secrets, SEARCH).read(name, value)

    def _check(self, name: str, kind: Literal["value", "function"]) -> Binding:
        row = self.bindings.get(name)
        if row is None or (row.kind == "function") != (kind == "function"):
            raise ConfigError(f"The page has no bound {kind} `{shortened(name, 80)}`.")
        return row

    def _set_from_page(self, view: PageView, message: ViewMessage) -> None:
        self._check(message.name, "value")
        answer: Json = {"do": "took", "name": message.name}
        try:
            value = _read(message.text)
        except ConfigError as error:
            view.send({**answer, "error": str(error)})
            return
        view.send(answer)
        try:
            self._change(message.name, value, message.text, message.view)
        except Exception as error:  # an observer raised
            view.send(_note("error", f"{message.name}: {short_line(error_text(error), MAX_MESSAGE)}"))

    def _change(self, name: str, value: Any, text: str = "", origin: str = "") -> None:
        """Set a value, send it to all views but the one that set it, and notify the widget's observers."""
        previous, self.values[name] = self.values[name], value
        if name in self._seen:
            self._seen[name] = self.bindings.variables.get(name)
        if self._loop and running_loop() is not self._loop:  # in another thread
            self._loop.call_soon_threadsafe(self._spread, name, value, text, origin)
        else:
            self._spread(name, value, text, origin)
        if self.page is not None:
            self.page._notify(name, previous, value)

    def _spread(self, name: str, value: Any, text: str, origin: str) -> None:
        if self.values[name] is not value:  # another thread has set it again
            return
        self._due[name] = {key for key, view in self.views.items() if name in view.names and key != origin}
        self._texts[name] = text
        is_due = time.monotonic() >= self._sent.get(name, 0.0) + INTERVAL and name != self._sending_name
        if text and len(text) <= CHUNK and is_due:
            for view in self._take_due(name):  # at once: a cell may block the loop for long
                view.send({"do": "value", "name": name, "text": Exact(text), "last": True})
        else:
            self._start_sending()

    def _start_call(self, view: PageView, message: ViewMessage) -> None:
        row = self._check(message.name, "function")
        waiting = [len(call.text) for other in self.views.values() for call in other.calls.values()]
        if len(waiting) >= MOST_CALLS or (waiting and sum(waiting) + len(message.text) > MAX_SET):
            view.send({"do": "result", "id": message.id, "error": "Too many calls are waiting."})
            return
        task = asyncio.get_running_loop().create_task(self._call(row, view, message))
        view.calls[task] = message
        task.add_done_callback(lambda task: view.calls.pop(task, None))

    async def _call(self, row: Binding, view: PageView, message: ViewMessage) -> None:
        result: Json = {"do": "result", "id": message.id}
        try:
            value, printed = await call(row, _read(message.text))
            text = await encoded(row.name, value)
        except ConfigError as error:
            view.send({**result, "error": str(error)})
            return
        if printed:
            view.send(_note("log", f"{row.name} printed: {short_line(printed, MAX_MESSAGE)}"))
        await _send_in_parts([view], result, text)

    def _start_sending(self) -> None:
        if self._sending is None and self.views:
            self._sending = asyncio.get_running_loop().create_task(self._send_due())

    async def _send_due(self) -> None:
        """Send the newest value of each pending name until none is left."""
        try:
            while self._due:
                name, self._sending_name = next(iter(self._due)), ""
                await asyncio.sleep(self._sent.get(name, 0.0) + INTERVAL - time.monotonic())
                self._sending_name = name
                await self._send_value(name)
        finally:  # reset at once, so that later changes start it again
            self._sending, self._sending_name = None, ""

    async def _send_value(self, name: str) -> None:
        message: Json = {"do": "value", "name": name}
        while not (text := self._texts[name]):
            value = self.values[name]
            try:
                text = await encoded(name, value)
            except ConfigError as error:
                if self.values[name] is not value:
                    continue
                for view in self._take_due(name):
                    view.send({**message, "error": str(error)})
                return
            if self.values[name] is value:
                self._texts[name] = text
        await _send_in_parts(self._take_due(name), message, text)

    def _take_due(self, name: str) -> list[PageView]:
        """The views that await the value of a name and get it now."""
        self._sent[name] = time.monotonic()
        return [self.views[key] for key in self._due.pop(name, ()) if key in self.views]


async def _send_in_parts(views: list[PageView], message: Json, text: str) -> None:
    """Send a text in messages, yielding to the loop between them."""
    for at in range(0, len(text), CHUNK):
        if at:
            await asyncio.sleep(0)
        for view in views:
            view.send({**message, "text": Exact(text[at : at + CHUNK]), "last": at + CHUNK >= len(text)})


def _note(level: str, text: str) -> Json:
    return {"do": "note", "level": level, "text": shortened(showable_text(text), MAX_MESSAGE)}


def _read(text: str) -> Any:
    """Parse a value from a page; raises `ConfigError` if it is invalid or too long."""
    if len(text) > MAX_SET:
        raise ConfigError(f"The value has more than {MAX_SET // 1_000_000} MB as JSON.")
    try:
        text.encode()  # raises for lone surrogates, which cannot be sent to other views
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"The value cannot be read: {type(error).__name__}.") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
