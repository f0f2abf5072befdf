"""The clients of a notebook that is lent: each calls tools in a run of its own, with a branch of its own."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_nb._base.mcp import tool_result
from agent_nb._base.wire import Json
from agent_nb.plugins import ConfigError, ToolClient, ToolClients, ToolResult, events

MOST_BRANCHES = 3
"""Branches of clients that are alive at the same time."""
MOST_CLIENTS = 50
"""ToolClients of one lease, each of which is a variant of its run."""
MAX_IMAGES = 700_000
"""Characters of the figures in a result: a message has at most 1 MB."""
OFFERS = ("change_cell", "insert_cell", "delete_cell")
_OFFERED = (
    "The user sees this change in the notebook and accepts or refuses it there. Do not edit the .ipynb file: the"
    " notebook is open, and would lose one of the two."
)
_LEFT_OUT = "[A figure was left out: it is too large. Draw it smaller.]"

Tell = Callable[[str], None]


@dataclass(eq=False)
class Visitor:
    """A client of the server, at work."""

    run: ToolClient
    has_branch: bool
    used_at: float = field(default_factory=time.monotonic)
    says: list[Tell] = field(default_factory=list)
    """Tell each open call what happens."""


class Desk:
    """Works on the kernel's event loop."""

    def __init__(self, run: ToolClients, *, branches: bool) -> None:
        self.run, self._branches = run, branches
        self._visitors: dict[str, Visitor] = {}
        self._titles: Counter[str] = Counter()
        self._placing, self._freed = asyncio.Lock(), asyncio.Event()
        run.subscribe(self._on_event)

    async def call(self, client: str, title: str, name: str, args: Json, say: Tell) -> Json:
        """Run a tool for the client with this id."""
        try:
            visitor = await self._placed(client, title, say)
        except ConfigError as error:
            return tool_result(str(error), ok=False)
        visitor.says.append(say)
        try:
            return _content(await visitor.run.call(name, args))
        finally:
            visitor.says.remove(say)
            visitor.used_at = time.monotonic()
            self._freed.set()

    def leave(self, client: str) -> None:
        if visitor := self._visitors.pop(client, None):
            visitor.run.leave()
            self._freed.set()

    async def _placed(self, client: str, title: str, say: Tell) -> Visitor:
        """The client at work, in its branch. The branch that has been idle longest gives way."""
        if (visitor := self._settled(client)) is None:
            async with self._placing:
                if (visitor := self._settled(client)) is None:
                    await self._make_room(say)
                    visitor = self._visitors.get(client)
                    if visitor is None:
                        visitor = self._visitors[client] = Visitor(await self._join(title), self._branches)
                    else:
                        visitor.has_branch = True
                        await self._note_state(visitor.run)
        return visitor

    def _settled(self, client: str) -> Visitor | None:
        """A client that needs no new branch."""
        visitor = self._visitors.get(client)
        needs_branch = visitor is None or (self._branches and not visitor.has_branch and not visitor.run.done)
        return None if needs_branch else visitor

    async def _join(self, title: str) -> ToolClient:
        if self._titles.total() >= MOST_CLIENTS:
            raise ConfigError(
                f"This notebook has had {MOST_CLIENTS} clients. The user lends it again for more."
            )
        self._titles[title] += 1
        number = self._titles[title]
        run = self.run.join(title if number == 1 else f"{title} ({number})")
        await self._note_state(run)
        return run

    async def _note_state(self, run: ToolClient) -> None:
        where = "a branch, a copy of the notebook as it was then" if self._branches else "the session itself"
        await run.note(f"since {time.strftime('%H:%M')} in {where}")

    async def _make_room(self, say: Tell) -> None:
        while True:
            others = [each for each in self._visitors.values() if each.has_branch and not each.run.done]
            if len(others) < MOST_BRANCHES or not self._branches:
                return
            if idle := [each for each in others if not each.says]:
                oldest = min(idle, key=lambda each: each.used_at)
                oldest.has_branch = False
                oldest.run.renew()
                return
            say(f"{MOST_BRANCHES} other clients are at work in their branches")
            self._freed.clear()
            await self._freed.wait()

    def _on_event(self, event: events.Event) -> None:
        """Tell a client how its calls go."""
        text = ""
        match event:
            case events.ApprovalRequested():
                text = "waiting for the user's answer in the notebook"
            case events.ToolProgress():
                text = event.text or str((event.output or {}).get("text/plain", ""))
        if lines := text.strip().splitlines():
            for say in self._says_of(event.variant):
                say(lines[-1][:200])

    def _says_of(self, variant: int) -> list[Tell]:
        return next((each.says for each in self._visitors.values() if each.run.variant == variant), [])


def _content(result: ToolResult) -> Json:
    left, images, notes = MAX_IMAGES, [], []
    for image in result.images:
        left -= len(image.base64)
        if left >= 0:
            images.append((image.base64, image.media_type))
        else:
            notes.append(_LEFT_OUT)
    if result.ok and result.name in OFFERS:
        notes.append(_OFFERED)
    return tool_result("\n\n".join([result.text, *notes]), images, ok=result.ok)
