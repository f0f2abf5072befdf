"""A run in the events of AG-UI 1.0, the Agent User Interaction Protocol.

Each turn is a step and one assistant message, with the text and the calls of the turn; its thinking is reasoning
messages. The files are the state. Events that the protocol has no form for are CUSTOM events, named
`agent_nb.` and their own type.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, assert_never

import agent_nb.events as ev
from agent_nb._base.wire import Json, to_wire
from agent_nb.errors import ConfigError
from agent_nb.messages import Message, ToolResult
from agent_nb.web.ag_ui_request import AgUiRequest
from agent_nb.web.drafts import Pair, StateFiles, pair

PROTOCOL_VERSION = "1.0"

_Streamed = ev.TextDelta | ev.ThinkingDelta | ev.ToolStarted | ev.ToolArgsDelta | ev.FileDelta


@dataclass(slots=True)
class _Call:
    """A tool call of the current turn."""

    id: str
    name: str
    sent: list[str] = field(default_factory=list)
    """The arguments that have been sent."""
    streams: bool = True
    """False once a part of the arguments came as text of a file: the rest is sent at the end."""
    has_ended: bool = False
    result: str | None = None


class AgUi:
    """Translates the events of one run. With a request, it answers with that request's ids and conversation."""

    def __init__(self, request: AgUiRequest | None = None) -> None:
        self._request = request
        self._run_id, self._thread_id, self._model = "", "", ""
        self._variant = 0
        self._files = StateFiles()
        self._messages: list[Json] = list(request.messages) if request else []
        """The conversation so far, without the current turn: what a retry goes back to."""
        self._begin_turn(0)

    def __call__(self, event: ev.Event) -> Iterator[Pair]:
        if isinstance(event, ev.RunStarted) and not self._run_id:
            yield from self._start(event)
        elif isinstance(event, ev.RunStarted) or event.variant != self._variant:
            raise ConfigError("AG-UI events tell of one run: give the translator the events of one variant.")
        else:
            yield from self._translate(event)

    def _translate(self, event: ev.Event) -> Iterator[Pair]:
        match event:
            case ev.TextDelta() | ev.ThinkingDelta() | ev.ToolStarted() | ev.ToolArgsDelta() | ev.FileDelta():
                yield from self._stream(event)
            case ev.FileChanged():
                yield from _state(self._files.change(event))
            case ev.MessageAdded(message=message):
                yield from self._add(message)
            case ev.ToolFinished(call_id=call_id, summary=summary):
                yield from _state(self._files.drop(call_id))
                self._calls[call_id].result = summary
                yield _custom(event)
            case ev.TurnStarted(step=step):
                yield from self._start_turn(step)
            case ev.TurnFinished():
                yield from self._close()
            case ev.TurnRetrying():
                yield from self._withdraw()
                yield _custom(event)
            case ev.RunFinished():
                yield from self._finish(event)
            case (
                ev.ToolRunning()
                | ev.ToolProgress()
                | ev.ApprovalRequested()
                | ev.ApprovalResolved()
                | ev.UsageUpdated()
                | ev.ConversationCompacted()
            ):
                yield _custom(event)
            case ev.ToolReady() | ev.RunStarted():
                return  # the arguments have been sent; the start is handled before
            case _:
                assert_never(event)

    def _stream(self, event: _Streamed) -> Iterator[Pair]:
        match event:
            case ev.TextDelta(text=text):
                yield from self._open("text")
                self._texts.append(text)
                yield _event("TEXT_MESSAGE_CONTENT", messageId=self._message_id, delta=text)
            case ev.ThinkingDelta(text=text):
                yield from self._open("thinking")
                self._thoughts[-1].append(text)
                yield _event("REASONING_MESSAGE_CONTENT", messageId=self._thought_id, delta=text)
            case ev.ToolStarted(call_id=call_id, name=name):
                yield from self._start_call(call_id, name)
            case ev.ToolArgsDelta(call_id=call_id, text=text):
                yield from self._arguments(self._calls[call_id], text)
            case ev.FileDelta(call_id=call_id):
                self._calls[call_id].streams = False
                yield from _state(self._files.write(event))

    # Runs and turns

    def _start(self, event: ev.RunStarted) -> Iterator[Pair]:
        request, self._model, self._variant = self._request, event.model, event.variant
        self._run_id = request.run_id if request else event.run_id
        self._thread_id = request.thread_id if request else event.run_id
        if not request:
            self._messages.append({"id": f"{self._run_id}-prompt", "role": "user", "content": event.prompt})
        ids = {"threadId": self._thread_id, "runId": self._run_id}
        yield _event("RUN_STARTED", **ids, protocolVersion=PROTOCOL_VERSION)

    def _begin_turn(self, number: int) -> None:
        self._turn = number
        self._opened = ""
        """What is open: "text", "thinking" or nothing."""
        self._texts: list[str] = []
        self._thoughts: list[list[str]] = []
        self._calls: dict[str, _Call] = {}

    def _start_turn(self, number: int) -> Iterator[Pair]:
        yield from self._end_step()
        self._begin_turn(number)
        if not self._files.has_snapshot:
            state = self._request.state if self._request else {}
            yield _event("STATE_SNAPSHOT", snapshot={**state, "files": self._files.snapshot()})
        yield _event("STEP_STARTED", stepName=f"turn {number}")

    def _end_step(self) -> Iterator[Pair]:
        if self._turn:
            yield _event("STEP_FINISHED", stepName=f"turn {self._turn}")

    def _withdraw(self) -> Iterator[Pair]:
        """Takes back what the failed attempt has streamed: a snapshot removes the messages that it lacks.

        Only a snapshot with reasoning removes reasoning. The one that the next attempt continues is left, empty.
        """
        yield from self._close()
        yield from (_event("TOOL_CALL_END", toolCallId=call.id) for call in self._calls.values())
        yield from _state(self._files.drop_all())
        if self._texts or self._thoughts or self._calls:
            kept = self._messages
            if self._thoughts and not any(message["role"] == "reasoning" for message in kept):
                kept = [*kept, _reasoning(self._thought_id_of(1), "")]
            yield _event("MESSAGES_SNAPSHOT", messages=kept)
        self._begin_turn(self._turn)

    def _finish(self, event: ev.RunFinished) -> Iterator[Pair]:
        yield from self._close()
        for call in self._calls.values():
            yield from self._end_call(call, "".join(call.sent))
            if call.result is not None:
                yield self._result(call, call.result)
        yield from _state(self._files.drop_all())
        yield from self._end_step()
        details = {"reason": event.reason, "error": event.error, "cost": event.cost, "seconds": event.seconds}
        ending: Json = {"usage": [_usage(event, self._model)], "metadata": {"agent_nb": details}}
        if ev.ENDINGS[event.reason].has_failed:
            yield _event("RUN_ERROR", message=event.error or event.reason, code=event.reason, **ending)
            return
        outcome = {"type": "success" if ev.ENDINGS[event.reason].is_own else "cancelled"}
        ids = {"threadId": self._thread_id, "runId": self._run_id}
        yield _event("RUN_FINISHED", **ids, outcome=outcome, **ending)

    # Text and thinking

    @property
    def _message_id(self) -> str:
        return f"{self._run_id}-{self._turn}"

    @property
    def _thought_id(self) -> str:
        return self._thought_id_of(len(self._thoughts))

    def _thought_id_of(self, number: int) -> str:
        return f"{self._run_id}-{self._turn}-thinking-{number}"

    def _open(self, kind: str) -> Iterator[Pair]:
        if self._opened == kind:
            return
        yield from self._close()
        self._opened = kind
        if kind == "text":
            yield _event("TEXT_MESSAGE_START", messageId=self._message_id, role="assistant")
        else:
            self._thoughts.append([])
            yield _event("REASONING_START", messageId=self._thought_id)
            yield _event("REASONING_MESSAGE_START", messageId=self._thought_id, role="reasoning")

    def _close(self) -> Iterator[Pair]:
        if self._opened == "text":
            yield _event("TEXT_MESSAGE_END", messageId=self._message_id)
        elif self._opened == "thinking":
            yield _event("REASONING_MESSAGE_END", messageId=self._thought_id)
            yield _event("REASONING_END", messageId=self._thought_id)
        self._opened = ""

    # Tool calls

    def _start_call(self, call_id: str, name: str) -> Iterator[Pair]:
        yield from self._close()
        # Ids of calls repeat from run to run; in a conversation they must not.
        call = self._calls[call_id] = _Call(f"{self._run_id}-{call_id}", name)
        parent = self._message_id
        yield _event("TOOL_CALL_START", toolCallId=call.id, toolCallName=name, parentMessageId=parent)

    def _arguments(self, call: _Call, text: str) -> Iterator[Pair]:
        if call.streams:
            call.sent.append(text)
            yield _event("TOOL_CALL_ARGS", toolCallId=call.id, delta=text)

    def _end_call(self, call: _Call, arguments: str) -> Iterator[Pair]:
        if call.has_ended:
            return
        call.has_ended = True
        if rest := arguments.removeprefix("".join(call.sent)):
            yield _event("TOOL_CALL_ARGS", toolCallId=call.id, delta=rest)
        yield _event("TOOL_CALL_END", toolCallId=call.id)

    def _result(self, call: _Call, content: str) -> Pair:
        message = {"toolCallId": call.id, "content": content, "role": "tool"}
        return _event("TOOL_CALL_RESULT", messageId=f"{call.id}-result", **message)

    # Messages that are complete

    def _add(self, message: Message) -> Iterator[Pair]:
        if message.role == "assistant":
            yield from self._close()
            for call, written in zip(self._calls.values(), message.tool_calls, strict=False):
                yield from self._end_call(call, written.arguments)
            self._messages += self._turn_messages(message)
        elif message.role == "tool":
            results = [part for part in message.parts if isinstance(part, ToolResult)]
            for call, result in zip(self._calls.values(), results, strict=True):
                call.result = None
                content = {"toolCallId": call.id, "content": result.text}
                self._messages.append({"id": f"{call.id}-result", "role": "tool", **content})
                yield self._result(call, result.text)

    def _turn_messages(self, message: Message) -> Iterator[Json]:
        for number, pieces in enumerate(self._thoughts, start=1):
            yield _reasoning(self._thought_id_of(number), "".join(pieces))
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": made.arguments}}
            for call, made in zip(self._calls.values(), message.tool_calls, strict=False)
        ]
        if self._texts or calls:
            answer = {"id": self._message_id, "role": "assistant", "content": message.text}
            yield {**answer, **({"toolCalls": calls} if calls else {})}


def _event(kind: str, **fields: Any) -> Pair:
    return pair(kind, {"type": kind, **fields})


def _custom(event: ev.Event) -> Pair:
    return _event("CUSTOM", name=f"agent_nb.{event.type}", value=to_wire(event))


def _state(operations: list[Json]) -> Iterator[Pair]:
    if operations:
        yield _event("STATE_DELTA", delta=operations)


def _reasoning(message_id: str, text: str) -> Json:
    return {"id": message_id, "role": "reasoning", "content": text}


def _usage(event: ev.RunFinished, model: str) -> Json:
    vendor, _, name = model.partition(":")
    usage = event.usage
    return {
        "provider": vendor,
        **({"model": name} if name else {}),
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "totalTokens": usage.input + usage.output,
        "reasoningTokens": usage.reasoning,
        "cachedInputTokens": usage.cached_read,
        "cacheWriteInputTokens": usage.cached_write,
    }
