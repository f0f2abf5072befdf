"""The store of a bound page: values, views and calls."""

import asyncio
import contextlib
import dataclasses
import functools
import json
import signal
import time
from collections import UserDict
from functools import partial
from typing import ClassVar

import pytest

from agent_nb import ConfigError, tool
from agent_nb.notebook.kernel_tools import execute
from agent_nb.notebook.page import calls
from agent_nb.notebook.page.bindings import bind, bind_values
from agent_nb.notebook.page.exported import PageWidget
from agent_nb.notebook.page.pages import bound_values
from agent_nb.notebook.page.store import PageStore
from agent_nb.notebook.page.widget import make_page


async def made(names, **namespace):
    bindings = bind(names, namespace, {})
    await bindings.encode()
    return PageStore(bindings)


class Window:
    """A view without a page: it keeps what it gets."""

    def __init__(self, store, name="window"):
        self.store, self.name, self.got = store, name, []

    def send(self, do, **fields):
        self.store.receive({"do": do, "view": self.name, **fields}, self.got.append)

    async def values(self, name, count):
        """The values of a name that have come, once there are so many."""
        while len(found := self._whole("name", name)) < count:  # noqa: ASYNC110 - it comes as a message
            await asyncio.sleep(0.01)
        return [json.loads(text) for text in found]

    async def result(self, number):
        while True:
            for message in self.got:
                if message.get("id") == number and "error" in message:
                    return message["error"]
            if found := self._whole("id", number):
                return json.loads(found[0])
            await asyncio.sleep(0.01)

    async def follow(self, name):
        """Asks for a name; returns its values once the first has come."""
        self.send("get", name=name)
        return await self.values(name, 1)

    def _whole(self, key, wanted):
        found, parts = [], []
        for message in self.got:
            if message.get(key) == wanted and "text" in message:
                parts.append(message["text"])
                if message["last"]:
                    found.append("".join(parts))
                    parts = []
        return found


@pytest.mark.parametrize(
    "name", ["api_key", "layout", "keys", "send", "export", "_private", "a.b", "class", "observe"]
)
def test_some_names_cannot_be_bound(name):
    with pytest.raises(ConfigError, match=name.replace(".", r"\.")):
        bind([name], {name: "x"}, {})


def test_a_function_whose_arguments_have_no_json_form_cannot_be_bound():
    def score(value: object.__class__, *others): ...

    with pytest.raises(ConfigError, match="'score'"):
        bind(["score"], {"score": score}, {})


@tool(approval="ask")
def send(text: str) -> str:
    """Send a text."""
    return text


@pytest.mark.parametrize(
    "function", [send, dataclasses.replace(send, function=None), partial(send), functools.lru_cache(send)]
)
@pytest.mark.parametrize(
    "show",
    [
        lambda function: bind(["post"], {"post": function}, {}),
        lambda function: bind([], {"post": function}, bind(["post"], {}, {})),
        lambda function: bound_values({"post": function}),
        lambda function: type("Own", (PageWidget,), {"_kinds": {"post": "function"}})(post=function),
    ],
    ids=["--bind", "--from", "Agent", "exported"],
)
def test_no_page_gets_a_function_that_needs_approval(show, function):
    with pytest.raises((ConfigError, TypeError), match=r"`post` needs approval.* function of your own"):
        show(function)
    show(lambda text: send(text))


def test_a_name_is_a_value_a_function_or_filled_by_the_page():
    bound = bind(["rows", "score", "labels"], {"rows": [1], "score": lambda text: 1}, {})
    assert bound.types == {"rows": "list", "score": "function", "labels": "filled by the page"}
    assert bound.note == "The page fills `labels`, which the notebook does not define."
    assert bind_values({"rows": [1], "labels": None}).types == {
        "rows": "list",
        "labels": "filled by the page",
    }


async def test_a_view_gets_the_value_and_every_change():
    store = await made(["rows"], rows=list(range(100_000)))
    window = Window(store)
    assert await window.follow("rows") == [list(range(100_000))]
    store.set("rows", [1])
    assert (await window.values("rows", 2))[-1] == [1]


async def test_a_value_that_turns_out_to_be_unfit_is_an_error_for_the_page():
    store = await made(["rows"], rows=[1])
    window = Window(store)
    await window.follow("rows")
    store.set("rows", [*([n] for n in range(100_000)), object()])
    while "error" not in window.got[-1]:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert window.got[-1]["name"] == "rows"
    assert "type object" in window.got[-1]["error"]


async def test_a_page_follows_the_variables_that_it_is_bound_to():
    names = {"rows": [1]}
    bindings = bind(["rows", "labels"], names, {})
    await bindings.encode()
    store, fixed = PageStore(bindings), PageStore(bound_values(names).bindings)
    page, window, seen = make_page(store), Window(store), []
    page.observe(lambda change: seen.append(change.new), "rows")
    await window.follow("rows")

    def after(**changed):
        names.update(changed)
        store.follow()
        fixed.follow()
        return page.rows

    assert after() == [1]
    assert after(rows=[2], labels=2) == [2]
    page.rows = 3
    assert after() == 3, "what the page is given wins until the name is set again"
    assert after(rows=4) == 4
    names["rows"] = 5
    page.rows = 6
    assert after() == 6
    del names["rows"]
    assert after() == 6
    assert after(rows=7) == 7
    assert seen == [[2], 3, 4, 6, 7]
    assert (fixed.values, page.labels) == ({"rows": [1]}, None)
    assert (await window.values("rows", 2))[-1] in seen
    after(rows=object())
    while "error" not in window.got[-1]:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    page.observe(lambda change: 1 / 0, "rows")
    with pytest.raises(ZeroDivisionError):  # which IPython shows
        after(rows=8)
    assert after() == 8
    store.close()
    assert after(rows=9) == 8


async def test_many_changes_are_few_messages_and_the_last_arrives():
    store = await made(["n"], n=0)
    window = Window(store)
    await window.follow("n")
    for number in range(1, 1001):
        store.set("n", number)
    while (await window.values("n", 1))[-1] != 1000:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert len(await window.values("n", 1)) < 10


async def test_a_name_that_a_view_asks_for_many_times_is_sent_once():
    store = await made(["rows"], rows=[1])
    windows = [Window(store, str(number)) for number in range(1_000)]
    for window in windows * 10:
        window.send("get", name="rows")
    await windows[-1].values("rows", 1)
    assert sum(len(window.got) for window in windows) == 20


async def test_what_a_page_sets_reaches_python_and_the_other_views_alone():
    store = await made(["labels"])
    page = store.page = make_page(store)
    seen = []
    page.observe(lambda change: seen.append(change.new), "labels")
    one, other = Window(store, "one"), Window(store, "other")
    for window in (one, other):
        await window.follow("labels")
    one.send("set", name="labels", text='{"17": "good"}')
    assert page.labels == {"17": "good"} == store.values["labels"]
    assert seen == [{"17": "good"}]
    assert await other.values("labels", 2) == [None, {"17": "good"}]
    assert await one.values("labels", 1) == [None]


@pytest.mark.parametrize(
    "text", ["{", "NaN", "[" * 100_000, "9" * 5_000, '"\ud800"', '"' + "x" * 5_000_000 + '"']
)
async def test_a_value_that_is_no_json_changes_nothing(text):
    store = await made(["labels"])
    window = Window(store)
    window.send("set", name="labels", text=text)
    assert window.got[0]["error"]
    assert store.values["labels"] is None


@pytest.mark.parametrize(
    "message",
    [
        {"do": "get", "name": "secret"},
        {"do": "set", "name": "score", "text": "1"},
        {"do": "call", "name": "rows", "text": "{}"},
        {"do": "call", "name": "__class__", "text": "{}"},
        {"do": "get", "name": ["rows"]},
        {"do": "eval", "name": "rows"},
        None,
        [],
    ],
    ids=str,
)
async def test_a_page_cannot_name_anything_else(message):
    store = await made(["rows", "score"], rows=[1], score=lambda: 1, secret="x")
    message = {**message, "view": "window"} if isinstance(message, dict) else message
    with pytest.raises(ConfigError):
        store.receive(message, lambda answer: None)


async def call(function, args="{}"):
    window = Window(await made(["function"], function=function))
    window.send("call", id=1, name="function", text=args)
    return await window.result(1)


async def test_functions_are_called_by_name_with_checked_arguments():
    def add(a: int, b: float = 0.5) -> float:
        return a + b

    async def later(a):
        await asyncio.sleep(0)
        return {"a": a}

    assert await call(add, '{"a": 1}') == 1.5
    assert await call(later, '{"a": [1]}') == {"a": [1]}
    assert "`a` must be integer" in await call(add, '{"a": "x"}')
    assert "lack `a`" in await call(add, "{}")
    assert "must not have `c`" in await call(add, '{"a": 1, "c": 2}')
    assert "arguments as an object" in await call(add, "[1]")


async def test_whatever_a_function_raises_is_a_sentence():
    def fails(kind: str):
        raise {"value": ValueError("bad value"), "exit": SystemExit(3), "stop": KeyboardInterrupt()}[kind]

    assert await call(fails, '{"kind": "value"}') == "function: ValueError: bad value"
    assert await call(fails, '{"kind": "exit"}') == "function: SystemExit: 3"
    assert "KeyboardInterrupt" in await call(fails, '{"kind": "stop"}')
    assert "type object" in await call(object)


async def test_a_function_that_never_returns_is_stopped(monkeypatch):
    def forever():
        while True:
            pass

    async def waits():
        await asyncio.sleep(100)

    def catches():
        while True:
            with contextlib.suppress(BaseException):
                time.sleep(0.01)

    monkeypatch.setattr(calls, "SECONDS", 0.3)
    for function in (forever, waits, catches):
        assert await call(function) == "function took longer than 0.3 s and was stopped."
        assert signal.getsignal(execute._OWN_SIGNAL) is not signal.SIG_DFL, (
            "a late signal would end the kernel"
        )


async def test_what_a_function_prints_is_a_note_and_its_figures_are_closed():
    from matplotlib import pyplot

    pyplot.close("all")

    def draw():
        print("drawing")
        return pyplot.figure()

    store = await made(["draw"], draw=draw)
    window = Window(store)
    window.send("call", id=1, name="draw", text="{}")
    assert (await window.result(1)).startswith("data:image/png")
    assert {"do": "note", "level": "log", "text": "draw printed: drawing"} in window.got
    assert pyplot.get_fignums() == []


async def test_a_function_may_change_a_value_of_its_own_page():
    store = await made(["n", "grow"], n=1, grow=lambda: store.set("n", store.values["n"] + 1))
    window = Window(store)
    await window.follow("n")
    window.send("call", id=1, name="grow", text="{}")
    assert (await window.values("n", 2))[-1] == 2


async def test_a_closed_connection_carries_nothing():
    store = await made(["rows", "score"], rows=[1], score=lambda: 1)
    window = Window(store)
    window.send("get", name="rows")
    store.close()
    for do in ("get", "set"):
        window.send(do, name="rows", text="2")
    window.send("call", name="score", text="{}", id=1)
    assert {message["do"] for message in window.got} <= {"off", "value"}
    assert store.values["rows"] == [1]


class Exported(PageWidget):
    """An exported page that keeps what it sends."""

    _kinds: ClassVar = {"wait": "function"}

    def send(self, content, buffers=None):
        vars(self).setdefault("sent", []).append(content)


async def receivers(wait):
    """Every part of the kernel that takes a page's messages, with what it sends and how it is closed."""
    store, widget_store = await made(["wait"], wait=wait), await made(["wait"], wait=wait)
    window, page, exported = Window(store), make_page(widget_store), Exported(wait=wait)
    page.send = window.got.append
    return [
        (partial(store.receive, send=window.got.append), window.got, store.close),
        (page._receive, window.got, page.close),
        (
            lambda message: exported._receive(exported, message, []),
            vars(exported).setdefault("sent", []),
            exported.close,
        ),
    ]


@pytest.mark.parametrize("receiver", [0, 1, 2], ids=["--off", "run.page", "exported"])
@pytest.mark.parametrize("how", ["close", "cancel", ""], ids=["view", "frame", "all"])
async def test_closing_cancels_the_calls_that_run_and_wait(receiver, how):
    events = []

    async def wait():
        events.append("started")
        try:
            await asyncio.Event().wait()
        finally:
            events.append("ended")

    receive, sent, close = (await receivers(wait))[receiver]
    before = asyncio.all_tasks()
    for number in range(2_000):
        receive({"do": "call", "view": "view", "id": number, "name": "wait", "text": "{}"})
    tasks = asyncio.all_tasks() - before
    errors = [message["error"] for message in sent]
    assert errors == ["Too many calls are waiting."] * 1_900
    while not events:  # noqa: ASYNC110
        await asyncio.sleep(0)
    if not how:
        close()
    for number in range(100 if how == "cancel" else 1 if how else 0):
        receive({"do": how, "view": "view", "id": number})
    await asyncio.wait(tasks)
    assert events == ["started", "ended"]
    assert len(sent) == len(errors) + (receiver == 0 and not how), "the connection's end"


async def test_a_page_refuses_what_json_cannot_hold_and_keeps_its_value():
    store = await made(["rows"], rows=[1])
    page = make_page(store)
    with pytest.raises(ConfigError, match="type object"):
        page.rows = object()
    assert page.rows == [1]


async def test_only_what_the_page_fills_is_in_the_state_of_the_widget_and_it_is_masked():
    store = await made(["rows", "labels"], rows=["private"])
    page = make_page(store)
    labels = page.labels = {"17": "good", "password": "hunter2hunter2", "note": f"sk-proj-{'Ab1' * 16}"}
    state = page.get_state()
    assert state["labels"] == {"17": "good", "password": "•••", "note": "•••"}
    assert "private" not in repr(state)
    assert page.labels is labels
    page.labels = "x" * 200_000
    assert page.get_state()["labels"] is None


async def test_marimo_has_what_the_page_fills():
    from_anywidget = pytest.importorskip("marimo._plugins.ui._impl.from_anywidget")
    store = await made(["rows", "labels"], rows=[1])
    store.page = page = make_page(store)
    Window(store).send("set", name="labels", text='{"17": "good"}')
    assert from_anywidget.get_anywidget_state(page) == {"labels": {"17": "good"}}


@pytest.mark.parametrize("copied", [{}, {"config": "{}"}], ids=["first", "after config was replaced"])
async def test_a_secret_that_the_page_copies_is_masked_when_its_copy_is_saved_synced_or_drawn(copied):
    store = await made(["config", "notes", "labels"], config={"api_key": "vq7-Harbour-0391"}, notes=["x"])
    store.page = page = make_page(store)
    page.config = {"login": {"name": "password", "value": 'new "Quay"-5521'}}
    copied = {**copied, "labels": '{"a": "vq7-Harbour-0391"}', "notes": r'["1", "my new \"Quay\"-5521!"]'}
    for name, text in copied.items():
        Window(store).send("set", name=name, text=text)
    assert store.values["labels"] == page.labels == {"a": "vq7-Harbour-0391"}
    assert json.loads(store.saved()["labels"]) == page.get_state()["labels"] == {"a": "•••"}
    assert json.loads(store.saved()["notes"]) == ["1", "my •••!"]


async def test_saved_values_are_masked_and_limited():
    table = [{"password": "hunter2hunter2", "n": number} for number in range(3)]
    store = await made(["table", "long", "n"], table=table, long="x" * 2_000_000, n=1)
    saved = store.saved()
    assert list(saved) == ["table", "n"]
    assert "hunter2" not in saved["table"]


async def test_an_observer_may_change_what_the_page_has_set():
    store = await made(["level"], level=1)
    page = store.page = make_page(store)
    page.observe(lambda change: setattr(page, "level", min(change.new, 10)), "level")
    window = Window(store)
    window.send("get", name="level")
    window.send("set", name="level", text="50")
    assert (await window.values("level", 1))[-1] == page.level == store.values["level"] == 10
    assert not [message for message in window.got if message["do"] == "note"]


async def test_a_value_may_be_set_in_another_thread():
    store = await made(["level"], level=1)
    page = make_page(store)
    window = Window(store)
    await window.follow("level")
    await asyncio.to_thread(setattr, page, "level", 2)
    assert (await window.values("level", 2))[-1] == 2


async def test_texts_that_cannot_be_sent_do_not_leave_a_call_without_an_answer():
    def fail(text: str):
        raise ValueError(text)

    class OddError(Exception):
        def __str__(self):
            raise SystemExit

    def odd():
        raise OddError

    class Broken(UserDict):
        def items(self):
            raise KeyError

    assert await call(fail, r'{"text": "\ud800"}') == "function: ValueError: \ufffd"
    assert await call(odd) == "function: OddError"
    assert await call(lambda: Broken()) == "`function` cannot be read as JSON: KeyError."
