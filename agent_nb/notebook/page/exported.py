"""A page that is connected to Python, in a sandboxed frame, as a widget. It needs `anywidget` alone."""

import asyncio
import functools
import inspect
import json
from typing import Any, ClassVar

import anywidget

from agent_nb.notebook.page.encoding import EncodingError, json_pieces

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
        message = {"do": "value", "view": view, "name": name}
        try:
            text = "".join(json_pieces(name, getattr(self, name)))
        except EncodingError as error:
            self.send({**message, "error": str(error)})
        else:
            self.send({**message, "text": text, "last": True})

    async def _call(self, view: str, number: int, name: str, text: str) -> None:
        answer: dict[str, Any] = {"do": "result", "view": view, "id": number}
        try:
            if name not in self._functions:
                raise TypeError(f"{type(self).__name__} was made without it")
            async with self._alone:
                await asyncio.sleep(0)  # lets a message cancel the calls that wait
                result = self._functions[name](**json.loads(text))
                result = await result if inspect.isawaitable(result) else result
            answer |= {"text": "".join(json_pieces(name, result)), "last": True}
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
