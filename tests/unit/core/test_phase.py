"""The phase of a run."""

from typing import get_args

import pytest

from agent_nb.core.events import (
    ENDINGS,
    ApprovalRequested,
    ApprovalResolved,
    FileDelta,
    Reason,
    RunFinished,
    RunStarted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolRunning,
    TurnRetrying,
    TurnStarted,
)
from agent_nb.core.messages import Usage
from agent_nb.core.phase import WAITING, phase_after

BASE = {"run_id": "r", "seq": 1, "at": 0.0}


@pytest.mark.parametrize(
    ("event", "phase"),
    [
        (ThinkingDelta(**BASE, text="x"), "thinking"),
        (TextDelta(**BASE, text="x"), "writing"),
        (FileDelta(**BASE, call_id="c", path="index.html", offset=0, text="<"), "writing index.html"),
        (FileDelta(**BASE, call_id="c", path="", offset=0, text="<"), "writing a file"),
        (TurnRetrying(**BASE, attempt=1, wait=2.6, why="cut"), "retrying in 3 s"),
        (ToolRunning(**BASE, call_id="c", title="run Python"), "running Python"),
        (ToolFinished(**BASE, call_id="c", ok=True, summary=""), "before"),
        (
            RunFinished(**BASE, reason="budget", usage=Usage(), cost=None, seconds=1.0),
            "stopped at the budget",
        ),
    ],
)
def test_each_event_leaves_its_phase(event, phase):
    assert phase_after("before", event) == phase


def test_a_server_of_your_own_reads_the_first_prompt():
    settings = {"server": {"model": "qwen"}}
    started = RunStarted(run_id="r", seq=1, at=0.0, prompt="Hi.", model="chat:qwen", settings=settings)
    first, second = (TurnStarted(run_id="r", seq=seq, at=0.0, step=seq - 1) for seq in (2, 3))
    phase = phase_after(phase_after("", started), first)
    assert (phase, phase_after(phase, second)) == ("reading the prompt", "thinking")


def test_every_reason_has_its_words():
    assert set(ENDINGS) == set(get_args(Reason))


def test_a_question_stays_open_while_another_call_runs():
    asked = phase_after(
        "before", ApprovalRequested(**BASE, call_id="a", name="order", title="order", args={})
    )
    running = phase_after(asked, ToolRunning(**BASE, call_id="b", title="read index.html"))
    assert running == asked == WAITING
    answered = phase_after(running, ApprovalResolved(**BASE, call_id="a", approved=True))
    assert phase_after(answered, ToolRunning(**BASE, call_id="a", title="order")) == "running order"
