"""What the tests of the loop share: a page, a way to run a script, a way to pick events."""

import asyncio
import json
from typing import Literal

from agent_nb import Agent, RunHandle, tool
from agent_nb.core.events import Event
from agent_nb.core.messages import Message, Thinking, ToolCall, ToolResult, assistant
from agent_nb.providers.scripted import Calling, ScriptedProvider, call
from agent_nb.run import Run

PAGE = "<!doctype html><h1>Bread</h1>"
MATERIAL = ("base", "files", "images", "messages")


def write(path: str = "index.html", content: str = PAGE, **options) -> Calling:
    return call("create_file", {"path": path, "content": content}, **options)


def called(name: str, result: str, versions: dict | None = None, **args) -> list[Message]:
    """The two messages of a call and its result."""
    call = ToolCall(f"call_{name}", name, json.dumps(args))
    answer = ToolResult(call_id=call.id, name=name, text=result, versions=versions or {})
    return [assistant(Thinking("Hm."), call), Message(role="tool", parts=(answer,))]


@tool(timeout=None)
async def wait_for_ever() -> str:
    """Waits."""
    await asyncio.Event().wait()
    return ""


class Halt(asyncio.Event):
    """What a script pauses for. `reached` is set once it does, so all that the script says before is in the run."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()

    async def wait(self) -> Literal[True]:
        self.reached.set()
        return await super().wait()


def of(run: Run, *kinds: type) -> list[Event]:
    return [event for event in run.events if isinstance(event, kinds)]


async def stop_at(handle: RunHandle, kind: type, count: int = 1) -> Run:
    """What a run leaves that is stopped at the event of that kind with this number."""
    async for event in handle:
        count -= isinstance(event, kind)
        if not count:
            handle.stop()
    return await handle


async def run_script(
    *turns, prompt: str = "A page for a bakery", window: int | None = None, **settings
) -> Run:
    """Runs a script to its end. `base`, `files`, `images` and `messages` go with the prompt."""
    material = {name: settings.pop(name) for name in MATERIAL if name in settings}
    with ScriptedProvider(list(turns), window=window) as provider:
        return await Agent(provider, **settings).run(prompt, **material)
