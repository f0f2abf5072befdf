"""What the tests of the loop share: a page, a way to run a script, a way to pick events."""

from agent_nb import Agent
from agent_nb.events import Event
from agent_nb.providers.scripted import Calling, ScriptedProvider, call
from agent_nb.run import Run

PAGE = "<!doctype html><h1>Bread</h1>"


def write(path: str = "index.html", content: str = PAGE, **options) -> Calling:
    return call("create_file", {"path": path, "content": content}, **options)


def of(run: Run, *kinds: type) -> list[Event]:
    return [event for event in run.events if isinstance(event, kinds)]


async def run_script(*turns, **settings) -> Run:
    with ScriptedProvider(list(turns)) as provider:
        return await Agent(provider, **settings).run("A page for a bakery")
