"""A live run without a model: clients call its tools. Each client is shown as a variant, from when it joins."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import cast

from agent_nb._base.secrets import safe_line
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import Note, Reason
from agent_nb.core.messages import ToolResult, ToolSpec
from agent_nb.engine.cost import Budget
from agent_nb.engine.ending import EndRun
from agent_nb.engine.journal import Journal
from agent_nb.engine.loop import EngineRun, VariantGroup
from agent_nb.engine.outside_turns import OutsideTurns
from agent_nb.engine.prepared import PreparedRun, variants_fingerprint
from agent_nb.engine.start import Prepared, VariantsHandle, observed
from agent_nb.engine.tool_runner import ToolRunner
from agent_nb.providers.base import Piece, Provider, Request, RequestFacts
from agent_nb.run.run import Run

CLIENT = "client"
"""What stands for the vendor in the name of a client."""
LONGEST_TITLE = 60
ANSWER_SECONDS = 600.0
"""Seconds in which the user answers a question. A client does not wait for ever, as a run of a model does."""
_ENDED = "The user has ended this. Nothing was run."


class ClientProvider(Provider):
    """Stands for a client where a run has a model."""

    def __init__(self) -> None:
        self.name = f"{CLIENT}:"
        self.has_joined = asyncio.Event()

    def join(self, title: str) -> None:
        self.name += safe_line(title, LONGEST_TITLE) or "unnamed"
        self.has_joined.set()

    async def introduce(self) -> None:
        """The run begins once there is a client."""
        await self.has_joined.wait()

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        raise ConfigError("A client calls tools, and cannot be asked.")


class ClientTurns(OutsideTurns):
    def __init__(self, prepared: PreparedRun, journal: Journal, budget: Budget) -> None:
        super().__init__(prepared, journal, budget, prepared.provider.name)
        self._end: asyncio.Future[Reason] = asyncio.get_running_loop().create_future()
        self._has_begun = asyncio.Event()
        self._calls: set[asyncio.Task[ToolResult]] = set()
        self._closed = asyncio.Event()

    async def run(self, runner: ToolRunner, facts: RequestFacts) -> Reason:
        self._runner, self._title = runner, self._prepared.provider.name
        self._has_begun.set()
        try:
            return await self._end
        finally:
            self.close()
            if calls := [*self._calls]:
                await asyncio.wait(calls)
            self._journal.tick()
            self._end_turn()

    def close(self) -> None:
        """Refuse further calls, and cancel those that run."""
        self._closed.set()
        self._has_begun.set()
        for call in self._calls:
            call.cancel()

    async def call(self, name: str, args: Json) -> ToolResult:
        await self._has_begun.wait()
        stopped = ToolResult(call_id="", name=name, text=_ENDED, code="STOPPED")
        if self._closed.is_set():
            return stopped
        call = asyncio.create_task(self._call_tool(name, args))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        try:
            return await call
        except asyncio.CancelledError:
            if self._closed.is_set() and call.cancelled():
                return stopped
            raise

    async def note(self, title: str, detail: str) -> None:
        await self._has_begun.wait()
        if not self._closed.is_set():
            self._need_turn()
            self._journal.emit_now(Note, title=title, detail=detail)

    def renew(self) -> None:
        if self._has_begun.is_set() and not self._closed.is_set() and self._runner.context.branch:
            self._runner.context.branch.renew()

    def _end_by(self, end: EndRun) -> None:
        if not self._end.done():
            self._end.set_exception(end)


class ClientRun(EngineRun):
    """A `ToolClient`."""

    _turns: ClientTurns

    def __init__(self, prepared: PreparedRun, group: VariantGroup, variant: int) -> None:
        super().__init__(prepared, group, variant, ClientTurns)
        self.approvals.patience = ANSWER_SECONDS
        self.provider = cast("ClientProvider", prepared.provider)
        self.when_done.append(self._turns.close)

    async def call(self, name: str, args: Json) -> ToolResult:
        return await self._turns.call(name, args)

    async def note(self, title: str, detail: str = "") -> None:
        await self._turns.note(title, detail)

    def renew(self) -> None:
        self._turns.renew()

    def leave(self) -> None:
        self.stop("end_turn")


class ClientsHandle(VariantsHandle):
    """`ToolClients`, until `end` or `stop`. The first run waits for its client."""

    def __init__(self, prepared: Prepared) -> None:
        self._group = VariantGroup(fingerprint=variants_fingerprint([prepared]))
        self._closed = asyncio.Event()
        super().__init__([observed(ClientRun(prepared, self._group, 0))])
        if seconds := prepared.settings.limits.seconds:
            asyncio.get_running_loop().call_later(seconds, self.stop, "max_seconds")

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self.handles[0].prepared.tools

    def join(self, title: str) -> ClientRun:
        if self._closed.is_set():
            raise ConfigError("This has ended, so no client can join.")
        first, run = cast("ClientRun", self.handles[0]), cast("ClientRun", self.handles[-1])
        if run.done or run.provider.has_joined.is_set():
            prepared = replace(run.prepared, provider=ClientProvider())
            run = observed(ClientRun(prepared, self._group, self.count))
            self._follow(run)
        run.approvals.ask = first.approvals.ask
        run.provider.join(title)
        return run

    def end(self) -> None:
        self.stop("end_turn")

    def stop(self, reason: Reason = "stopped", number: int | None = None) -> None:
        if number is None:
            self._closed.set()
        super().stop(reason, number)
        self._settle()

    def _settle(self) -> None:
        if self._closed.is_set() and self.result is None:
            super()._settle()

    async def _wait(self) -> Run:
        await self._closed.wait()
        return await super()._wait()
