"""What the tests of cassettes share: record a script, play it, compare."""

import json
from dataclasses import replace
from pathlib import Path

from agent_nb import Agent, Run, replay
from agent_nb.core.events import Event, RunStarted
from agent_nb.providers.scripted import ScriptedProvider

PROMPT = "A page for a bakery"


def facts(run: Run) -> list[Event]:
    """The events without what a replay changes: the run's id, and the note that it is a replay."""
    plain = [replace(event, run_id="") for event in run.events]
    first = plain[0]
    assert isinstance(first, RunStarted)
    settings = {name: value for name, value in first.settings.items() if name != "replayed"}
    return [replace(first, settings=settings), *plain[1:]]


def change_row(path: Path, kind: str, /, **fields: object) -> None:
    """Changes the last line of this type in a file, or the first line for `header`."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    row = [row for row in rows if row.get("type", "header") == kind][-1]
    row.update(fields)
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


async def record(path: Path, *turns, prompt: str = PROMPT, material: dict | None = None, **settings) -> Run:
    """Runs a script and records it."""
    with ScriptedProvider(list(turns)) as provider:
        agent = Agent(provider, **settings).recording(path)
        return await agent.run(prompt, **(material or {}))


async def play(path: Path, prompt: str = PROMPT, material: dict | None = None, **settings) -> Run:
    return await Agent(replay(path), **settings).run(prompt, **(material or {}))
