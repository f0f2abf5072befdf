"""A hub without a page: messages are kept, and commands are sent by the test."""

import asyncio

import pytest

from agent_nb import Agent
from agent_nb.core.events import ApprovalRequested
from agent_nb.notebook.live.hub import Hub
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support.scripts import of

PAGE = "page"
"""The window of the test."""


async def questions(run, count):
    """Waits until so many questions are open."""
    for _ in range(30_000):
        if len(run.questions.open) == count:
            return
        await asyncio.sleep(0.01)
    pytest.fail("nothing was asked")


async def asked(handle, call_id):
    """Waits until this call asks."""
    for _ in range(30_000):
        if of(handle, ApprovalRequested)[-1].call_id == call_id:
            return
        await asyncio.sleep(0.01)
    pytest.fail(f"{call_id} did not ask")


async def open_question(shown, handle):
    await questions(shown, 1)
    return of(handle, ApprovalRequested)[-1]


class Desk:
    """A hub whose messages are kept, and commands to it."""

    def __init__(self) -> None:
        self.hub, self.sent = Hub(), []
        self.hub.model.send = lambda message, *_: self.sent.append(message)

    def show(self, handle, key):
        handle.label("hero", key)
        run = self.hub.follow(handle)
        run.stream.watched.set()
        run.stream.windows[PAGE] = True
        return run

    async def ask(self, *turns, tools, **settings):
        """Starts a run of these turns; returns it, what is shown of it, and its first question."""
        handle = Agent(ScriptedProvider([*turns, [text("Done.")]]), tools=tools, **settings).start("Do it.")
        shown = self.show(handle, "hero-1")
        return handle, shown, await open_question(shown, handle)

    def command(self, name, /, **fields):
        """The answer to a command that is answered at once; None for one that is answered later."""
        message = {"kind": "command", "id": f"#{len(self.sent)}", "client": PAGE, "command": name, **fields}
        self.hub.receive(message)
        return next(
            (one for one in self.sent if isinstance(one, dict) and one.get("id") == message["id"]), None
        )

    async def answer(self, name, /, **fields):
        """The answer to a command that is answered later."""
        assert self.command(name, **fields) is None
        await asyncio.gather(*self.hub._answering)
        return self.sent[-1]


@pytest.fixture
async def desk():
    return Desk()
