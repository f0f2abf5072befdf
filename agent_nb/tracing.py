"""OpenTelemetry spans for every run, following the conventions for generative AI.

    import agent_nb.tracing
    agent_nb.tracing.enable()

Spans go to your application's tracer provider; without one, they are dropped. A run is `invoke_agent`, a turn
`chat MODEL`, a tool call `execute_tool NAME`. Attributes outside the conventions start with `agent_nb.`.
"""

import json
import time
from functools import partial
from typing import Any

from opentelemetry.context import Context, attach
from opentelemetry.trace import (
    INVALID_SPAN,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    TracerProvider,
    get_tracer,
    set_span_in_context,
)

import agent_nb.core.events as ev
from agent_nb._base.secrets import mask_json
from agent_nb._base.wire import Json
from agent_nb.core.messages import Message, Text, Thinking, ToolCall, ToolResult, Usage, user
from agent_nb.engine.journal import OBSERVERS

__all__ = ["disable", "enable"]

_PROVIDERS = {"gemini": "gcp.gemini"}
"""Vendors with a different name in the conventions."""


def enable(*, contents: bool = False, tracer_provider: TracerProvider | None = None) -> None:
    """Create spans for all later runs of this process.

    Prompts, answers, and arguments and results of tools are recorded only with `contents=True`, with secrets masked.
    """
    disable()
    tracer = get_tracer("agent_nb", tracer_provider=tracer_provider)
    OBSERVERS.append(partial(RunTracer, tracer, contents))


def disable() -> None:
    """Stop creating spans. Runs that have started keep theirs."""
    OBSERVERS[:] = [make for make in OBSERVERS if getattr(make, "func", None) is not RunTracer]


class RunTracer:
    def __init__(self, tracer: Tracer, contents: bool) -> None:
        self._tracer, self._contents = tracer, contents
        self._cost: float | None = 0.0
        self._common: dict[str, str] = {}
        self._run: Span = INVALID_SPAN
        self._run_context = Context()
        self._turn: Span = INVALID_SPAN
        self._turn_ended: int | None = None
        self._is_counted = False
        """Whether the turn's cost is known; later costs are those of its calls."""
        self._names: dict[str, str] = {}
        self._arguments: dict[str, Json] = {}
        self._running: dict[str, Span] = {}
        self._finished: dict[str, tuple[Span, int]] = {}
        """Spans of ended calls with their end time, waiting for the results."""
        self._messages: list[Json] = []

    def __call__(self, event: ev.Event) -> None:
        match event:
            case ev.RunStarted():
                self._start_run(event)
            case ev.TurnStarted(step=step):
                self._start_turn(step)
            case ev.TurnRetrying(attempt=attempt, wait=wait, why=why):
                details: dict[str, Any] = {"agent_nb.attempt": attempt, "agent_nb.wait": wait}
                self._turn.add_event("agent_nb.retry", {**details, "exception.message": why})
                self._names.clear()
            case ev.TurnFinished():
                self._finish_turn(event)
            case ev.UsageUpdated(cost=cost, estimated=False):
                self._count(cost)
            case ev.ToolStarted(call_id=call_id, name=name):
                self._names[call_id] = name
            case ev.ToolReady(call_id=call_id, args=args):
                self._arguments[call_id] = args
            case ev.ToolRunning(call_id=call_id):
                span = self._running[call_id] = self._start_call(call_id)
                attach(set_span_in_context(span, self._run_context))
            case ev.ToolFinished():
                self._finish_call(event)
            case ev.MessageAdded() | ev.ConversationCompacted():
                self._change_messages(event)
            case ev.RunFinished():
                self._finish_run(event)

    def _start_run(self, event: ev.RunStarted) -> None:
        vendor, _, name = event.model.partition(":")
        self._common = {"gen_ai.provider.name": _PROVIDERS.get(vendor, vendor), "gen_ai.request.model": name}
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "invoke_agent",
            **self._common,
            "agent_nb.run.id": event.run_id,
            "agent_nb.variant": event.variant,
        }
        self._run = self._tracer.start_span("invoke_agent", attributes=attributes)
        self._messages = [_message(user(event.prompt))]
        self._record_messages(self._run, "gen_ai.input.messages", self._messages)
        self._run_context = set_span_in_context(self._run)
        attach(self._run_context)

    def _finish_run(self, event: ev.RunFinished) -> None:
        failed = ev.ENDINGS[event.reason].has_failed
        if failed and self._turn_ended is None:
            _fail(self._turn, event.reason, event.error or "")
        self._end_turn()
        self._end_calls()
        for span in self._running.values():
            span.end()
        self._run.set_attributes({**_usage(event.usage), "agent_nb.reason": event.reason})
        if event.cost is not None:
            self._run.set_attribute("agent_nb.cost_usd", event.cost)
        if failed:
            _fail(self._run, event.reason, event.error or "")
        self._run.end()

    def _start_turn(self, number: int) -> None:
        self._end_turn()
        self._end_calls()
        self._names.clear()
        attributes: dict[str, Any] = {
            **self._common,
            "gen_ai.operation.name": "chat",
            "agent_nb.turn": number,
        }
        name = f"chat {self._common['gen_ai.request.model']}".strip()
        self._turn = self._tracer.start_span(
            name, context=self._run_context, kind=SpanKind.CLIENT, attributes=attributes
        )
        self._turn_ended = None
        self._is_counted = False
        self._record_messages(self._turn, "gen_ai.input.messages", self._messages)
        attach(set_span_in_context(self._turn, self._run_context))

    def _finish_turn(self, event: ev.TurnFinished) -> None:
        self._turn_ended = time.time_ns()
        self._turn.set_attributes(
            {
                "gen_ai.response.model": event.model,
                "gen_ai.response.finish_reasons": [event.stop],
                **_usage(event.usage),
            }
        )
        attach(self._run_context)

    def _count(self, cost: float | None) -> None:
        if not self._is_counted and self._turn_ended is not None:
            self._is_counted = True
            if cost is not None and self._cost is not None:
                self._turn.set_attribute("agent_nb.cost_usd", round(cost - self._cost, 12))
        self._cost = cost

    def _end_turn(self) -> None:
        self._turn.end(end_time=self._turn_ended)
        self._turn = INVALID_SPAN

    def _start_call(self, call_id: str) -> Span:
        name = self._names.get(call_id, "")
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": call_id,
            "gen_ai.tool.type": "function",
        }
        span = self._tracer.start_span(
            f"execute_tool {name}", context=self._run_context, attributes=attributes
        )
        if self._contents:
            span.set_attribute("gen_ai.tool.call.arguments", _text(self._arguments.get(call_id)))
        return span

    def _finish_call(self, event: ev.ToolFinished) -> None:
        span = self._running.pop(event.call_id, None) or self._start_call(event.call_id)
        if not event.ok:
            _fail(span, event.code or "_OTHER", event.summary if self._contents else "")
        self._finished[event.call_id] = span, time.time_ns()

    def _end_calls(self) -> None:
        for span, end_time in self._finished.values():
            span.end(end_time=end_time)
        self._finished.clear()

    def _record_messages(self, span: Span, name: str, messages: list[Json]) -> None:
        if self._contents:
            span.set_attribute(name, _text(messages))

    def _change_messages(self, event: ev.MessageAdded | ev.ConversationCompacted) -> None:
        if isinstance(event, ev.ConversationCompacted):
            self._messages.clear()  # the event does not contain the remaining messages
            self._record_messages(self._turn, "gen_ai.input.messages", self._messages)
            return
        message, record = event.message, _message(event.message)
        self._messages.append(record)
        if message.role == "assistant":
            for span in (self._turn, self._run):  # the last message is the run's answer
                self._record_messages(span, "gen_ai.output.messages", [record])
            self._end_turn()
        elif message.role == "tool":
            results = [part for part in message.parts if isinstance(part, ToolResult)]
            for call_id, result in zip(self._names, results, strict=False):
                if self._contents and call_id in self._finished:
                    self._finished[call_id][0].set_attribute("gen_ai.tool.call.result", _text(result.text))
            self._end_calls()


def _text(value: Any) -> str:
    """Return a text, or JSON as text, masked."""
    masked = mask_json(value)
    return masked if isinstance(masked, str) else json.dumps(masked, ensure_ascii=False)


def _fail(span: Span, kind: str, description: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, _text(description)))


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cached_write,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
    }


def _message(message: Message) -> Json:
    parts: list[Json] = []
    for part in message.parts:
        match part:
            case Text(text):
                parts.append({"type": "text", "content": text})
            case Thinking(text):
                parts.append({"type": "reasoning", "content": text})
            case ToolCall(call_id, name, arguments):
                parts.append({"type": "tool_call", "id": call_id, "name": name, "arguments": arguments})
            case ToolResult(call_id=call_id, text=text):
                parts.append({"type": "tool_call_response", "id": call_id, "response": text})
            case _:
                continue
    return {"role": message.role, "parts": parts}
