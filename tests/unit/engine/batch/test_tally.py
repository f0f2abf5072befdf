"""Whoever looks at long work sees it go, and cannot break it."""

import logging

import pytest

from agent_nb import Agent, model
from agent_nb.core.events import RunFinished
from agent_nb.engine.batch import tally
from agent_nb.engine.batch.tally import Tally, Watcher

PROMPTS = ["A bakery page", "A form", "A dashboard"]


class Notebook(Watcher):
    """Writes down what it sees."""

    def __init__(self, tally: Tally, stop) -> None:
        self.tally, self.stop = tally, stop
        self.seen: list[str] = []
        self.result = "nothing yet"

    def changed(self) -> None:
        self.seen.append(", ".join(self.tally.counts()))

    def end(self, result) -> None:
        self.result = result


@pytest.fixture
def looking():
    """What was begun while somebody looks."""
    begun: list[Notebook] = []

    def watch(tally, stop):
        begun.append(Notebook(tally, stop))
        return begun[-1]

    tally.watch_with(watch)
    yield begun
    tally.watch_with(None)


def demo() -> Agent:
    return Agent(model("demo:", pace=0))


async def test_the_tally_goes_from_none_to_all(looking):
    runs = await demo().map(PROMPTS, concurrency=1)
    [notebook] = looking
    ends = list(dict.fromkeys(seen.partition(",")[0] for seen in notebook.seen))
    assert ends == [f"{number} of 3 done" for number in range(4)]
    assert notebook.seen[-1] == "3 of 3 done"
    assert "0 of 3 done, 1 running" in notebook.seen
    assert notebook.result is runs


async def test_loaded_and_failed_are_told(looking, tmp_path):
    await demo().map(PROMPTS[:1], save=tmp_path)
    await demo().map(PROMPTS, save=tmp_path)
    assert looking[1].seen[0] == "1 of 3 done, 1 loaded"


async def test_a_watcher_can_stop_the_work(looking):
    agent = demo()
    agent.on_event(lambda event: looking[0].stop() if isinstance(event, RunFinished) else None)
    runs = await agent.map(PROMPTS, concurrency=1)
    assert [run.reason for run in runs] == ["end_turn", "interrupted", "interrupted"]
    assert looking[0].tally.note == "Not all runs finished. The same call with `save` would resume from here."


@pytest.mark.parametrize("where", ["begin", "changed", "end"])
async def test_a_broken_watcher_breaks_nothing(where, caplog):
    def fail(*_):
        raise ValueError("no screen")

    def watch(tally, stop):
        if where == "begin":
            fail()
        notebook = Notebook(tally, stop)
        setattr(notebook, where, fail)
        return notebook

    tally.watch_with(watch)
    try:
        with caplog.at_level(logging.ERROR, "agent_nb"):
            runs = await demo().map(PROMPTS)
    finally:
        tally.watch_with(None)
    assert [run.reason for run in runs] == ["end_turn"] * 3
    assert caplog.text.count("the progress could not be shown") == 1


async def test_work_that_never_began_ends_too(looking, tmp_path):
    with pytest.raises(Exception, match="needs a key"):
        await demo().map(PROMPTS, models="openai:gpt-6-sol", save=tmp_path)
    assert looking[0].result is None
