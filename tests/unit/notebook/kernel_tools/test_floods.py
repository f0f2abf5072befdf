"""More of anything than a run has, from a model or from the process of a branch: refused before it is searched."""

import json

import pytest

from agent_nb import Agent, kernel_tools
from agent_nb.core.events import ApprovalRequested, ToolFinished, ToolProgress
from agent_nb.core.messages import ToolCall
from agent_nb.core.run_settings import MAX_CODE
from agent_nb.files import Files, Workspace
from agent_nb.notebook.kernel_tools import branch as branch_module
from agent_nb.notebook.kernel_tools.capture import MAX_LIVE, MAX_OUTPUTS, MAX_PLAIN
from agent_nb.notebook.kernel_tools.python import MAX_MAGIC_COST
from agent_nb.notebook.values.secret_values import MOST_VALUES, found_in, remember, remembered, user_secrets
from agent_nb.providers.quotations import is_quoted
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.tools import ToolContext
from agent_nb.tools.toolbox import MAX_ARGUMENTS
from tests.unit.notebook.kernel_tools.test_branch import SEND, framed

PLAIN = {"text/plain": "x"}
LONG = "x" * (branch_module.MAX_HTML + 1)
FLOODS = [
    {"output": {"text": ""}, "secrets": [f"planted-{number}" for number in range(300_000)]},
    {"output": {"text": ""}, "secrets": [f"planted-{number}" for number in range(MOST_VALUES + 1)]},
    {"output": {"text": ""}, "secrets": ["x7" * branch_module.MAX_SECRETS]},
    {"output": {"text": ""}, "secrets": [[[]] * branch_module.MAX_OUTSIDE]},
    {"output": {"text": "", "outputs": [PLAIN] * 100}},
    {"output": {"text": "", "summary": LONG}},
    {"output": {"text": LONG}},
    {"show": {"text/html": LONG}},
]


@pytest.mark.parametrize("message", FLOODS)
async def test_a_message_with_more_than_a_call_has_ends_its_branch(message):
    with pytest.raises(branch_module.WireError, match=r"too many values|too long|no output"):
        branch_module._decoded(json.dumps(message).encode())


async def test_what_a_call_has_is_read():
    secrets = [f"planted-{number}" for number in range(MOST_VALUES)]
    shown = [{"text/plain": 'a "quoted" \\ text\n' * 1_000}] * MAX_OUTPUTS
    data = json.dumps({"output": {"text": "done", "outputs": shown}, "secrets": secrets}).encode()
    message = branch_module._decoded(data)
    assert message.output.outputs == tuple(shown)
    assert [*message.secrets] == secrets


async def test_secrets_of_branches_do_not_displace_those_of_the_session(shell):
    shell.run("api_key = 'first-of-all-4711'")
    user_secrets(shell.ipython)
    for start in (0, MOST_VALUES):
        remember(shell.ipython, [f"planted-{start + number}" for number in range(MOST_VALUES)])
    assert "first-of-all-4711" in user_secrets(shell.ipython).keys() & remembered()
    assert len(found_in(shell.ipython)) == MOST_VALUES + 1


async def test_what_a_branch_shows_beyond_the_bounds_of_its_outputs_is_left_out(shell):
    branch, shown = await kernel_tools()[0].branches.open(), []
    message = framed(json.dumps({"show": {"text/plain": "x" * 10_000}}).encode())
    context = ToolContext(files=Workspace(Files()), progress=print, show=shown.append)
    code = f"import os\n{SEND}\nfor _ in range(300): send({message})\nprint('end')"
    assert "end" in (await branch.call("run_python", {"code": code}, context)).text
    branch.end()
    characters = sum(len(bundle["text/plain"]) for bundle in shown)
    assert 500_000 < characters <= 2 * MAX_LIVE + MAX_OUTPUTS * (MAX_PLAIN + 1)


async def answered(*calls, tools=()) -> tuple:
    """What the user was asked, and how the calls ended."""
    script = ScriptedProvider([[*calls], [text("Done.")]])
    run = await Agent(script, tools=[*kernel_tools(), *tools], approve=lambda *_: True).run("Go")
    return [*run.events.of(ApprovalRequested)], [*run.events.of(ToolFinished)], run


async def test_too_much_code_is_refused_before_anything_reads_it_or_anybody_is_asked(shell):
    asked, (end,), _ = await answered(call("run_python", {"code": "x = 1\n" * (MAX_CODE // 6 + 1)}))
    assert (end.code, asked) == ("SCHEMA", [])
    assert "50000" in end.summary


async def test_too_many_arguments_are_refused_before_they_are_parsed(shell):
    def add(numbers: list[int]) -> int:
        """Adds numbers."""
        return sum(numbers)

    _, (end,), _ = await answered(call("add", {"numbers": [1] * (MAX_ARGUMENTS // 3 + 1)}), tools=[add])
    assert "1,000,000 characters" in end.summary


@pytest.mark.parametrize("line", ["!ls\n", "%time 1\n", "a = !ls\n", "x?\n", ",f a\n", f"x{' ' * 9_000}?\n"])
async def test_code_that_ipython_would_read_for_minutes_is_not_run(shell, line):
    asked, (end,), _ = await answered(
        call("run_python", {"code": line * int((MAX_MAGIC_COST / len(line)) ** 0.5 + 1)})
    )
    assert [request.title for request in asked] == ["run Python: has too many magics to run"]
    assert "too many or too long lines" in end.summary


async def test_lines_of_progress_are_short_and_limited(shell):
    def count(context) -> str:
        """Counts."""
        for number in range(100_000):
            context.progress(f"{number}{'x' * 5_000}")
        return "counted"

    count.__annotations__["context"] = ToolContext
    *_, run = await answered(call("count"), tools=[count])
    lines = [event.text for event in run.events.of(ToolProgress) if event.text]
    assert 100 <= len(lines) < 10_000
    assert max(map(len, lines)) <= 1_000


def test_a_written_call_with_more_values_than_a_model_writes_counts_as_a_quotation():
    calls = [ToolCall("1", "add", json.dumps({"numbers": [7] * count})) for count in (900, 1_001)]
    assert [is_quoted(each, []) for each in calls] == [False, True]


async def test_a_flood_of_secrets_from_code_ends_the_branch_and_none_is_remembered(shell):
    branch = await kernel_tools()[0].branches.open()
    body = (
        "json.dumps({'output': {'text': ''}, 'secrets': [f'planted-{n}' for n in range(300_000)]}).encode()"
    )
    code = f"import os, json, time\n{SEND}\nbody = {body}\nsend(len(body).to_bytes(4, 'big'))\n"
    context = ToolContext(files=Workspace(Files()), progress=print)
    with pytest.raises(Exception, match="wrote into the connection of its branch"):
        await branch.call(
            "run_python", {"code": f"{code}send(body[:65536]); send(body[65536:])\ntime.sleep(9)"}, context
        )
    branch.end()
    assert found_in(shell.ipython) == []
