"""What real agents have said, as events. The files that they wrote are not in the recordings."""

import re
import sys

import pytest

import agent_nb
from agent_nb import Agent, events
from agent_nb.acp import known
from agent_nb.core.messages import Usage
from tests.support import ROOT

FOLDER = ROOT / "tests/support/agents/recordings"
OUTSIDE = (
    events.RunStarted | events.TurnFinished | events.MessageAdded | events.UsageUpdated | events.RunFinished
)


@pytest.fixture
def play(cache):
    """Plays a recording as the agent that made it."""

    async def run(name, agent, approve="auto", tools=()):
        command = [sys.executable, "-S", str(ROOT / "tests/support/agents/recorded.py")]
        known.set_own({agent: [*command, str(FOLDER / f"{name}.jsonl")]})
        made = await Agent(f"acp:{agent}", approve=approve, tools=tools).run(
            "Please make a page about tides."
        )
        assert not outside_turns(made)
        return made

    yield run
    known.set_own({})


def outside_turns(run):
    """The events that no turn contains, apart from those of a run and of the agent's start."""
    others, is_inside = [], False
    for event in run.events:
        is_inside = isinstance(event, events.TurnStarted) or (
            is_inside and not isinstance(event, events.TurnFinished)
        )
        if not is_inside and not isinstance(event, OUTSIDE) and getattr(event, "call_id", "") != "start":
            others.append(event)
    return others


def calls(run):
    """The kind of each call, and how it ended."""
    names = [event.name.partition("_")[2] for event in run.events.of(events.ToolStarted)]
    ends = [event.code or "ok" for event in run.events.of(events.ToolFinished)]
    return list(zip(names, ends, strict=True))[1:]


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.jsonl")))
async def test_every_recording_is_played_with_its_events_in_turns(play, name):
    run = await play(name, re.match("[a-z]+", name)[0])
    assert run.reason in ("end_turn", "failed")


EDITS = [("edit", "ok"), ("edit", "ok")]
PAGES = [
    ("gemini-page-perm", [*EDITS, ("execute", "ok")], Usage(input=4800, output=1040), None),
    (
        "claude99-page-perm",
        [*EDITS, ("execute", "ok")],
        Usage(input=4800, cached_read=800, output=1200),
        0.08142,
    ),
    (
        "codex26-page-ro",
        [*EDITS, ("execute", "ok")],
        Usage(input=4800, cached_read=800, output=1200, reasoning=160),
        None,
    ),
    ("codex16-page-perm", EDITS[:1], Usage(), None),
    (
        "opencode-page-ask",
        [*EDITS, ("execute", "ok"), ("other", "ok")],
        Usage(input=1200, cached_read=200, output=300, reasoning=40),
        0.0525,
    ),
]


@pytest.mark.parametrize(("name", "made", "usage", "cost"), PAGES)
async def test_a_page(play, name, made, usage, cost):
    asked = []
    agent = re.match("[a-z]+", name)[0]
    run = await play(name, agent, approve=lambda call, args: asked.append(args) or True)
    assert (run.reason, run.error) == ("end_turn", None)
    assert calls(run) == made
    assert run.usage == usage
    assert run.cost == (None if cost is None else pytest.approx(cost))
    assert run.thinking.startswith("I should make one page. First the file, then the heading.")
    assert "+<!doctype html>" in asked[0]["diff"]


@pytest.mark.parametrize("name", ["codex16-page-perm", "codex16-plan"])
async def test_a_plan_is_one_event_of_its_turn(play, name):
    run = await play(name, "codex")
    [plan] = run.events.of(events.PlanUpdated)
    assert (plan.title, plan.detail) == ("Plan", "1 of 3 done")
    assert [(entry.text, entry.status) for entry in plan.entries] == [
        ("write page", "completed"),
        ("check page", "in_progress"),
        ("tell the user", "pending"),
    ]


async def test_denied_calls_that_are_never_told_about_again(play):
    run = await play("gemini-deny", "gemini", approve="deny")
    assert calls(run) == [("edit", "DENIED")]
    assert (run.reason, run.text) == ("end_turn", "Written (or not).")


async def test_a_denied_call_that_ends_the_turn_is_not_a_stop(play):
    run = await play("codex26-deny-ro", "codex", approve="deny")
    assert calls(run) == [("edit", "DENIED")]
    assert (run.reason, run.text) == ("end_turn", "I write. ")
    [asked] = run.events.of(events.ApprovalRequested)
    assert "+<!doctype html>" in asked.args["diff"]  # the question itself had none


@pytest.mark.parametrize(
    ("name", "agent", "words"),
    [
        # It looks like an answer.
        ("codex26-nokey", "codex", r"Codex failed: .*Missing environment variable: `MOCK_API_KEY`\.$"),
        ("codex26-fault401", "codex", "Codex is not logged in: Authentication required. Run `codex login`"),
        ("claude99-fault400", "claude", "Claude Code failed: Internal error: API Error: 400"),
    ],
)
async def test_a_missing_key_a_wrong_key_and_an_error_of_the_vendor(play, name, agent, words):
    run = await play(name, agent)
    assert run.reason == "failed"
    assert re.match(words, run.error, re.DOTALL)


@pytest.mark.parametrize(("name", "agent"), [("claude99-mcp-http", "claude"), ("codex26-mcp-http", "codex")])
async def test_a_call_of_our_tool_is_shown_by_the_tool_alone(play, name, agent):
    @agent_nb.tool
    def run_python(code: str) -> str:
        """Runs code."""
        return code

    run = await play(name, agent, approve="deny", tools=[run_python])
    assert calls(run) == []
    assert run.reason == "end_turn"
