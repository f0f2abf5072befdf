"""The sequence of a run's events."""

from dataclasses import replace

from agent_nb import Agent
from agent_nb.core.event_list import EventList
from agent_nb.providers.scripted import ScriptedProvider, call, text


def test_a_run_takes_any_sequence_of_events():
    with ScriptedProvider(
        [[call("create_file", {"path": "a.txt", "content": "a"})], [text("Done.")]]
    ) as model:
        run = Agent(model).run_sync("A file.")
    assert isinstance(run.events, EventList)
    assert isinstance(replace(run, events=tuple(run.events)).events, EventList)
