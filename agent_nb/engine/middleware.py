"""The caller's code around a run: functions for requests, tool calls and events, and objects that hold several.

They run in the order in which they were given: those of `Agent(middleware=[...])` first, then functions that were
added to the agent. A replay runs none of them, except for subscribers.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from agent_nb._base.constants import MIDDLEWARE_METHODS
from agent_nb._base.log import log
from agent_nb._base.text import change_texts
from agent_nb._base.wire import Json
from agent_nb.engine.ending import EndRun, call_own_code
from agent_nb.errors import AgentError, ConfigError, ToolError
from agent_nb.events import Event
from agent_nb.messages import Message, Part, Text, ToolCall, ToolResult, ToolSpec
from agent_nb.providers.base import Request

BeforeTool = Callable[[ToolCall], Any]
AfterTool = Callable[[ToolCall, ToolResult], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What is about to be sent to the model. `on_request` may give back a copy with other texts, messages or tools."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    model: str
    """For reading, as are the settings: another value changes nothing."""
    settings: Json
    """The limits, the names of the tools, `effort`, `approve`, as in `run.settings`."""
    variant: int = 0

    def with_texts(self, change: Callable[[str], str]) -> "ModelRequest":
        """A copy with every text changed: the system text, messages, arguments and results of tool calls."""
        messages = tuple(_with_texts(message, change) for message in self.messages)
        return replace(self, system=change(self.system), messages=messages)


@dataclass(slots=True, kw_only=True)
class Hooks:
    requests: list[Callable[[ModelRequest], Any]] = field(default_factory=list)
    before: list[BeforeTool] = field(default_factory=list)
    after: list[AfterTool] = field(default_factory=list)
    events: list[Callable[[Event], Any]] = field(default_factory=list)
    subscribers: list[Callable[[Event], None]] = field(default_factory=list)
    """As `events`, and for replays too."""

    @classmethod
    def of(cls, middleware: Any) -> "Hooks":
        """The methods of these objects; raises `ConfigError` for an object that has none."""
        if isinstance(middleware, str) or not isinstance(middleware, Iterable):
            raise ConfigError("`middleware` is a list of objects.")
        hooks = cls()
        functions: dict[str, list[Any]] = {
            "on_request": hooks.requests,
            "before_tool": hooks.before,
            "after_tool": hooks.after,
            "on_event": hooks.events,
        }
        for each in middleware:
            check_middleware(each)
            for name in methods_of(each):
                functions[name].append(getattr(each, name))
        return hooks

    def copy(self) -> "Hooks":
        return Hooks(**{each.name: [*getattr(self, each.name)] for each in fields(self)})

    def __getstate__(self) -> Any:
        """Subscribers are called in the process that has them, so a pickle has none."""
        return None, {each.name: getattr(self, each.name) for each in fields(self)} | {"subscribers": []}

    async def outgoing(self, request: Request, model: str, settings: Json) -> Request:
        """The request as it is sent; ends the run as failed if a function fails."""
        if not self.requests:
            return request
        sent = ModelRequest(
            system=request.system,
            messages=request.messages,
            tools=request.tools,
            model=model,
            settings=dict(settings),
            variant=request.variant,
        )
        for hook in self.requests:
            sent = await _changed(hook, sent)
        return replace(request, system=sent.system, messages=tuple(sent.messages), tools=tuple(sent.tools))


def check_middleware(value: Any) -> None:
    if isinstance(value, type):
        raise ConfigError(f"Middleware is an object: write `{value.__name__}()`, not `{value.__name__}`.")
    if not methods_of(value):
        methods = ", ".join(MIDDLEWARE_METHODS)
        raise ConfigError(f"Middleware has one of the methods {methods}; a {type(value).__name__} has none.")


def methods_of(value: Any) -> list[str]:
    return [name for name in MIDDLEWARE_METHODS if callable(getattr(value, name, None))]


class Listener:
    """Passes events to one `on_event`. If that is async, it handles one event after the other."""

    def __init__(self, hook: Callable[[Event], Any]) -> None:
        self._hook = hook
        self._waiting: deque[Awaitable[Any]] = deque()
        self._task: asyncio.Task[None] | None = None

    def __call__(self, event: Event) -> None:
        result = self._hook(event)
        if isinstance(result, Awaitable):
            self._waiting.append(result)
            if self._task is None or self._task.done():
                self._task = asyncio.get_running_loop().create_task(self._drain())

    async def settled(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _drain(self) -> None:
        while self._waiting:
            try:
                await self._waiting.popleft()
            except asyncio.CancelledError:
                raise
            except BaseException:  # the caller's code must not break the run
                log.exception("on_event failed; the run continues")


async def _changed(hook: Callable[[ModelRequest], Any], sent: ModelRequest) -> ModelRequest:
    title = f"`{getattr(hook, '__qualname__', 'on_request').rpartition('<locals>.')[2]}`"
    try:
        result = await call_own_code(title, hook, sent)
    except ToolError as error:
        own = isinstance(error.__cause__, AgentError)
        raise EndRun("failed", str(error.__cause__) if own else error.message) from error
    if result is None:
        return sent
    if (problem := _problem(result)) is not None:
        raise EndRun("failed", f"{title} gave back {problem}, so nothing was sent.")
    changed: ModelRequest = result
    return changed


def _problem(result: Any) -> str | None:
    if not isinstance(result, ModelRequest):
        return f"a {type(result).__name__}, not a request or None"
    given: dict[str, Any] = {each.name: getattr(result, each.name) for each in fields(result)}
    if not isinstance(given["system"], str):
        return "a request whose `system` is not a text"
    for name, kind in (("messages", Message), ("tools", ToolSpec)):
        values = given[name]
        if not isinstance(values, Sequence) or not all(isinstance(value, kind) for value in values):
            return f"a request whose `{name}` are not of type {kind.__name__}"
    return None


def _with_texts(message: Message, change: Callable[[str], str]) -> Message:
    parts = tuple(_part_with_texts(part, change) for part in message.parts)
    # Vendor data repeats the parts, so it is only sent with the parts that it belongs to.
    return message if parts == message.parts else replace(message, parts=parts, vendor={})


def _part_with_texts(part: Part, change: Callable[[str], str]) -> Part:
    match part:
        case Text(text) | ToolResult(text=text):
            return replace(part, text=change(text))
        case ToolCall(arguments=arguments):
            try:
                changed = change_texts(args := json.loads(arguments), change)
            except ValueError:
                return replace(part, arguments=change(arguments))
            return (
                replace(part, arguments=json.dumps(changed, ensure_ascii=False)) if changed != args else part
            )
        case _:
            return part
