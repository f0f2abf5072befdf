"""The questions of `make try TASKS=data`: their grading, the two ways without agent_nb, and starting again."""

import json

import openai
import pytest

from agent_nb.core.event_list import EventList
from agent_nb.run.supported_numbers import AnswerSources, numbers_of
from docs.scripts.data_questions import QUESTIONS, is_right
from docs.scripts.try_data import Server, ask_all, ask_for_block, ask_in_loop, described, table, tables
from tests.support.wire import WireServer, json_reply

SUM, *_ = QUESTIONS
CODE = "print('Sum:', orders.pieces.sum())"


@pytest.fixture
def wire():
    with WireServer.in_thread(strict=False) as server:
        yield server


@pytest.fixture
def server(wire):
    client = openai.OpenAI(base_url=wire.base_url("chat"), api_key="none", max_retries=0)
    return Server(client, "qwen", "chat:qwen")


def says(content, *calls):
    """A response with this text and calls of `run_python` with these arguments."""
    called = [
        {"id": f"c{number}", "type": "function", "function": {"name": "run_python", "arguments": arguments}}
        for number, arguments in enumerate(calls)
    ]
    message = {"role": "assistant", "content": content, **({"tool_calls": called} if called else {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json_reply(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "qwen", "choices": [choice]}
    )


@pytest.mark.parametrize(
    ("text", "answer", "right"),
    [
        ("The sum is 1,651.60 EUR.", (1651.6000001,), True),
        ("1651.6", (1651.6000001,), True),
        ("About 1,652 EUR.", (1651.6000001,), True),
        ("1,650 EUR", (1651.6000001,), False),
        ("0.68", (0.68369,), True),
        ("0.69", (0.68369,), False),
        ("0.7", (0.68369,), False),
        ("-0.68", (0.68369,), False),
        ("−0.68", (-0.68369,), True),
        ("49 of 90", (49,), True),
        ("49.2", (49,), False),
        ("490 or 4.9e1", (49,), False),
        ("Of those with more than 5 pieces there are 5.", (5,), False),
        ("Roll, with 138 pieces", ("roll", 138.0), True),
        ("Cake, with 138 pieces", ("roll", 138.0), False),
        ("11 12 13 14 49", (49,), False),
        ("", (49,), False),
    ],
)
def test_an_answer_is_graded(text, answer, right):
    assert is_right(text, answer, "More than 5 pieces?") == right


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_an_answer_has_a_number_that_is_neither_in_the_question_nor_too_small_to_be_marked(question):
    *_, number = question.answer(tables())
    data = AnswerSources(events=EventList(), earlier=(), own=(), call_ids=(), had_data=True)
    assert numbers_of(f"It is {number:.3f}.".replace(".000", ""), data)
    assert not is_right(described(question), question.answer(tables()), question.text)


@pytest.mark.parametrize(
    ("content", "text", "ran_code"),
    [
        (f"```python\n{CODE}\n```", "Sum: 491\n", True),
        (f"Here:\n```python\n{CODE}", "Sum: 491\n", True),
        ("```python\nprint(491)\n1 / 0\n```", "", True),
        ("It is 491.", "It is 491.", False),
    ],
)
def test_one_block_is_run_and_what_it_prints_is_the_answer(wire, server, content, text, ran_code):
    wire.plan(says(content))
    answer = ask_for_block(SUM, server)
    assert (answer.text, answer.ran_code) == (text, ran_code)
    [request] = wire.requests
    assert "A DataFrame `orders` is loaded (read no file)" in request.body["messages"][0]["content"]


def test_the_plain_loop_sends_results_back_until_there_is_an_answer(wire, server):
    wire.plan(says("", "{broken", json.dumps({"code": CODE})), says("491 pieces."))
    answer = ask_in_loop(SUM, server)
    assert (answer.text, answer.code, answer.ran_code) == ("491 pieces.", [CODE], True)
    invalid, printed = wire.requests[1].body["messages"][-2:]
    assert invalid["content"].startswith("Invalid arguments")
    assert printed == {"role": "tool", "tool_call_id": "c1", "content": "Sum: 491\n"}


def test_started_again_it_asks_what_the_file_lacks(wire, server, tmp_path):
    file = tmp_path / "answers.jsonl"
    wire.plan(says(f"```python\n{CODE}\n```"), *[says("I do not know.")] * (len(QUESTIONS) - 2))
    with pytest.raises(openai.APIError):  # the server has no answer left
        ask_all(server, file, ["one block"])
    assert len(file.read_text().splitlines()) == len(QUESTIONS) - 1
    wire.plan(says("It is 5."))
    ask_all(server, file, ["one block"])
    rows = ask_all(server, file, ["one block"])
    assert [row["question"] for row in rows] == [question.name for question in QUESTIONS]
    assert table(rows).splitlines()[-1] == "| one block | 1 of 12 | 11 | 0 |"
