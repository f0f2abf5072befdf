"""JSON-RPC with an agent's process, one message per line.

Not the SDK of the protocol: that one hangs if the agent writes much to stderr, handles updates out of order, ends at a
line that is JSON but no object, drops fields outside its schema, and takes seconds to import.
"""

import asyncio
import contextlib
import json
from typing import Any

from agent_nb._base.log import log
from agent_nb._base.program import Program
from agent_nb._base.wire import Json
from agent_nb.errors import AgentError

METHOD_NOT_FOUND = -32601
_POLL = 0.2
"""Seconds between two looks whether the process has ended: its child may hold the pipes open."""


class RpcError(AgentError):
    """The agent answered a request with an error."""

    def __init__(self, error: Any) -> None:
        fields = error if isinstance(error, dict) else {}
        self.code = fields.get("code")
        data = fields.get("data")
        details = data.get("details") or data.get("message") if isinstance(data, dict) else data
        texts = [str(text) for text in (fields.get("message"), details) if text]
        super().__init__(": ".join(dict.fromkeys(texts)) or "an error without a message")


class ConnectionLostError(AgentError):
    """The agent has ended, or cannot be understood any more."""


class Connection:
    """Requests to an agent, and what it sends, in order."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.incoming: asyncio.Queue[Json | Exception] = asyncio.Queue()
        """Requests and notifications of the agent, and answers to what was only sent; at last why it ended."""
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._lost: ConnectionLostError | None = None
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._watch())]

    async def request(self, method: str, params: Json) -> Any:
        """Sends a request and waits for its result; raises `RpcError` or `ConnectionLostError`."""
        number = self._last_id + 1
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            await self.send_request(method, params)
            return await answer
        finally:
            del self._answers[number]

    async def send_request(self, method: str, params: Json) -> int:
        """Sends a request whose answer arrives among the other messages; returns its id."""
        self._last_id = number = self._last_id + 1
        await self._send({"id": number, "method": method, "params": params})
        return number

    async def notify(self, method: str, params: Json) -> None:
        await self._send({"method": method, "params": params})

    async def answer(self, request: Json, result: Any = None, *, refused: str = "") -> None:
        """Answers a request of the agent. One that has ended needs no answer."""
        content = {"error": {"code": METHOD_NOT_FOUND, "message": refused}} if refused else {"result": result}
        with contextlib.suppress(ConnectionLostError):
            await self._send({"id": request["id"], **content})

    async def close(self) -> None:
        """Ends the agent and what it has started."""
        for task in self._tasks:
            task.cancel()
        await self.program.end()

    async def _send(self, message: Json) -> None:
        if self._lost:
            raise self._lost
        try:
            await self.program.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        except OSError:
            self._lose("It no longer reads what it is sent.")
            raise self._lost or ConnectionLostError from None

    async def _read(self) -> None:
        async for line in self.program.lines():
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = None
            if not isinstance(message, dict) or isinstance(message.get("id"), list | dict):
                log.debug("an agent sent a line that is no message: %.200r", line)
            elif "method" not in message and message.get("id") in self._answers:
                self._settle(self._answers[message["id"]], message)
            else:
                self.incoming.put_nowait(message)
            await asyncio.sleep(0)  # lines that are there already would keep everything else from its turn
        await self.program.wait()
        self._lose(self.program.problem)

    def _settle(self, answer: "asyncio.Future[Any]", message: Json) -> None:
        if answer.done():
            return
        if "error" in message:
            answer.set_exception(RpcError(message["error"]))
        else:
            answer.set_result(message.get("result"))

    async def _watch(self) -> None:
        while self.program.exit_code is None:  # noqa: ASYNC110 - there is nothing to wait for
            await asyncio.sleep(_POLL)
        await self.program.wait()  # what it wrote last is read first
        self._lose("")

    def _lose(self, problem: str) -> None:
        if self._lost:
            return
        code = self.program.exit_code
        ended = "It closed its output." if code is None else f"It ended with code {code}."
        self._lost = ConnectionLostError(problem or ended)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(self._lost)
        self.incoming.put_nowait(self._lost)
