"""A hub without a page: messages are kept, and commands are sent by the test."""

import pytest

from agent_nb.notebook.live.hub import Hub


class Desk:
    """A hub whose messages are kept, and commands to it."""

    def __init__(self) -> None:
        self.hub, self.sent = Hub(), []
        self.hub.model.send = lambda message, *_: self.sent.append(message)

    def show(self, handle, key):
        handle.label("hero", key)
        run = self.hub.follow(handle)
        run.stream.watched.set()
        run.greet("page")
        return run

    def command(self, name, /, session="", **fields):
        message = {"kind": "command", "id": f"#{len(self.sent)}", "client": "page", "command": name, **fields}
        self.hub.receive(message, session)
        return next(one for one in self.sent if isinstance(one, dict) and one.get("id") == message["id"])


@pytest.fixture
async def desk():
    return Desk()
