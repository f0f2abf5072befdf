"""Commands and events of the Chrome DevTools Protocol: JSON texts that end with NUL."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from agent_nb._base.wire import Json

OnEvent = Callable[[str, Json], None]


class BrowserGoneError(Exception):
    """Chromium has ended, or has refused a command."""


class Connection:
    """Sends commands and waits for their answers. `on_event` gets the name and the parameters of every event."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self._session: str | None = None
        self.on_event: OnEvent = lambda name, data: None

    async def open_page(self) -> None:
        """Makes an empty page, to which all later commands go."""
        target = await self.send("Target.createTarget", url="about:blank")
        attached = await self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]

    def send(self, method: str, **parameters: Any) -> "asyncio.Future[Json]":
        """Sends a command at once; the answer need not be awaited."""
        number = next(self._ids)
        message: Json = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(
            lambda done: done.cancelled() or done.exception()
        )  # so that it is not logged
        self._writer.write(json.dumps(message).encode() + b"\0")
        return answer

    async def listen(self) -> None:
        """Passes on what arrives, until Chromium ends or a message is too long."""
        with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            while True:
                self._hear(json.loads((await self._reader.readuntil(b"\0"))[:-1]))
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(BrowserGoneError("Chromium has ended"))

    def _hear(self, message: Json) -> None:
        if "id" not in message:
            self.on_event(message["method"], message.get("params", {}))
        elif (answer := self._answers.pop(message["id"], None)) and not answer.done():
            if "error" in message:
                answer.set_exception(BrowserGoneError(message["error"].get("message", "refused")))
            else:
                answer.set_result(message["result"])


@contextlib.asynccontextmanager
async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> AsyncIterator[Connection]:
    connection = Connection(reader, writer)
    listening = asyncio.get_running_loop().create_task(connection.listen())
    try:
        yield connection
    finally:
        listening.cancel()
