"""Approval functions: what they may give back, and what becomes of nonsense."""

import json

import pytest

from agent_nb import Agent, Answer, ConfigError, ToolError, tool
from agent_nb.core.events import ApprovalRequested, ApprovalResolved, ToolFinished, ToolRunning
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.scripts import of, write


@tool(approval="ask")
def shell(command: str) -> str:
    """Runs a command."""
    return f"ran {command}"


LIST = call("shell", {"command": "ls"})


async def run_with(approve):
    run = await Agent(ScriptedProvider([[LIST], [text("ok")]]), tools=[shell], approve=approve).run("go")
    (requested,), (resolved,) = of(run, ApprovalRequested), of(run, ApprovalResolved)
    assert requested.seq + 1 == resolved.seq, "nobody else could answer it"
    return run, resolved


async def test_a_function_may_change_the_call_and_add_a_note():
    async def change(asked, args):
        args["command"] = "rm"  # a copy: it changes nothing
        return Answer(True, "Slower.", {"command": "ls -l"})

    run, resolved = await run_with(change)
    assert run.tool_uses[0].result.text == (
        'ran ls -l\n\nAn approval function changed `command` from "ls" to "ls -l"; do not repeat the original call.'
        "\nAn approval function approved this and says: Slower."
    )
    assert (resolved.by, resolved.proposed, resolved.executed) == (
        "function",
        {"command": "ls"},
        {"command": "ls -l"},
    )


async def test_a_changed_call_that_fails_keeps_its_outputs():
    @tool(approval="ask")
    def draw(size: int) -> str:
        """Draws."""
        raise ToolError("Too large.", outputs=({"text/plain": "half of it"},))

    provider = ScriptedProvider([[call("draw", {"size": 1})], [text("ok")]])
    run = await Agent(provider, tools=[draw], approve=lambda *_: Answer(True, args={"size": 2})).run("go")
    (finished,) = of(run, ToolFinished)
    assert finished.outputs == ({"text/plain": "half of it"},)
    assert finished.hint == "", "what is meant for the model is not shown to the user"
    assert "do not repeat the original call" in run.tool_uses[0].result.text


async def test_a_function_may_deny_with_a_note():
    run, resolved = await run_with(lambda asked, args: Answer(False, "Use Python."))
    assert json.loads(run.tool_uses[0].result.text) == {
        "error": "It was not approved.",
        "code": "DENIED",
        "hint": "Use Python.",
    }
    assert (resolved.by, resolved.executed) == ("function", None)


def leave(*_: object) -> None:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("approve", "summary"),
    [
        (lambda asked, args: None, "The approval function returned a NoneType, not True, False or an Answer"),
        (lambda asked, args: "yes", "The approval function returned a str, not True, False or an Answer"),
        (lambda asked, args: Answer("yes"), "`approved` of an Answer cannot be a str."),
        (lambda asked, args: Answer(True, args={"command": 3}), "`command` must be string, not an integer."),
        (leave, "The approval function tried to exit with 3."),
        (lambda asked, args: args["nothing"], "The approval function failed: KeyError: 'nothing'"),
    ],
)
async def test_nonsense_denies_the_call_and_says_so(approve, summary):
    run, resolved = await run_with(approve)
    assert (run.reason, resolved.approved, resolved.by) == ("end_turn", False, "function")
    assert summary in of(run, ToolFinished)[0].summary
    assert summary in json.loads(run.tool_uses[0].result.text)["error"]
    assert not of(run, ToolRunning)


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


async def test_an_interrupt_in_a_function_denies_the_call_and_ends_the_run():
    run, resolved = await run_with(interrupt)
    assert run.reason == "interrupted"
    assert (resolved.approved, resolved.by) == (False, "stopped")
    assert [use.result.code for use in run.tool_uses] == ["STOPPED"]


async def run_hooked(place, hook):
    agent = Agent(ScriptedProvider([[write()], [text("ok")]]))
    getattr(agent, place)(hook)
    return await agent.run("go")


@pytest.mark.parametrize("place", ["before_tool", "after_tool", "on_event"])
async def test_hooks_that_exit_or_interrupt_end_no_loop(place):
    assert (await run_hooked(place, leave)).reason == "end_turn"
    assert (await run_hooked(place, interrupt)).reason == "interrupted"


async def test_an_interrupted_hook_keeps_the_result_of_its_call():
    run = await run_hooked("after_tool", interrupt)
    assert run.tool_uses[0].ok
    assert list(run.files) == ["index.html"]


def test_an_answer_checks_itself():
    for wrong in ({"note": None}, {"args": [1]}):
        with pytest.raises(ConfigError, match="of an Answer cannot be"):
            Answer(True, **wrong)


@pytest.mark.parametrize(("value", "ran"), [(True, True), (False, False), ("yes", False), (None, False)])
async def test_whoever_is_asked_may_give_back_plain_truth_but_no_nonsense(value, ran):
    async def ask(request):
        return value

    handle = Agent(ScriptedProvider([[LIST], [text("ok")]]), tools=[shell]).start("go")
    handle.approve_with(ask)
    run = await handle
    assert (run.reason, run.tool_uses[0].ok) == ("end_turn", ran)
    assert [event.approved for event in of(run, ApprovalResolved)] == [ran]


async def test_without_a_person_the_run_says_that_nobody_answered():
    assert [(await run_with(approve))[1].by for approve in ("ask", "deny")] == ["nobody", "policy"]
