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

from agent_nb._base.secrets import mask_values, masked_line
from agent_nb._base.text import change_texts, shortened, showable_text
from agent_nb._base.wire import Json, WireError, from_wire
from agent_nb.core.errors import ConfigError
from agent_nb.notebook.page.bindings import SLICE, Binding, Bindings, encoded
from agent_nb.notebook.page.calls import MAX_MESSAGE, call
from agent_nb.notebook.page.encoding import chunks, json_pieces, within
from agent_nb.notebook.values.limited import error_line
from agent_nb.notebook.values.secret_values import Collector, remembered
from agent_nb.notebook.values.value_masking import Masks

INTERVAL = 0.05
"""Minimum seconds between two messages about one name."""
MAX_SET = 4_000_000
"""Maximum JSON characters that a page may set or pass to a function; parsing them takes 40 ms."""
MAX_SAVED = 1_000_000
"""Maximum characters of values saved with an output."""
SEARCH = 0.05
"""Maximum seconds to search one value for secrets."""
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
        self.page: Any = None
        """The widget, created on first access."""
        self.closed = False
        self._encoded = dict(bindings.encoded)
        self.views: dict[str, PageView] = {}
        self._due: dict[str, str] = {}
        """Names whose value is pending, and the view that set it."""
        self._asked: dict[tuple[str, str], None] = {}
        """Pairs of a name and a view that awaits its first value, in order."""
        self._sent: dict[str, float] = {}
        self._sending: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that serves the views, once known."""
        self._secrets: dict[str, Collection[str]] = {}
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
        texts, messages = chunks(json_pieces(name, value)), list[str]()
        is_complete = within(SLICE, texts, messages)
        self._search(name, value)
        if self._loop and running_loop() is not self._loop:  # in another thread
            self._loop.call_soon_threadsafe(self.set, name, value)
            return
        if is_complete:
            self._encoded[name] = messages
        else:
            self._encoded.pop(name, None)
        self.values[name] = value
        is_due = time.monotonic() - self._sent.get(name, 0.0) >= INTERVAL and not self._sending
        if is_due and len(self._encoded.get(name, "..")) == 1:
            for view in self.views.values():
                if name in view.names:
                    view.send({**self._value(name), "text": self._encoded[name][0], "last": True})
        else:
            self._due[name] = ""
            self._start_sending()

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
                self._asked[message.name, message.view] = None
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
        for view in self.views.values():
            view.send({"do": "off", "why": CLOSED})
        self.close_views(list(self.views))

    def close_views(self, keys: Collection[str]) -> None:
        """Forget these views and cancel their calls, including the one that runs."""
        if self._loop and self._loop.is_running() and running_loop() is not self._loop:  # in another thread
            self._loop.call_soon_threadsafe(self.close_views, keys)
            return
        tasks = [task for key in keys if key in self.views for task in self.views.pop(key).calls]
        self._asked = {pair: None for pair in self._asked if pair[1] in self.views}
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
        deque(json_pieces(name, value, limit), maxlen=0)  # checks the length first: masking is slow
        text = "".join(json_pieces(name, Masks().over(value), limit))
        mask = partial(mask_values, values=remembered().union(*self._secrets.values()))
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
        self._encoded[message.name] = list(chunks([message.text]))
        self.values[message.name] = value
        view.send(answer)
        self._due[message.name] = message.view
        self._start_sending()
        if self.page is not None:
            try:
                self.page._assign(message.name, value)
            except Exception as error:  # an observer raised
                view.send(_note("error", f"{message.name}: {error_line(error, MAX_MESSAGE)}"))

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
            texts = await encoded(row.name, value)
        except ConfigError as error:
            view.send({**result, "error": str(error)})
            return
        if printed:
            view.send(_note("log", f"{row.name} printed: {masked_line(printed)}"))
        await _send_all(view.send, result, texts)

    def _start_sending(self) -> None:
        if self._sending is None and self.views:
            self._sending = asyncio.get_running_loop().create_task(self._send_due())

    async def _send_due(self) -> None:
        """Send the newest value of each pending name until none is left."""
        try:
            while self._due or self._asked:
                while self._asked:
                    name, to = next(iter(self._asked))
                    del self._asked[name, to]
                    await self._send_value(name, [to])
                due, self._due = self._due, {}
                for name, origin in due.items():
                    observing = [key for key, view in self.views.items() if name in view.names]
                    await self._send_value(name, [key for key in observing if key != origin])
                await asyncio.sleep(INTERVAL if due else 0)
        finally:
            self._sending = None  # reset at once, so that later changes start it again

    async def _send_value(self, name: str, keys: list[str]) -> None:
        texts = await self._texts(name)
        for view in [self.views[key] for key in keys if key in self.views]:
            await _send_all(view.send, self._value(name), texts)

    async def _texts(self, name: str) -> list[str]:
        while (texts := self._encoded.get(name)) is None:
            value = self.values[name]
            try:
                messages = await encoded(name, value)
            except ConfigError as error:
                messages = ["null"]
                for view in self.views.values():
                    view.send(_note("error", str(error)))
            if self.values[name] is value:
                self._encoded[name] = messages
        return texts

    def _value(self, name: str) -> Json:
        self._sent[name] = time.monotonic()
        return {"do": "value", "name": name}


def running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _send_all(send: SendToView, message: Json, texts: list[str]) -> None:
    """Send a text in messages, yielding to the loop between them."""
    for number, text in enumerate(texts, 1):
        send({**message, "text": text, "last": number == len(texts)})
        if number < len(texts):
            await asyncio.sleep(0)


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
