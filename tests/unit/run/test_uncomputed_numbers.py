"""Numbers in the answer of a run that had data, if no code ran: marked, and said above the answer."""

import pytest

from agent_nb import Agent, Run, tool
from agent_nb.core.run_settings import had_data
from agent_nb.features.numbers.run import NOT_COMPUTED
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render import FORMS, bundle
from agent_nb.render.shown import addition
from agent_nb.run.replay_file import replay_html
from agent_nb.tools import Toolbox
from tests.support.shells import quick_run

ANSWER = "Baguettes earn 3,412.80 EUR, 4.2 % of 81 rows."


async def answered(*calls: tuple[str, dict]) -> Run:
    """A run of a prompt with `81 rows` that had data: these calls, then the answer."""

    @tool
    def describe_variable(name: str) -> str:
        return f"{name}: 4.2"

    @tool
    def run_python(code: str) -> str:
        return "nothing"

    @tool
    def forecast(months: int) -> str:
        return "nothing"

    rule = "deny" if ("run_python", {"code": "no"}) in calls else "auto"
    toolbox = Toolbox.default([describe_variable, run_python, forecast])
    with ScriptedProvider([*([call(*each)] for each in calls), [text(ANSWER)]]) as provider:
        return await Agent(provider, tools=toolbox, approve={"run_python": rule}).run("Of 81 rows?")


@pytest.mark.parametrize(
    ("calls", "unsupported", "says"),
    [
        ([], ("3,412.80", "4.2"), True),
        ([("describe_variable", {"name": "df"})], ("3,412.80",), True),
        ([("run_python", {"code": "no"})], ("3,412.80", "4.2"), True),
        ([("run_python", {"code": "f()"})], ("3,412.80", "4.2"), False),
        ([("forecast", {"months": 2})], ("3,412.80", "4.2"), False),
        ([("create_file", {"path": "a.txt", "content": "x"})], ("3,412.80", "4.2"), False),
    ],
)
async def test_every_form_says_that_no_code_was_run(calls, unsupported, says):
    run = await answered(*calls)
    assert run.unsupported == unsupported
    assert addition(run).above == ([NOT_COMPUTED] if says else [])
    forms = [*bundle(run).values(), *(form.render(run) for form in FORMS)]
    for form in forms:
        assert form.count(NOT_COMPUTED) == says
        between, answer, _ = form.partition(NOT_COMPUTED)[2].partition("Baguettes earn")
        assert bool(answer) == says
        assert "</details>" not in between  # the line is not in the fold of the transcript
    assert (f'"above": "{NOT_COMPUTED}"' in replay_html(run)) == says


async def test_a_number_of_a_description_leads_to_its_call():
    run = await answered(("describe_variable", {"name": "df"}))
    (use,) = run.tool_uses
    assert [(each.text, each.call_id) for each in run.answer_numbers] == [
        ("3,412.80", ""),
        ("4.2", use.call.id),
    ]


async def test_kept_cells_list_the_numbers_that_no_output_has():
    run = await answered(("run_python", {"code": "f()"}))
    assert run.to_cells()[-1].source.endswith("Not computed: 3,412.80, 4.2")


async def test_without_data_no_number_is_marked_and_a_run_that_continues_one_with_data_has_it():
    with ScriptedProvider([[text(ANSWER)]] * 2) as provider:
        agent = Agent(provider)
        plain = await agent.run("How many?")
        assert (plain.unsupported, addition(plain).above) == ((), [])
        later = await agent.run("And now?", base=await answered())
    assert later.unsupported == ("3,412.80", "4.2")


@pytest.mark.parametrize(
    ("line", "prompt", "has_data"),
    [
        ("", "What of {{orders}}?", True),
        ("-w orders", "What of it?", True),
        ("--data schema", "What of {{orders}}?", True),
        ("-t kernel", "What of it?", True),
        ("--cells 1", "What of it?", True),
        ("", "What of it?", False),
        ("", r"What is \{{orders}}?", False),
        ("", "Change {{page}}", False),
        ("", "Change {{page.files}}", False),
    ],
)
def test_a_cell_records_whether_it_has_data(shell, line, prompt, has_data):
    shell.run("orders = [4, 5]")
    shell.names["page"] = quick_run()
    ran = shell.run(f"%%agent run -m demo: {line} --approve deny --plain --pace 0\n{prompt}")
    assert ran.ok, ran.stderr
    assert had_data(shell.names["run"].settings) == has_data


def test_a_fix_has_data(shell):
    shell.run("1 / 0")
    assert shell.run("%agent fix run -m demo: --plain --pace 0").ok
    assert had_data(next(one for one in shell.names.values() if isinstance(one, Run)).settings)
