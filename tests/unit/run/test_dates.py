"""When a run was: in UTC, in a replay that of its recording, and never for a demo, which is the same every time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent_nb import Agent, model
from agent_nb.providers.base import RealClock
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support.cassettes import PROMPT, facts, play


def provider() -> ScriptedProvider:
    return ScriptedProvider([[text("Done.")]], clock=RealClock())


async def test_a_run_says_when_it_began_and_ended():
    before = datetime.now(UTC) - timedelta(seconds=1)
    run = await Agent(provider()).run("Go.")
    assert run.started is not None
    assert run.ended is not None
    assert before <= run.started <= run.ended <= datetime.now(UTC)
    assert run.started.tzinfo is UTC


async def test_a_replay_has_the_dates_of_its_recording(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    run = await Agent(provider()).recording(path).run(PROMPT)
    again = await play(path)
    assert run.started is not None
    assert (again.started, again.ended) == (run.started, run.ended)
    assert facts(again) == facts(run)


async def test_a_demo_has_none(tmp_path: Path):
    run = await Agent(model("demo:", pace=0)).recording(tmp_path / "a.jsonl").run(PROMPT)
    assert (run.started, run.ended, run.ended_at) == (None, None, "")
    assert "started" not in run.settings
    assert '"ended"' not in (tmp_path / "a.jsonl").read_text()


async def test_a_date_that_is_none_is_none():
    run = await Agent(provider()).run("Go.")
    assert replace(run, ended_at="yesterday").ended is None
