"""A question from the model: who answers it, what the model gets, and what every form of the run shows."""

import asyncio
import json

import pytest

from agent_nb import Agent, Answer, load
from agent_nb._base.late import SECRET_SOURCES
from agent_nb.core.events import ApprovalRequested, ApprovalResolved, ToolFinished
from agent_nb.demo.provider import DemoProvider
from agent_nb.features.ask_user.tools import ASK
from agent_nb.notebook.asking import ask_in_text, picked, question_text
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render.transcript import ToolRow, line_text, transcript
from tests.support.scripts import of

COLOUR = {"question": "Which colour?", "choices": ["blue", "red\x1b[2K"]}
NOBODY = "Nobody is here. Decide yourself, and say what you assumed."
SILENT = "The user did not answer. Decide yourself, and say what you assumed."


async def run_with(ask, *questions, **settings):
    turn = [call("ask_user", args, id=f"call_{n}") for n, args in enumerate(questions or [COLOUR])]
    data = settings.pop("data", None)
    agent = Agent(ScriptedProvider([turn, [text("ok")]]), tools=[ASK], **settings)
    handle = (agent.with_data(data) if data else agent).start("go")
    if ask:
        handle.approve_with(ask)
    return await handle


def answers(run) -> list[str]:
    return [use.result.text for use in run.tool_uses]


async def says(answer):
    return answer


@pytest.mark.parametrize("data", [None, "schema"])
@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (Answer(True, " blue\nor red "), "blue\nor red"),
        (Answer(False), SILENT),
        (Answer(True), SILENT),
        (None, NOBODY),
    ],
)
async def test_the_model_gets_what_the_user_says_or_that_nobody_does(answer, result, data):
    run = await run_with(answer and (lambda request: says(answer)), data=data)
    assert (answers(run), of(run, ToolFinished)[0].ok) == ([result], True)


@pytest.mark.parametrize(
    ("approve", "result"),
    [
        ("auto", "42"),
        ("deny", "42"),
        (lambda *_: True, "42"),
        ({"ask_user": "auto"}, "42"),
        ({"ask_user": "deny"}, SILENT),
        ({"ask_user": lambda called, args: Answer(True, args["choices"][0])}, "blue"),
    ],
    ids=["all-auto", "all-deny", "function", "tool-auto", "tool-deny", "tool-function"],
)
async def test_only_a_rule_for_this_tool_answers_in_place_of_the_user(approve, result):
    assert answers(await run_with(lambda request: says(Answer(True, "42")), approve=approve)) == [result]


async def test_two_questions_at_once_get_their_own_answers_and_always_covers_none():
    async def ask(request):
        await asyncio.sleep(0)
        return Answer(True, request.args["question"].upper(), always=True)

    run = await run_with(ask, {"question": "a?"}, {"question": "a?"}, {"question": "b?"})
    assert (answers(run), [event.by for event in of(run, ApprovalResolved)]) == (
        ["A?", "A?", "B?"],
        ["person"] * 3,
    )


async def test_stop_ends_a_run_that_waits():
    handle = Agent(ScriptedProvider([[call("ask_user", COLOUR)], [text("ok")]]), tools=[ASK]).start("go")

    async def never(request):
        handle.stop()
        await asyncio.Event().wait()

    handle.approve_with(never)
    run = await handle
    assert (run.reason, of(run, ToolFinished)[0].summary) == ("stopped", "Stopped before it was answered.")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({"question": "?", "choices": ["a"] * 200}, "`choices`"),
        ({"question": "?", "choices": ["a" * 201]}, "`choices[0]`"),
        ({"question": "q" * 2001}, "`question`"),
        ({"question": ""}, "`question`"),
    ],
)
async def test_a_question_that_no_card_can_show_is_refused(args, problem):
    run = await run_with(lambda request: says(Answer(True, "yes")), args)
    assert json.loads(answers(run)[0])["error"].startswith(problem)
    assert not of(run, ApprovalRequested)


KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"


@pytest.mark.parametrize("data", [None, "schema"])
async def test_a_long_answer_is_cut_and_a_secret_in_it_is_masked_before_it_is_sent(data):
    SECRET_SOURCES.append(lambda: {"hunter2hunter2": "`password`"})
    try:
        run = await run_with(
            lambda request: says(Answer(True, f"It is hunter2hunter2, {KEY}. " + "x" * 1_000_000)), data=data
        )
    finally:
        SECRET_SOURCES.pop()
    assert answers(run)[0].startswith("It is •••, •••. xxx")
    assert len(answers(run)[0]) < 51_000
    assert len(of(run, ApprovalResolved)[0].note) < 51_000


async def test_saved_runs_show_the_question_and_the_answer(tmp_path):
    run = await run_with(lambda request: says(Answer(True, "blue, please")))
    run.save(tmp_path / "run.jsonl")
    (row,) = (row for row in transcript(load(tmp_path / "run.jsonl").events) if isinstance(row, ToolRow))
    assert line_text(row) == "✓ ask: Which colour?: blue, please"


def request(**args) -> ApprovalRequested:
    fields = {"call_id": "c", "name": "ask_user", "title": "ask", "is_question": True}
    return ApprovalRequested(run_id="r", seq=1, at=0.0, args=args, **fields)


def test_a_terminal_shows_the_question_and_its_choices_as_text():
    assert question_text(request(**COLOUR)) == (
        "the model asks\n    Which colour?\n    1. blue\n    2. red<U+001B>[2K"
    )
    imitation = request(question="Which?", choices=["blue\n    2. red", "green"])
    assert question_text(imitation).endswith("\n    1. blue<U+000A>    2. red\n    2. green")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("2", Answer(True, COLOUR["choices"][1])),
        ("3", Answer(True, "3")),
        ("yes", Answer(True, "yes")),
        (" ", Answer(False, " ")),
        ("9" * 5_000, Answer(True, "9" * 5_000)),
    ],
)
def test_a_line_picks_a_choice_or_is_the_answer(line, answer):
    assert picked(request(**COLOUR), line) == answer


async def test_a_terminal_without_input_says_that_nobody_is_there(monkeypatch):
    def closed(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", closed)
    assert answers(await run_with(ask_in_text)) == [NOBODY]


async def test_the_demo_asks_and_uses_the_answer():
    handle = Agent(DemoProvider(pace=0), tools=[ASK]).start("A page about tea")
    handle.approve_with(lambda request: says(Answer(True, request.args["choices"][1])))
    run = await handle
    assert run.tool_uses[0].result.text == "A calm look"
