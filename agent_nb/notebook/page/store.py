"""The values of a run's page in the kernel: one store per variant, shared by all views of the page.

A view is a frame that shows the page: a preview in a cell, or `run.page` as a widget. The last writer of a name wins.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NoReturn

from agent_nb._base.secrets import masked_line
from agent_nb._base.text import shortened, showable_text
from agent_nb._base.wire import Json, WireError, from_wire
from agent_nb.errors import ConfigError
from agent_nb.looking.page_check import CheckRequest, PageCheck, PageViewer
from agent_nb.notebook.page.bindings import SLICE, Binding, Bindings, bind_values, encoded
from agent_nb.notebook.page.calls import call
from agent_nb.notebook.page.encoding import chunks, json_pieces, within
from agent_nb.notebook.values.describe_values import describe_path
from agent_nb.notebook.values.schema import describe_schema, known_names
from agent_nb.notebook.values.value_masking import Masks
from agent_nb.render.preview import bound_script

INTERVAL = 0.05
"""Minimum seconds between two messages about one name."""
MAX_SET = 4_000_000
"""Maximum JSON characters that a page may set or pass to a function; parsing them takes 40 ms."""
MAX_SAVED = 1_000_000
"""Maximum characters of values saved with an output."""
MOST_VIEWS = 20
MOST_CALLS = 100
MOST_RUNS = 50
CLOSED = "The page is no longer connected to the notebook."

SendToView = Callable[[Json], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewMessage:
    """A message from a view of a page."""

    do: Literal["get", "set", "call", "close"]
    view: str
    name: str = ""
    text: str = ""
    """JSON: the value to set, or the arguments of a call."""
    id: int = 0
    """Call id."""


@dataclass(slots=True)
class PageView:
    """A view and the names that it observes."""

    send: SendToView
    names: set[str] = field(default_factory=set)
    calls: int = 0


class PageStore:
    """The values of one page, its views, and their calls."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        self.values = {name: row.value for name, row in bindings.items() if row.kind != "function"}
        self.page: Any = None
        """The widget, created on first access."""
        self.on_called: Callable[[str], None] = lambda name: None
        """Called with a function's name on its first call by the page."""
        self.called: list[str] = []
        self.closed = False
        self._encoded = dict(bindings.encoded)
        self._views: dict[str, PageView] = {}
        self._due: dict[str, str] = {}
        """Names whose value is pending, and the view that set it."""
        self._asked: list[tuple[str, str]] = []
        """Pairs of a name and a view that awaits its first value."""
        self._sent: dict[str, float] = {}
        self._sending: asyncio.Task[None] | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that serves the views, once known."""

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
            for view in self._views.values():
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
            self._views.pop(message.view, None)
            return
        if self.closed:
            send({"do": "off", "why": CLOSED})
            return
        self._loop = running_loop()
        view = self._views.setdefault(message.view, PageView(send))
        view.send = send
        while len(self._views) > MOST_VIEWS:
            del self._views[next(iter(self._views))]
        match message.do:
            case "get":
                self._check(message.name, "value")
                view.names.add(message.name)
                self._asked.append((message.name, message.view))
                self._start_sending()
            case "set":
                self._set_from_page(view, message)
            case "call":
                self._call_from_page(view, message)

    def close(self) -> None:
        """End the connection of all views."""
        self.closed = True
        for view in self._views.values():
            view.send({"do": "off", "why": CLOSED})
        self._views.clear()

    def saved(self) -> dict[str, str]:
        """The masked JSON of the values to save with an output, as many as fit."""
        texts, remaining = dict[str, str](), MAX_SAVED
        for name, value in self.values.items():
            try:
                for _ in json_pieces(
                    name, value, remaining
                ):  # checks the length first, because masking is slow
                    pass
                pieces = json_pieces(name, Masks().over(value), remaining)
                texts[name] = "".join(pieces)
            except (ConfigError, TypeError, ValueError):
                continue
            remaining -= len(texts[name])
        return texts

    def _check(self, name: str, kind: Literal["value", "function"]) -> Binding:
        row = self.bindings.get(name)
        if row is None or (row.kind == "function") != (kind == "function"):
            raise ConfigError(f"The page is bound to no {kind} `{shortened(name, 80)}`.")
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
                self.page._take(message.name, value)
            except Exception as error:  # an observer raised
                view.send(
                    _note("error", f"{message.name}: {type(error).__name__}: {masked_line(str(error))}")
                )

    def _call_from_page(self, view: PageView, message: ViewMessage) -> None:
        row = self._check(message.name, "function")
        if view.calls >= MOST_CALLS:
            view.send({"do": "result", "id": message.id, "error": f"{MOST_CALLS} calls are waiting already."})
            return
        view.calls += 1
        if row.name not in self.called:
            self.called.append(row.name)
            self.on_called(row.name)
        task = asyncio.get_running_loop().create_task(self._call(row, view, message))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _call(self, row: Binding, view: PageView, message: ViewMessage) -> None:
        result: Json = {"do": "result", "id": message.id}
        try:
            value, printed = await call(row, _read(message.text))
            texts = await encoded(row.name, value)
        except ConfigError as error:
            view.send({**result, "error": str(error)})
            return
        finally:
            view.calls -= 1
        if printed:
            view.send(_note("log", f"{row.name} printed: {masked_line(printed)}"))
        await _send_all(view.send, result, texts)

    def _start_sending(self) -> None:
        if self._sending is None and self._views:
            self._sending = asyncio.get_running_loop().create_task(self._send_due())

    async def _send_due(self) -> None:
        """Send the newest value of each pending name until none is left."""
        try:
            await self._send_rounds()
        finally:
            self._sending = None  # reset at once, so that later changes start it again

    async def _send_rounds(self) -> None:
        while self._due or self._asked:
            while self._asked:
                name, to = self._asked.pop(0)
                if view := self._views.get(to):
                    await _send_all(view.send, self._value(name), await self._texts(name))
            due, self._due = self._due, {}
            for name, origin in due.items():
                texts = await self._texts(name)
                for view in [
                    view for key, view in self._views.items() if key != origin and name in view.names
                ]:
                    await _send_all(view.send, self._value(name), texts)
            await asyncio.sleep(INTERVAL if due else 0)

    async def _texts(self, name: str) -> list[str]:
        while (texts := self._encoded.get(name)) is None:
            value = self.values[name]
            try:
                messages = await encoded(name, value)
            except ConfigError as error:
                messages = ["null"]
                for view in self._views.values():
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
    return {"do": "note", "level": level, "text": shortened(showable_text(text), 2_000)}


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


_stores: dict[tuple[str, int], PageStore] = {}


class BoundPage:
    """The bindings of an agent's pages, in the form that `Agent` expects."""

    def __init__(self, bindings: Bindings, text: Callable[[str], str] = lambda data: "") -> None:
        self.bindings, self.text = bindings, text

    @property
    def types(self) -> dict[str, str]:
        return self.bindings.types

    def open(self, run_id: str, variant: int) -> None:
        """Create the store of a starting variant."""
        _stores[run_id, variant] = PageStore(self.bindings)
        runs = list(dict.fromkeys(run for run, _ in _stores))
        for key in [key for key in _stores if key[0] in runs[:-MOST_RUNS]]:
            del _stores[key]


def bound_values(values: Mapping[str, Any]) -> BoundPage:
    """The bound page for `Agent(bind=values)`."""
    bindings = bind_values(values)
    for name, row in bindings.items():
        if row.kind != "function":
            bindings.encoded[name] = list(chunks(json_pieces(name, row.value)))

    def text(data: str) -> str:
        describe = (
            partial(describe_schema, allowed_names=known_names(values)) if data == "schema" else describe_path
        )
        return bindings.describe(lambda name: describe(name, values).text, schema_only=data == "schema")

    return BoundPage(bindings, text)


def saved_values(run_id: str, variant: int) -> dict[str, str] | None:
    """The JSON of a page's values, for outputs and exports; None if it has no bindings in this kernel."""
    store = store_of(run_id, variant)
    return store.saved() if store else None


def store_of(run_id: str, variant: int) -> PageStore | None:
    """The store of a variant; None if its page has no bindings in this kernel."""
    return _stores.get((run_id, variant))


def stores_of(run_id: str) -> Iterator[PageStore]:
    """The stores of all variants of a run."""
    return (store for (run, _), store in list(_stores.items()) if run == run_id)


def succeed(earlier: str, run_id: str) -> None:
    """Transfer filled values and observers to the new page when a cell is run again."""
    for (run, variant), store in list(_stores.items()):
        before = _stores.get((earlier, variant)) or _stores.get((earlier, 0))
        if run != run_id or before is None or before is store:
            continue
        for name, row in store.bindings.items():
            if row.kind == "filled" and name in before.values:
                store.values[name] = before.values[name]
                store._encoded.pop(name, None)
        if before.page is not None:
            store.page = before.page._heir(store)


class BoundViewer:
    """Wraps a viewer without a kernel, so that pages have their bound values."""

    def __init__(self, viewer: PageViewer, bindings: Bindings) -> None:
        self._viewer = viewer
        self._store = PageStore(bindings)

    async def check(self, request: CheckRequest) -> PageCheck:
        script = bound_script(self._store.bindings.types, self._store.saved())
        return await self._viewer.check(replace(request, bound=script))
