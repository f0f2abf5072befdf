"""Hooks for requests, tool calls and events, and middleware objects that combine several of them.

Hooks run in registration order: those of `Agent(middleware=[...])` first, then functions added to the agent.
A replay calls only the subscribers.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from agent_nb._base.constants import MIDDLEWARE_METHODS
from agent_nb._base.log import log
from agent_nb._base.text import change_texts
from agent_nb._base.wire import Json, parse_json
from agent_nb.core.errors import AgentError, ConfigError, ToolError
from agent_nb.core.events import Event
from agent_nb.core.messages import Message, Part, Text, ToolCall, ToolResult, ToolSpec
from agent_nb.engine.ending import EndRun, call_user_code
from agent_nb.providers.base import Request

BeforeTool = Callable[[ToolCall], Any]
AfterTool = Callable[[ToolCall, ToolResult], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request about to be sent to the model. `on_request` may return a modified copy."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    model: str
    """Read-only, like the settings: changes are ignored."""
    settings: Json
    """Limits, tool names, `effort` and `approve`, as in `run.settings`."""
    variant: int = 0

    def with_texts(self, change: Callable[[str], str]) -> "ModelRequest":
        """A copy with `change` applied to the system text, messages, and tool arguments and results."""
        messages = tuple(_with_texts(message, change) for message in self.messages)
        return replace(self, system=change(self.system), messages=messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    on_request: tuple[Callable[[ModelRequest], Any], ...] = ()
    before_tool: tuple[BeforeTool, ...] = ()
    after_tool: tuple[AfterTool, ...] = ()
    on_event: tuple[Callable[[Event], Any], ...] = ()
    subscribers: tuple[Callable[[Event], None], ...] = ()
    """Like `on_event`, but also called in replays."""

    def plus(
        self, middleware: Iterable[Any], added: Sequence[tuple[str, Callable[..., Any]]] = ()
    ) -> "Hooks":
        """Return a copy with the hook methods of these objects, then the functions that were added by name."""
        methods = [(name, getattr(item, name)) for item in middleware for name in methods_of(item)]
        together: dict[str, Any] = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        for name, hook in (*methods, *added):
            together[name] += (hook,)
        return Hooks(**together)

    async def outgoing(self, request: Request, model: str, settings: Mapping[str, Any]) -> Request:
        """The request after all `on_request` hooks. The run fails if a hook fails."""
        if not self.on_request:
            return request
        draft = ModelRequest(
            system=request.system,
            messages=request.messages,
            tools=request.tools,
            model=model,
            settings=dict(settings),
            variant=request.variant,
        )
        for hook in self.on_request:
            draft = await _apply_hook(hook, draft)
        return replace(request, system=draft.system, messages=tuple(draft.messages), tools=tuple(draft.tools))


def read_middleware(middleware: Any) -> tuple[Any, ...]:
    """Return the objects; raise `ConfigError` for one without a hook method."""
    if isinstance(middleware, str) or not isinstance(middleware, Iterable):
        raise ConfigError("`middleware` is a list of objects.")
    objects = tuple(middleware)
    for item in objects:
        check_middleware(item)
    return objects


def check_middleware(value: Any) -> None:
    if isinstance(value, type):
        raise ConfigError(f"Middleware is an object: write `{value.__name__}()`, not `{value.__name__}`.")
    if not methods_of(value):
        methods = ", ".join(MIDDLEWARE_METHODS)
        raise ConfigError(f"Middleware has one of the methods {methods}; a {type(value).__name__} has none.")


def methods_of(value: Any) -> list[str]:
    return [name for name in MIDDLEWARE_METHODS if callable(getattr(value, name, None))]


class Listener:
    """Passes events to one `on_event` hook. An async hook handles them one at a time."""

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

    async def drained(self) -> None:
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


async def _apply_hook(hook: Callable[[ModelRequest], Any], request: ModelRequest) -> ModelRequest:
    title = f"`{getattr(hook, '__qualname__', 'on_request').rpartition('<locals>.')[2]}`"
    try:
        result: ModelRequest | None = await call_user_code(title, hook, request)
    except ToolError as error:
        is_agent_error = isinstance(error.__cause__, AgentError)
        raise EndRun("failed", str(error.__cause__) if is_agent_error else error.message) from error
    if result is None:
        return request
    if problem := _problem(result):
        raise EndRun("failed", f"{title} returned {problem}, so nothing was sent.")
    return result


def _problem(result: Any) -> str:
    if not isinstance(result, ModelRequest):
        return f"a {type(result).__name__}, not a request or None"
    system: Any = result.system
    if not isinstance(system, str):
        return "a request whose `system` is not text"
    for name, kind in (("messages", Message), ("tools", ToolSpec)):
        values = getattr(result, name)
        if not isinstance(values, Sequence) or not all(isinstance(value, kind) for value in values):
            return f"a request whose `{name}` are not of type {kind.__name__}"
    return ""


def _with_texts(message: Message, change: Callable[[str], str]) -> Message:
    parts = tuple(_part_with_texts(part, change) for part in message.parts)
    # Vendor data duplicates the parts, so it is dropped when they change.
    return message if parts == message.parts else replace(message, parts=parts, vendor={})


def _part_with_texts(part: Part, change: Callable[[str], str]) -> Part:
    match part:
        case Text(text) | ToolResult(text=text):
            return replace(part, text=change(text))
        case ToolCall(arguments=arguments):
            if (args := parse_json(arguments)) is None:
                return replace(part, arguments=change(arguments))
            if (new_args := change_texts(args, change)) != args:
                return replace(part, arguments=json.dumps(new_args, ensure_ascii=False))
    return part
