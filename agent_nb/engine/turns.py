"""The turns of a run: stream an answer from the model and run its tool calls, until the model is done.

The engine is independent of vendors, tools and notebooks.
"""

import contextlib
import itertools
import math
import random
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from functools import partial

import agent_nb.core.events as ev
from agent_nb._base.log import log
from agent_nb.core.errors import ProviderError, RateLimitError, RequestRefusedError, ToolError
from agent_nb.core.messages import Message, Text, ToolCall, Usage, user
from agent_nb.engine.compaction import Compaction, Window
from agent_nb.engine.cost import CHECK_EVERY, Budget, estimate_tokens
from agent_nb.engine.data_gate import DataGate
from agent_nb.engine.ending import EndRun
from agent_nb.engine.feature_code import Done, PartInputs, Say
from agent_nb.engine.journal import Journal
from agent_nb.engine.parts import Parts
from agent_nb.engine.prepared import PreparedRun
from agent_nb.engine.tool_runner import ToolRunner, title_of, was_cut
from agent_nb.prompts import prompt_text
from agent_nb.providers.base import (
    Accepted,
    CallPiece,
    CallStarted,
    Piece,
    Request,
    RequestFacts,
    TextPiece,
    ThinkingPiece,
    Turn,
    UsagePiece,
)
from agent_nb.providers.quotations import is_quoted, sent_texts
from agent_nb.run.cut_off import cut_summary
from agent_nb.run.record import unique_call_id

RETRIES = 4
"""Maximum retries after faults in one turn. Rate limits are bounded by waiting time instead."""
LONGEST_WAIT = 60.0
"""Longest `retry_after` in seconds that is accepted after a fault."""
LIMIT_SECONDS = 120.0
"""Total seconds that one run waits for rate limits."""
REPEATED = "the model repeated itself, so its answer was ended. It is shown once."
_LONGEST = 200
_SPAN = 2000
"""Length of the repetitive end of a text: at least ten repetitions of up to `_LONGEST` characters."""
_STEP = 250
"""Characters between checks, so that checking takes linear time overall."""


class Retries:
    def __init__(self) -> None:
        self._waited = 0.0
        self._faults = self._refusals = 0

    def begin_turn(self) -> None:
        self._faults = self._refusals = 0

    def wait_after(self, error: ProviderError, left: float = math.inf) -> float:
        """Seconds to wait before the next attempt; raises the error if it should not be retried.

        `left` is the run's remaining time in seconds. Longer rate limits are not waited for.
        """
        if not error.retryable:
            raise error
        if isinstance(error, RequestRefusedError):
            return 0.0
        if isinstance(error, RateLimitError):
            return self._wait_for_limit(error, min(left, LIMIT_SECONDS - self._waited))
        self._faults += 1
        if self._faults > RETRIES:
            raise error
        delay = error.retry_after
        if delay is not None and delay > LONGEST_WAIT:
            raise ProviderError(f"{error} It asks to wait {delay:.0f} s; try again later.") from None
        return _delay(delay, self._faults, longest=8)

    def most(self, error: ProviderError, attempt: int) -> int:
        """Maximum retries of the turn; 0 if only time limits them."""
        limited = isinstance(error, RequestRefusedError | RateLimitError)
        return 0 if limited or not self._faults else attempt - self._faults + RETRIES

    def _wait_for_limit(self, error: RateLimitError, left: float) -> float:
        delay = error.retry_after
        if delay is not None and delay > left:
            raise ProviderError(
                f"{error} It asks to wait {delay:.0f} s, and this run can wait {max(left, 0):.0f} s more."
            ) from None
        if round(left, 3) <= 0:  # a remainder below the precision of waits would loop forever
            raise ProviderError(f"{error} This run has waited {self._waited:.0f} s for it.") from None
        self._refusals += 1
        wait = min(_delay(delay, self._refusals, longest=30), round(left, 3))
        self._waited += wait
        return wait


def _delay(asked: float | None, number: int, longest: float) -> float:
    """The vendor's delay plus jitter, so that runs refused together do not retry together; else a backoff."""
    backoff = 0.5 * 2.0 ** (number - 1)
    if asked is None:
        return round(min(longest, backoff) * (0.75 + 0.25 * random.random()), 2)
    return round(asked + min(10.0, max(asked / 4, backoff)) * random.random(), 3)


class Repetition:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._end = ""
        self._unchecked = self._unit = 0

    def add(self, text: str) -> bool:
        """Add text; return whether it now ends with many repetitions of a short text."""
        self._pieces.append(text)
        self._end = (self._end + text)[-_SPAN:]
        self._unchecked += len(text)
        if self._unchecked < _STEP or len(self._end) < _SPAN:
            return False
        self._unchecked = 0
        # Text with period n also occurs n characters earlier.
        position = self._end.rfind(self._end[_LONGEST:], 0, _SPAN - 1)
        self._unit = _LONGEST - position
        return position >= 0

    def text_once(self) -> str:
        """The text with a single repetition."""
        text = "".join(self._pieces)
        start = len(text) - self._unit
        while start and text[start - 1] == text[start - 1 + self._unit]:
            start -= 1
        return text[: start + self._unit].rstrip()


def _names_tool(prompt: str, name: str) -> bool:
    """Whether the prompt asks for a tool by its name: "use the mean tool", "with `mean`"."""
    words = re.findall(r"[\w-]+", prompt)
    return f"`{name}`" in prompt or any({*pair} == {name, "tool"} for pair in itertools.pairwise(words))


class Turns:
    def __init__(self, prepared: PreparedRun, journal: Journal, budget: Budget) -> None:
        self._prepared, self._journal, self._budget = prepared, journal, budget
        self._emit, self._meter = journal.emit, budget.meter
        self._writers: dict[object, Callable[[str], None]] = {
            TextPiece: self._write_text,
            ThinkingPiece: lambda text: self._emit(ev.ThinkingDelta, text=text),
        }
        """What emits the fragments of text, of thinking, and of each call, by its id."""
        self._held: list[str] | None = None
        """Text that is shown at the end of the turn; None if text is shown as it comes."""
        self.window = Window(prepared.run_input, prepared.settings, prepared.toolbox, prepared.system)
        self.messages = self.window.messages
        self._call_counts: dict[str, int] = {}
        self._open_calls: dict[str, ToolCall] = {}
        """Calls without a result, by event id."""
        self._retries = Retries()
        self._reminded = False
        self._guess: Message | None = None
        """An answer without the code or call that it needs. It is not sent: small models would repeat it."""
        self.gate = DataGate(prepared.run_input) if prepared.settings.data else None
        if self.gate:
            self.messages[self.window.question] = self.gate.message(prepared.run_input.question)
        self.parts = Parts(
            PartInputs(prepared, journal, self.window, self.gate, lambda: self._runner.context.files.files)
        )

    async def run(self, runner: ToolRunner, facts: RequestFacts) -> ev.Reason:
        """Run turns until the model is done; return why the run ended."""
        self._runner, self._facts = runner, facts
        most, cut = self._prepared.settings.limits.steps, False
        for number in range(1, most + 1):
            left = most - number
            if summing_up := left == 0 < most - 1:
                self.add(user(self.parts.closing() or prompt_text("sum_up"), requests=0))
            turn = await self._turn(number, summing_up)
            self.add(turn.message)
            if turn.stop == "refusal":
                raise EndRun("refusal", turn.detail or "The model declined to answer.")
            cut_before, cut = cut, was_cut(turn, self._prepared.toolbox)
            if cut_before and cut:
                return "max_tokens"
            calls = turn.message.tool_calls
            if calls and (left or self.parts.runs_last(calls)):
                following = await self._add_results(calls, cut)
            else:
                following = self.parts.after_turn(turn, left) or self._reminder(turn, left)
            match following:
                case Done(reason):
                    return reason
                case Say(text, hides_turn):
                    self._guess = turn.message if hides_turn else self._guess
                    if text and (calls or left > 1):  # the last turn has a text of its own
                        self.add(user(text, requests=0))
                case None if not calls and turn.stop in ("end_turn", "max_tokens"):
                    return "max_steps" if summing_up else turn.stop
        return "max_steps"

    def _reminder(self, turn: Turn, left: int) -> Say | None:
        """Ask a small model that did not call the tool that it was asked to use, once per run."""
        is_done = not self._prepared.provider.lean or turn.stop != "end_turn" or self._call_counts
        if is_done or self._reminded or left < 2:
            return None
        prompt = self._prepared.run_input.prompt
        self._reminded = any(_names_tool(prompt, tool.name) for tool in self._prepared.tools)
        return Say(prompt_text("not_called"), hides_turn=True) if self._reminded else None

    async def _turn(self, number: int, summing_up: bool) -> Turn:
        call_counts, attempt, refused = dict(self._call_counts), 1, False
        self._retries.begin_turn()
        self._emit(ev.TurnStarted, step=number)
        if compaction := self.window.before_turn(number):
            self._compact(compaction)
        while True:
            self._budget.check()
            prepared, request = self._prepared, self.parts.outgoing(self._request(summing_up))
            request = await prepared.hooks.outgoing(
                request, prepared.provider.name, prepared.recorded_settings
            )
            request = self._written(request)
            self._meter.begin_turn(estimate_tokens(request.messages, request.system))
            self._held = [] if request.holds_text else None
            try:
                turn = await self._stream(request)
                break
            except ProviderError as error:
                self._show_held()
                compaction = self.window.after_refusal(error, again=refused)
                wait = 0.0 if compaction else self._retries.wait_after(error, self._budget.seconds_left)
                if isinstance(error, RequestRefusedError):
                    self.window.leave_out(error.without)
                self._call_counts = dict(call_counts)
                self._open_calls.clear()
                self._journal.tick()
                most = 0 if compaction else self._retries.most(error, attempt)
                self._emit(ev.TurnRetrying, attempt=attempt, wait=wait, why=error.reason, most=most)
                attempt += 1
                if compaction:
                    refused = True
                    self._compact(compaction)
                await self._journal.clock.sleep(wait)
            except BaseException:
                self._show_held()
                raise
            finally:
                self._journal.flush()
        self._end_texts(turn)
        held, self._held = "".join(self._held or ()), None
        turn = self.parts.completed(turn, held)
        self._meter.end_turn(turn.usage, partial(self._prepared.price, answered_by=turn.model))
        self.window.counted(turn.usage)
        self._emit(ev.TurnFinished, stop=turn.stop, usage=turn.usage, model=turn.model)
        self._budget.report()
        log.info("%s turn %d: %s, cost so far %s", turn.model, number, turn.usage, self._meter.cost)
        return turn

    def first_messages(self) -> tuple[Message, ...]:
        """The messages of the first request, as they are sent without middleware."""
        if compaction := self.window.before_turn(1):
            self.window.replace(compaction)
        return self._written(Request(system="", messages=tuple(self.messages))).messages

    def _write_text(self, text: str) -> None:
        if self._held is None:
            self._emit(ev.TextDelta, text=text)
        else:
            self._held.append(text)

    def _show_held(self) -> None:
        """Show the text that has been held back, of a turn that is cut or has a call after all."""
        self._journal.flush()
        held, self._held = "".join(self._held or ()), None
        if held:
            self._emit(ev.TextDelta, text=held)

    def _written(self, request: Request) -> Request:
        return self.parts.written(self.gate.request(request) if self.gate else request)

    async def _stream(self, request: Request) -> Turn:
        writers = self._writers
        turn: Turn | None = None
        chars, estimate_at = 0, CHECK_EVERY
        deadline = self._prepared.settings.limits.seconds or math.inf
        provider = self._prepared.provider
        stream = self._watched(request) if provider.lean else provider.stream(request)
        async with contextlib.aclosing(stream) as pieces:
            async for piece in pieces:
                self._journal.tick()
                # Runs for every token: a type check takes a ninth of the time of a class pattern.
                if type(piece) is CallPiece:
                    self._journal.collect(piece.text, writers[piece.id])
                    chars += len(piece.text)
                elif type(piece) is TextPiece or type(piece) is ThinkingPiece:
                    self._journal.collect(piece.text, writers[type(piece)])
                    chars += len(piece.text)
                elif type(piece) is CallStarted:
                    self._show_held()
                    writers[piece.id] = self._start_call(piece)
                elif type(piece) is UsagePiece:
                    self._meter.counted(piece.usage)
                elif type(piece) is Accepted:
                    self._meter.accepted()
                elif type(piece) is Turn:
                    turn = piece
                self._meter.chars = chars
                if chars >= estimate_at or self._journal.at >= deadline:
                    estimate_at = self._budget.estimate(estimate_at)
        if turn is None:
            raise ProviderError("The response ended before it was complete.", retryable=True)
        return turn

    async def _watched(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Stream a small model's answer, and end it if it only repeats itself."""
        repetition, watches = Repetition(), True
        async with contextlib.aclosing(self._prepared.provider.stream(request)) as pieces:
            async for piece in pieces:
                yield piece
                watches = watches and type(piece) is not CallStarted
                if watches and type(piece) is TextPiece and repetition.add(piece.text):
                    yield self._cut_short(request, repetition.text_once())
                    return

    def _cut_short(self, request: Request, text: str) -> Turn:
        """The turn of a model that repeats itself, cut to this text."""
        self._emit(ev.TurnRetrying, attempt=1, wait=0.0, why=REPEATED)
        self._held = None if self._held is None else []
        self._write_text(text)
        message = Message(role="assistant", parts=(Text(text),))
        usage = Usage(
            input=estimate_tokens(request.messages, request.system), output=estimate_tokens((message,))
        )
        return Turn(message=message, stop="end_turn", usage=usage, model=self._prepared.provider.name)

    def _compact(self, compaction: Compaction) -> None:
        self.window.replace(compaction)
        self._emit(ev.ConversationCompacted, **compaction.figures)

    async def _add_results(self, calls: tuple[ToolCall, ...], cut: bool) -> Say | Done | None:
        calls_by_id = list(zip(self._open_calls, calls, strict=True))
        self._runner.cut = calls_by_id[-1][0] if cut else None
        self._open_calls = dict(calls_by_id)
        groups = [[pair] for pair in calls_by_id] if self.parts.in_order else [calls_by_id]
        results = tuple([result for group in groups for result in await self._runner.run(group)])
        ids = list(self._open_calls)
        self._open_calls.clear()
        self.add(Message(role="tool", parts=results))
        return await self.parts.after_tools([*zip(ids, results, strict=True)])

    def _request(self, summing_up: bool) -> Request:
        return Request(
            system=self._prepared.system,
            messages=tuple(message for message in self.messages if message is not self._guess),
            tools=self._prepared.tools,
            variant=self._journal.variant,
            clock=self._journal.clock,
            facts=replace(self._facts, summing_up=summing_up),
            without=self.window.without,
            takes=self._takes,
        )

    def _takes(self, call: ToolCall) -> bool:
        """Whether to run a call that the model wrote as text: it is valid and not a quotation."""
        try:
            self._prepared.toolbox.prepare(call)
        except ToolError:
            return False
        prepared, files = self._prepared, self._runner.context.files.files
        return not is_quoted(call, sent_texts(prepared.system, self.messages, prepared.tools, files))

    def add(self, message: Message) -> None:
        self.messages.append(message)
        self._emit(ev.MessageAdded, message=message)

    def _event_id(self, call_id: str) -> str:
        return unique_call_id(call_id, self._call_counts)

    def _start_call(self, call: CallStarted) -> Callable[[str], None]:
        """Emit the start of a call; return the function that emits its arguments."""
        event_id = self._event_id(call.id)
        self._open_calls[event_id] = ToolCall(call.id, call.name, "", call.written)
        tool = self._prepared.toolbox.get(call.name)
        title = title_of(tool, {}, written=call.written) if tool else call.name
        self._emit(ev.ToolStarted, call_id=event_id, name=call.name, title=title)
        reader = tool.stream() if tool and tool.stream else None

        def write(arguments: str) -> None:
            # Emitted once: as file text if the tool's reader finds any, else unchanged.
            file_text = reader.feed(arguments) if reader else ()
            for path, offset, text in file_text:
                self._emit(ev.FileDelta, call_id=event_id, path=path, offset=offset, text=text)
            if not file_text:
                self._emit(ev.ToolArgsDelta, call_id=event_id, text=arguments)

        return write

    def _end_texts(self, turn: Turn) -> None:
        calls = {call.id for call in turn.message.tool_calls}
        for event_id in [event_id for event_id, call in self._open_calls.items() if call.id not in calls]:
            del self._open_calls[event_id]
            end = {"ok": False, "summary": "Not run.", "code": "NOT_A_CALL"}
            self._emit(ev.ToolFinished, call_id=event_id, **end)

    def close_calls(self) -> None:
        """Add a result for every open call; calls that had finished keep their own."""
        finished = {event.call_id: event for event in self._journal.events.of(ev.ToolFinished)}
        for event_id in self._open_calls:
            if event_id not in finished:
                summary = cut_summary(event_id, self._journal.events, self._runner.context.files.files)
                cut = {"call_id": event_id, "ok": False, "summary": summary, "code": "STOPPED"}
                finished[event_id] = self._emit(ev.ToolFinished, **cut)
        if calls := self.messages[-1].tool_calls:
            pairs = zip(self._open_calls, calls, strict=True)
            parts = tuple(self._runner.result(call, finished[event_id]) for event_id, call in pairs)
            self.add(Message(role="tool", parts=parts))
