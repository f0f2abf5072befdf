"""A page that is connected to Python, in a sandboxed frame, as a widget. It needs `anywidget` alone."""

import asyncio
import base64
import datetime
import functools
import inspect
import io
import json
import math
from typing import Any, ClassVar

import anywidget

MOST_CALLS = 100


class PageWidget(anywidget.AnyWidget):  # type: ignore[misc]  # it is untyped
    """Shows a page, which may read and set the values, and call the functions, whose names are in `_kinds`."""

    _kinds: ClassVar[dict[str, str]] = {}
    _html: ClassVar[str] = ""

    def __init__(self, **bound: Any) -> None:
        self._calls: dict[asyncio.Future[None], tuple[str, int]] = {}
        """The calls that run or wait, with their view and id."""
        if unknown := bound.keys() - self._kinds.keys():
            raise TypeError(f"The page of {type(self).__name__} does not use {', '.join(sorted(unknown))}.")
        names = [name for name, kind in self._kinds.items() if kind == "function"]
        self._functions = {name: bound.pop(name) for name in names if name in bound}
        for name, function in self._functions.items():
            if problem := approval_problem(name, function):
                raise TypeError(problem)
        self._views: dict[str, set[str]] = {}
        """The names that each view of the page follows."""
        self._setting = ""
        """The view that sets a value now."""
        self._alone = asyncio.Lock()
        super().__init__(**bound)
        self.on_msg(self._receive)
        self.observe(self._spread, [name for name in self._kinds if name not in names])

    def _receive(self, widget: Any, message: Any, buffers: Any) -> None:
        view, name = message["view"], message.get("name")
        match message["do"], self._kinds.get(name):
            case "page", _:
                bound = [{"name": name, "kind": kind} for name, kind in self._kinds.items()]
                self.send({"do": "page", "view": view, "html": self._html, "bound": bound})
            case "get", "value" | "filled":
                self._views.setdefault(view, set()).add(name)
                self._send_value(view, name)
            case "set", "value" | "filled":
                self._set(view, name, message["text"])
            case "call", "function" if len(self._calls) < MOST_CALLS:
                call = asyncio.ensure_future(self._call(view, message["id"], name, message["text"]))
                self._calls[call] = view, message["id"]
                call.add_done_callback(self._calls.pop)
            case "call", "function":
                error = "Too many calls are waiting."
                self.send({"do": "result", "view": view, "id": message["id"], "error": error})
            case "cancel", _:
                self._cancel(view, message["id"])
            case "close", _:
                self._views.pop(view, None)
                self._cancel(view)

    def close(self) -> None:
        self._cancel()
        super().close()

    def _cancel(self, view: str | None = None, number: int | None = None) -> None:
        """Cancel one call, those of a view, or all."""
        for task, call in self._calls.items():
            if view in (None, call[0]) and number in (None, call[1]):
                task.cancel()

    def _set(self, view: str, name: str, text: str) -> None:
        answer = {"do": "took", "view": view, "name": name}
        self._setting = view
        try:
            setattr(self, name, json.loads(text))
        except Exception as error:  # of a function that observes it
            answer["error"] = f"{type(error).__name__}: {error}"
        finally:
            self._setting = ""
        self.send(answer)

    def _spread(self, change: Any) -> None:
        for view, names in self._views.items():
            if change.name in names and view != self._setting:
                self._send_value(view, change.name)

    def _send_value(self, view: str, name: str) -> None:
        text = json.dumps(to_plain(getattr(self, name)))
        self.send({"do": "value", "view": view, "name": name, "text": text, "last": True})

    async def _call(self, view: str, number: int, name: str, text: str) -> None:
        answer: dict[str, Any] = {"do": "result", "view": view, "id": number}
        try:
            if name not in self._functions:
                raise TypeError(f"{type(self).__name__} was made without it")
            async with self._alone:
                await asyncio.sleep(0)  # lets a message cancel the calls that wait
                result = self._functions[name](**json.loads(text))
                result = await result if inspect.isawaitable(result) else result
            answer |= {"text": json.dumps(to_plain(result)), "last": True}
        except Exception as error:
            answer["error"] = f"{name}: {type(error).__name__}: {error}"
        self.send(answer)


def approval_problem(name: str, function: Any) -> str:
    """Return why a page may not call this function: it needs approval, or wraps one that does. Empty if it may."""
    while function is not None and getattr(function, "approval", None) != "ask":
        function = getattr(
            function, "func" if isinstance(function, functools.partial) else "__wrapped__", None
        )
    if function is None:
        return ""
    return (
        f"`{name}` needs approval, and a page calls without asking. Use a function of your own that calls it."
    )


def to_plain(value: Any) -> Any:
    """A value as JSON's own types: tables as lists of rows, dates as ISO texts, figures as data URLs."""
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [to_plain(item) for item in value]
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return _of_library(value)


def _of_library(value: Any) -> Any:
    if hasattr(value, "savefig"):  # Matplotlib
        value.savefig(data := io.BytesIO(), format="png")
        return f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
    if hasattr(value, "itertuples"):  # pandas
        table = value if type(value.index).__name__ == "RangeIndex" else value.reset_index()
        return to_plain(table.to_dict("records"))
    for method in ("to_dicts", "to_pylist", "tolist", "to_list"):  # Polars, PyArrow, NumPy
        if hasattr(value, method):
            return to_plain(getattr(value, method)())
    raise TypeError(f"JSON cannot hold a value of type {type(value).__name__}.")
