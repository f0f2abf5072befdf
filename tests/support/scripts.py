"""What the tests of the loop share: a page, a way to run a script, a way to pick events."""

import asyncio
import json

from agent_nb import Agent, RunHandle, Tool, tool
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
    return [
        assistant(Thinking("Hm."), call),
        Message(role="tool", parts=(answer,)),
    ]


def waiting_tool(running: asyncio.Event) -> Tool:
    """A tool that sets the event and never ends."""

    @tool(timeout=None)
    async def wait_for_ever() -> str:
        """Waits."""
        await asyncio.sleep(0.01)  # calls beside it end first
        running.set()
        await asyncio.Event().wait()
        return ""

    return wait_for_ever


def of(run: Run, *kinds: type) -> list[Event]:
    return [event for event in run.events if isinstance(event, kinds)]


async def stop_at(handle: RunHandle, kind: type) -> Run:
    """What a run leaves that is stopped at the first event of that kind."""
    async for event in handle:
        if isinstance(event, kind):
            handle.stop()
    return await handle


async def run_script(
    *turns, prompt: str = "A page for a bakery", window: int | None = None, **settings
) -> Run:
    """Runs a script to its end. `base`, `files`, `images` and `messages` go with the prompt."""
    material = {name: settings.pop(name) for name in MATERIAL if name in settings}
    with ScriptedProvider(list(turns), window=window) as provider:
        return await Agent(provider, **settings).run(prompt, **material)
