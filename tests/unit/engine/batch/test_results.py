"""Saved runs of a large batch leave memory, and are what they were when they are asked for again."""

import pickle
import shutil

import pytest

from agent_nb import Agent, Runs
from agent_nb.core.errors import SavedRunError
from agent_nb.providers.scripted import ScriptedProvider, fail, text
from tests.support.cassettes import change_row

PROMPTS = {f"page {number}": f"A page, number {number}" for number in range(5)}


@pytest.fixture(autouse=True)
def two_in_memory(monkeypatch):
    monkeypatch.setattr("agent_nb.engine.batch.runs.MOST_LOADED", 2)


def scripted(*replies) -> Agent:
    return Agent(ScriptedProvider([[text(reply) if isinstance(reply, str) else reply] for reply in replies]))


async def batch(folder, *replies, **settings) -> Runs:
    return await scripted(*replies).map(PROMPTS, concurrency=1, save=folder, **settings)


async def test_runs_are_what_they_were(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = await batch("runs", *"abcde")
    again = await batch("runs")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for found in (runs, again):
        assert [run.text for run in found] == [*"abcde"]
        assert [run.name for run in found[1:3]] == ["runs[1]", "runs[2]"]
        assert found["page 0", "scripted:test"].text == found[-5].text == "a"
        assert found[0] is found[0]
        assert found.usage == sum((run.usage for run in found[1:]), found[0].usage)
    assert list(again) == list(runs)
    assert (runs.loaded, again.loaded) == (0, 5)
    assert (again.rows(), repr(again), again.cost) == (runs.rows(), repr(runs), runs.cost)
    assert [row["is a"] for row in runs.compare({"is a": "text == 'a'"}).rows()] == [True] + [False] * 4


async def test_a_run_whose_file_is_gone_or_another_is_named(tmp_path):
    runs = await batch(tmp_path, *"abcde")
    one, other = sorted(tmp_path.glob("page-0-*")) + sorted(tmp_path.glob("page-1-*"))
    change_row(other, "header", id="another")
    one.unlink()
    with pytest.raises(SavedRunError, match=r"`runs\[0\]` cannot be loaded again\. There is no file"):
        runs[0]
    with pytest.raises(SavedRunError, match=r"`runs\[1\]` cannot be loaded again: another run has replaced"):
        runs[1]
    assert [run.text for run in runs[2:]] == [*"cde"]
    assert len(runs.rows()) == 5, "the table needs no file"


async def test_what_the_file_does_not_contain_stays_in_memory(tmp_path):
    """A saved run has its secrets masked, and one that failed is replaced by the next batch."""
    secret = "sk-proj-" + "a" * 24
    runs = await batch(tmp_path, fail(ValueError("no")), f"Your key is {secret}.", *"cde")
    later = await batch(tmp_path, "a")
    assert (runs[0].reason, later[0].text) == ("failed", "a")
    assert secret in runs[1].text
    assert secret not in later[1].text


async def test_a_pickle_contains_all_runs(tmp_path):
    runs = await batch(tmp_path / "runs", *"abcde")
    written = pickle.dumps(runs)
    shutil.rmtree(tmp_path / "runs")
    copy = pickle.loads(written)
    assert [run.text for run in copy] == [*"abcde"]
    assert (repr(copy), copy.loaded) == (repr(runs), 0)
