"""Runs an outside agent, which controls its own turns: its messages become the events of the run."""

import asyncio
import contextlib
import json
import re
from typing import TYPE_CHECKING, Any

import agent_nb.core.events as ev
from agent_nb._base.log import log
from agent_nb._base.text import listed, printable_line
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json, as_object
from agent_nb.acp import mapping
from agent_nb.acp.folder import Folder
from agent_nb.acp.known import KnownAgent
from agent_nb.acp.session import AgentLostError, AgentSession, RpcError, Start, open_session
from agent_nb.core.errors import AgentError, FileError, ToolError, ToolErrorCode
from agent_nb.core.messages import Text, Thinking, ToolCall, ToolResult, ToolSpec, Usage, user
from agent_nb.engine.approval import GO_ON
from agent_nb.engine.cost import Budget
from agent_nb.engine.ending import EndRun
from agent_nb.engine.journal import Journal
from agent_nb.engine.outside_turns import OutsideTurns
from agent_nb.engine.prepared import PreparedRun
from agent_nb.engine.tool_runner import ToolRunner, one_line
from agent_nb.providers.base import Request, RequestFacts, TextPiece, ThinkingPiece
from agent_nb.tools import Tool

if TYPE_CHECKING:
    from agent_nb.acp.kernel_server import KernelServer

CANCEL_LIMIT = 5.0
"""Timeout in seconds for a cancelled agent to end its turn, before its process is ended."""
_TICK = 5.0
"""Poll interval in seconds for a silent agent."""
_MAX_OUTPUT = 20_000
_START = "start"
"""Call id of the card shown while the agent starts."""

_closing: set["asyncio.Task[None]"] = set()
"""Agents being shut down in the background."""


class AgentTurns(OutsideTurns):
    """Runs an agent from its start to the end of its turn."""

    def __init__(
        self, prepared: PreparedRun, journal: Journal, budget: Budget, *, agent: KnownAgent, silence: float
    ) -> None:
        super().__init__(prepared, journal, budget, agent.title)
        self._agent, self._silence = agent, silence
        self._calls: dict[str, mapping.AgentCall] = {}
        """The agent's calls, by the agent's ids."""
        self._questions: dict[str, asyncio.Task[None]] = {}
        """Open questions, by request id."""
        self._notes: list[str] = []
        """The user's notes on calls, for which the protocol has no field."""
        self._own_text: list[str] = []
        """Text from the agent itself, not from its model."""
        self._used_model = False
        self._starting, self._is_stopping = True, False
        self._session: AgentSession | None = None
        self._server: KernelServer | None = None
        self._scanning = asyncio.Lock()
        self._emit_now = journal.emit_now

    async def run(self, runner: ToolRunner, facts: RequestFacts) -> ev.Reason:
        self._runner, self._files = runner, runner.context.files
        prepared, name = self._prepared, self._agent.name
        self._folder = Folder(f"{self._journal.run_id}-{self._journal.variant}")
        self._emit_now(ev.ToolStarted, call_id=_START, name=f"{name}_start", title=self._agent.title)
        self._emit(ev.ToolRunning, call_id=_START, title=self._agent.title)
        try:
            request = Request(system=prepared.system, messages=tuple(self.messages), tools=prepared.tools)
            request = await prepared.hooks.outgoing(
                request, prepared.provider.name, prepared.recorded_settings
            )
            await off_loop(self._folder.write, self._files.files)
            async with contextlib.AsyncExitStack() as stack:
                if request.tools:
                    from agent_nb.acp.kernel_server import KernelServer  # tornado is missing in a browser

                    server = KernelServer(request.tools, self._call_tool)
                    self._server = await stack.enter_async_context(server)
                start = Start(
                    agent=self._agent,
                    folder=self._folder.path,
                    server=self._server,
                    wants_tools=bool(prepared.toolbox.own),
                    auto=prepared.rules.default == "auto",
                    model=prepared.provider.name.partition("/")[2],
                    effort=prepared.settings.effort,
                )
                self._session = await open_session(start)
                return await self._converse(self._session, request)
        except AgentError as error:
            self._finish_start(str(error))
            raise
        finally:
            await self._end()

    async def _converse(self, session: AgentSession, request: Request) -> ev.Reason:
        """Prompt the agent, and prompt it again if the user left notes on calls."""
        self._title = session.title
        while True:
            number = await session.prompt(request)
            try:
                answer = await self._follow(session, number)
            except asyncio.CancelledError:
                await self._cancel(session, number)
                raise
            reason = self._end_reason(session, answer)
            if not self._notes or reason != "end_turn":
                return reason
            request = Request(system="", messages=(user("\n".join(self._notes)),))
            self._end_turn()
            self.add(request.messages[0])
            self._notes = []

    async def _follow(self, session: AgentSession, number: int) -> Json:
        """Handle messages until the agent has answered prompt `number`."""
        quiet = 0.0
        while True:
            try:
                async with asyncio.timeout(_TICK):  # `wait_for` of Python 3.11 may lose a cancellation
                    message = await session.connection.incoming.get()
            except TimeoutError:
                # Silence is normal while a call or a question is open.
                quiet = 0.0 if self._open_calls or self._questions else quiet + _TICK
                self._check_silence(quiet)
                continue
            quiet = 0.0
            if isinstance(message, AgentLostError):
                raise session.connection.failure(message)
            if isinstance(message, Exception):
                raise message
            if "method" in message:
                await self._handle(session, message)
            elif message.get("id") == number:
                return message

    def _check_silence(self, quiet: float) -> None:
        if self._starting and quiet:
            self._emit_now(ev.ToolProgress, call_id=_START, text=f"no answer yet, after {quiet:.0f} s")
        if quiet >= self._silence:
            login = f", and whether you are logged in (`{self._agent.login}`)" if self._agent.login else ""
            raise AgentError(
                f"{self._agent.title} sent nothing for {quiet:.0f} seconds. Its vendor may be busy or refuse its key:"
                f" check the key{login}."
            )

    async def _handle(self, session: AgentSession, message: Json) -> None:
        params = as_object(message.get("params"))
        self._journal.tick()
        match message["method"]:
            case "session/update" if isinstance(params.get("update"), dict):
                await self._update(session, params["update"])
            case "session/request_permission" if "id" in message:
                self._start_question(session, message, params)
            case "$/cancel_request":
                if question := self._questions.get(str(params.get("requestId"))):
                    question.cancel()
            case method if "id" in message:
                await session.connection.answer(message, refused=f"{method} is not offered")

    async def _update(self, session: AgentSession, update: Json) -> None:
        text = self._folder.relative(mapping.text_in(update))
        match update.get("sessionUpdate"):
            case "agent_message_chunk" if text and session.sends_ids and not update.get("messageId"):
                self._own_text.append(text)
                log.info("%s: %s", self._title, text.strip())
            case "agent_message_chunk":
                self._say(TextPiece, Text, text)
            case "agent_thought_chunk":
                is_first = not any(isinstance(part, Thinking) for part in self._parts[-1:])
                # Gemini CLI and Codex put empty headings before their thinking.
                text = re.sub(r"\A(\*{4}\n|\n)+", "", text) if is_first else text
                self._say(ThinkingPiece, Thinking, text)
            case "tool_call" | "tool_call_update" if update.get("toolCallId"):
                await self._update_call(update)
            case "plan" if entries := mapping.plan_of(update, self._folder.relative):
                self._need_turn()
                done = sum(entry.status == "completed" for entry in entries)
                self._emit(ev.PlanUpdated, detail=f"{done} of {len(entries)} done", entries=entries)
            case "usage_update":
                self._used_model = True
                if (cost := mapping.cost_of(update)) is not None:
                    self._meter.reported_cost = cost
                    self._budget.report()

    def _say(self, kind: type[TextPiece | ThinkingPiece], part: type[Text | Thinking], text: str) -> None:
        if not text:
            return
        self._need_turn()
        self._journal.collect(text, self._writers[kind])
        last_part = self._parts[-1] if self._parts else None
        if isinstance(last_part, part):
            self._parts[-1] = part(last_part.text + text)
        else:
            self._parts.append(part(text))

    def _need_turn(self) -> None:
        self._finish_start()
        super()._need_turn()

    def _finish_start(self, error: str = "") -> None:
        if self._starting:
            self._starting = False
            as_text = "the earlier conversation was sent as text" if self.window.question else ""
            older = self._session.older if self._session else ""
            summary = error or "; ".join(filter(None, (self._title, older, as_text)))
            code = "FAILED" if error else None
            end = {"ok": not error, "summary": one_line(summary), "code": code, "seconds": self._journal.at}
            self._emit(ev.ToolFinished, call_id=_START, **end)

    # calls

    def _call(self, fields: Json) -> mapping.AgentCall:
        """The call of an update or a question, created if it was never announced."""
        native = str(fields["toolCallId"])
        call = self._calls.get(native)
        if call is None:
            call = self._calls[native] = mapping.AgentCall(self._event_id(native))
        call.merge(fields)
        names = [tool.name for tool in self._prepared.tools]
        if call.state == "ours" and not call.is_ours(self._agent.our_calls, names):
            call.state = "started"
            self._need_turn()
            call.since = self._journal.clock.now()
            name = self._tool_name(call)
            self._open_calls[call.id] = ToolCall(call.id, name, "")
            self._emit(ev.ToolStarted, call_id=call.id, name=name, title=self._call_title(call))
        return call

    def _tool_name(self, call: mapping.AgentCall) -> str:
        return f"{self._agent.name}_{call.kind}"

    def _call_title(self, call: mapping.AgentCall) -> str:
        return one_line(self._folder.relative(call.title))

    async def _update_call(self, update: Json) -> None:
        call = self._call(update)
        if call.state in ("ours", "ended"):
            return
        status = update.get("status")
        if status == "in_progress":
            self._ready(call)
            self._running(call)
            if lines := call.text.strip().splitlines():
                self._emit(ev.ToolProgress, call_id=call.id, text=one_line(self._folder.relative(lines[-1])))
        elif status in ("completed", "failed"):
            self._ready(call)
            await self._scan(None if call.kind in mapping.QUIET_KINDS else call.id)
            self._finish_call(call, None if status == "completed" else "FAILED")

    def _ready(self, call: mapping.AgentCall, *, asks: bool = False) -> None:
        """Mark a call as complete and add it to the conversation."""
        if call.state != "started":
            return
        call.state = "ready"
        args, name = call.arguments(str(self._folder.path), asks=asks), self._tool_name(call)
        self._parts.append(ToolCall(call.id, name, json.dumps(args, ensure_ascii=False)))
        self._emit(ev.ToolReady, call_id=call.id, title=self._call_title(call), args=args)

    def _running(self, call: mapping.AgentCall) -> None:
        if call.state == "ready":
            call.state = "running"
            self._emit(ev.ToolRunning, call_id=call.id, title=self._call_title(call))

    def _finish_call(self, call: mapping.AgentCall, code: ToolErrorCode | None, summary: str = "") -> None:
        if call.state == "ended":
            return
        self._ready(call)
        call.state = "ended"
        text = self._folder.relative(call.text)[:_MAX_OUTPUT]
        outcome = summary or text or self._call_title(call)
        waited = self._runner.approvals.take_seconds(call.id)
        self._emit(
            ev.ToolFinished,
            call_id=call.id,
            ok=code is None,
            summary=one_line(outcome),
            outputs=({"text/plain": text},) if text and not summary else (),
            seconds=round(max(0.0, self._journal.clock.now() - call.since - waited), 3),
            code=code,
        )
        self._open_calls.pop(call.id, None)
        name = self._tool_name(call)
        self._call_results[call.id] = ToolResult(call_id=call.id, name=name, text=outcome, code=code)

    # questions

    def _start_question(self, session: AgentSession, message: Json, params: Json) -> None:
        fields, number = params.get("toolCall"), str(message["id"])
        if not isinstance(fields, dict) or not fields.get("toolCallId"):
            fields = {
                "toolCallId": f"question-{number}",
                "title": "an action it does not name",
                # The number keeps "always" from covering the next one.
                "rawInput": {"question": number, "toolCall": fields},
            }
        # A question's status anticipates the answer, so it is ignored.
        call = self._call({name: value for name, value in fields.items() if name != "status"})
        question = asyncio.create_task(self._ask(session, message, params.get("options"), call))
        self._questions[number] = question
        question.add_done_callback(lambda task: self._questions.pop(number, None))

    async def _ask(self, session: AgentSession, message: Json, options: Any, call: mapping.AgentCall) -> None:
        """Answer a question of the agent, by the run's rules or by asking the user."""
        outcome = {"outcome": "cancelled"} if self._is_stopping else mapping.option_of(options, allow=False)
        try:
            # Calls to our tools are approved on their own card.
            if not self._is_stopping and (call.state == "ours" or await self._is_allowed(call)):
                outcome = mapping.option_of(options, allow=True)
        except asyncio.CancelledError:
            outcome = {"outcome": "cancelled"}
        except EndRun as end:
            outcome = {"outcome": "cancelled"}
            session.connection.incoming.put_nowait(end)
        await session.connection.answer(message, {"outcome": outcome})

    async def _is_allowed(self, call: mapping.AgentCall) -> bool:
        self._ready(call, asks=True)
        name, title = self._tool_name(call), self._call_title(call)
        args = call.arguments(str(self._folder.path))
        tool = Tool(
            spec=ToolSpec(name=name, description=f"{self._agent.title} asks.", schema={}),
            run=_not_ours,
            title=lambda args: title,
            approval="ask",
            # "Always" covers later edits in the folder; for anything else it covers only the same call.
            identical_only=not call.is_edit_in(self._folder.contains),
        )
        try:
            approved = await self._runner.approvals.check(
                tool, ToolCall(call.id, name, ""), args, title, self._runner.context
            )
        except ToolError as denied:
            self._journal.tick()
            if denied.hint != GO_ON:
                self._notes.append(f"I said no to “{title}”: {denied.hint}")
            self._finish_call(call, "DENIED", denied.summary)
            return False
        self._notes += approved.remarks
        self._journal.tick()
        self._running(call)
        return True

    # our tools

    async def _call_tool(self, name: str, args: Json) -> ToolResult:
        """Run one of our tools for the agent, with the files on disk."""
        await self._scan(None)
        return await super()._call_tool(name, args)

    async def _after_call(self) -> None:
        await self._scan(None)  # keeps files the agent wrote in the meantime
        await off_loop(self._folder.write, self._files.files)

    def _end_by(self, end: EndRun) -> None:
        assert self._session
        self._session.connection.incoming.put_nowait(end)

    # files and the end

    async def _scan(self, call_id: str | None) -> None:
        """Copy changes in the folder to the files of the run."""
        async with self._scanning:
            for path, content in (await off_loop(self._folder.changes)).items():
                try:
                    if content is not None:
                        self._files.write(path, content, call_id)
                    elif path in self._files.files:
                        self._files.delete(path, call_id)
                except FileError as error:
                    self._folder.left_out[path] = str(error)

    def _end_reason(self, session: AgentSession, answer: Json) -> ev.Reason:
        """Why a prompt ended; raises `AgentError` if it failed."""
        if "error" in answer:
            raise session.connection.failure(RpcError(answer["error"]))
        result = as_object(answer.get("result"))
        usage = mapping.usage_of(result)
        self._count(usage)
        text = "".join(part.text for part in self._parts if isinstance(part, Text))
        is_silent = not (self._used_model or self._calls or usage != Usage())
        if self._agent.fails_as_text and is_silent:
            raise AgentError(f"{self._agent.title} failed: {''.join(self._own_text).strip() or text.strip()}")
        return mapping.REASONS.get(str(result.get("stopReason")), "end_turn")

    def _count(self, usage: Usage) -> None:
        self._usage = usage
        if usage != Usage():
            self._meter.end_turn(usage)
            self._budget.report()

    async def _cancel(self, session: AgentSession, number: int) -> None:
        """Cancel the prompt and briefly wait for its end. Some agents wait for open questions to be answered."""
        self._is_stopping = True
        if self._server:
            self._server.close()
        with contextlib.suppress(TimeoutError, AgentError, EndRun):
            async with asyncio.timeout(CANCEL_LIMIT):
                await session.connection.cancel(session.id)
                for question in self._questions.values():
                    question.cancel()
                answer = await self._follow(session, number)
                self._count(mapping.usage_of(as_object(answer.get("result"))))

    async def _end(self) -> None:
        """Complete the turns and the files, and end the process in the background."""
        try:
            if questions := [*self._questions.values()]:
                for question in questions:
                    question.cancel()
                await asyncio.wait(questions, timeout=1)
            await self._scan(None)
            if left_out := self._folder.left_out:
                names = listed([printable_line(f"{path} ({why})") for path, why in [*left_out.items()][:5]])
                log.warning("Not among the files of the run: %s", names)
        finally:
            self._journal.tick()
            for call in self._calls.values():
                if call.id in self._open_calls:
                    self._finish_call(call, "STOPPED", "The agent did not report the outcome.")
            self._finish_start("Stopped before it answered.")
            self._end_turn()
            closing = asyncio.ensure_future(_close(self._session, self._folder))
            _closing.add(closing)
            closing.add_done_callback(_closing.discard)


async def _close(session: AgentSession | None, folder: Folder) -> None:
    try:
        if session:
            await session.connection.close()
    finally:
        folder.remove()


async def _not_ours(args: Json, context: Any) -> Any:
    raise AssertionError("the agent runs its own tools")
