"""The demo model and questions: it says what it is, and makes no page."""

import re

import pytest

from agent_nb import tool
from agent_nb.demo.script import is_question
from tests.support.demo_kit import BAKERY, agent, built, called
from tests.support.pdf import pdf_of


@pytest.mark.parametrize(
    "prompt",
    [
        "What is the capital of France?",
        "why is the sky blue",
        "Can you read images?",
        "Could you tell me the time?",
        "What is a landing page?",
        "Explain recursion.",
        "Hello!",
        "What sells best?\n\nweek,sold\nW1,10\nW2,14",
    ],
)
def test_questions_are_recognised(prompt: str) -> None:
    assert is_question(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        BAKERY,
        "Can you make a bakery website?",
        "A dashboard of sales. What sells best?",
        "How to bake bread",
        "Explain recursion in an article",
        "Could you add a newsletter?",
        "What about blue?",
        "Is it possible to make it blue?",
        "a bakery?",
        "?",
    ],
)
def test_requests_are_not_questions(prompt: str) -> None:
    assert not is_question(prompt)


async def test_a_question_gets_an_answer_and_no_page() -> None:
    run = await built("What is the capital of France?")
    assert run.tool_uses == ()
    assert dict(run.files) == {}
    assert "a script without knowledge" in run.text
    assert "`ANTHROPIC_API_KEY`" in run.text
    assert "Paris" not in run.text


async def test_a_question_about_a_page_leaves_it_alone() -> None:
    first = await built(BAKERY)
    run = await agent().run("Why is it orange?", base=first)
    assert called(run) == []
    assert run.files == first.files
    assert "The files are unchanged." in run.text


async def test_a_question_with_a_tool_reports_its_answer() -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    run = await agent(tools=[add]).run("How much is 1 + 1?")
    assert called(run) == ["add"]
    assert "`add` was called once. It answered: “2”" in run.text
    assert "a script without knowledge" in run.text


@pytest.mark.parametrize("prompt", ["What does the paper say?", BAKERY])
def test_the_demo_says_that_it_got_a_pdf(prompt: str) -> None:
    run = agent().run_sync(prompt, images=[pdf_of("The mean is 42")])
    assert re.search(
        r"^- I got `document\.pdf` \(\d+ bytes\)\. A real model would read it\.$", run.text, re.M
    )
