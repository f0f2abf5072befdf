"""Numbers in the answer of an outside agent that had data: its own commands count as code."""

import pytest

from agent_nb import Agent, tool
from agent_nb.features.numbers.run import NOT_COMPUTED
from agent_nb.render.shown import addition

ANSWER = {"say": "Baguettes earn 3,412.80 EUR."}
COMMAND = {"toolCallId": "c1", "title": "python total.py", "kind": "execute"}
READ = {"toolCallId": "c1", "title": "Read orders.csv", "kind": "read", "rawInput": {"path": "orders.csv"}}


@tool
def run_python(code: str) -> str:
    """Runs code."""
    return "done"


def announced(call, status="completed"):
    """A call that the agent makes without asking."""
    return [
        {"update": "tool_call", **call, "status": "in_progress"},
        {"update": "tool_call_update", "toolCallId": call["toolCallId"], "status": status},
    ]


@pytest.mark.parametrize(
    ("steps", "approve", "ran_code"),
    [
        ([], "auto", False),
        (announced(READ), "auto", False),
        ([{"ask": COMMAND, "then": []}], "deny", False),
        ([{"ask": COMMAND, "then": []}], "auto", True),
        (announced(COMMAND), "deny", True),
        (announced(COMMAND, "failed"), "deny", True),
        (announced({**COMMAND, "rawInput": {"command": ["bash", "-lc", "python total.py"]}}), "deny", True),
        (announced({**COMMAND, "rawInput": {"cmd": "python total.py"}}), "deny", True),
        ([{"tool": "run_python", "args": {"code": "1"}}], "auto", True),
    ],
    ids=["nothing", "read", "denied", "allowed", "unasked", "failed", "list", "cmd", "our tool"],
)
async def test_the_note_is_there_unless_code_ran(fake, steps, approve, ran_code):
    fake.plays([*steps, ANSWER])
    run = await Agent("acp:fake", approve=approve, tools=[run_python]).run("What do baguettes earn?")
    assert (run.reason, run.unsupported) == ("end_turn", ("3,412.80",))
    assert run.ran_code == ran_code
    assert addition(run).above == ([] if ran_code else [NOT_COMPUTED])
