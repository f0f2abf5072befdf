"""A hub without a page: messages are kept, and commands are sent by the test."""

import pytest

from agent_nb.notebook.live.hub import Hub

PAGE = "page"
"""The window of the test."""


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

    def command(self, name, /, **fields):
        message = {"kind": "command", "id": f"#{len(self.sent)}", "client": PAGE, "command": name, **fields}
        self.hub.receive(message)
        return next(one for one in self.sent if isinstance(one, dict) and one.get("id") == message["id"])


@pytest.fixture
async def desk():
    return Desk()
