"""Phases, spending, waiting, and what a text holds."""

import itertools

import pytest

from agent_nb.conversation import fenced, page_in, to_message
from agent_nb.errors import ConfigError, ProviderError
from agent_nb.events import FileDelta, RunFinished, TextDelta, ThinkingDelta, ToolFinished, TurnRetrying
from agent_nb.messages import Usage
from agent_nb.phase import phase_after
from agent_nb.retry import RETRIES, wait_before
from agent_nb.spend import Spend

BASE = {"run_id": "r", "seq": 1, "at": 0.0}


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (ThinkingDelta(**BASE, text="x"), "thinking"),
        (TextDelta(**BASE, text="x"), "writing"),
        (FileDelta(**BASE, call_id="c", path="index.html", offset=0, text="<"), "writing index.html"),
        (TurnRetrying(**BASE, attempt=1, wait=2.6, why="cut"), "retrying in 3 s"),
        (ToolFinished(**BASE, call_id="c", ok=True, summary=""), "before"),
        (
            RunFinished(**BASE, reason="budget", usage=Usage(), cost=None, seconds=1.0),
            "stopped at the budget",
        ),
    ],
)
def test_the_phase_is_told_in_words(event, words):
    assert phase_after("before", event) == words


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("Here:\n```html\n<p>Hi</p>\n```\nBye", "<p>Hi</p>"),
        ("cut off:\n```html\n<p>Hi", "<p>Hi"),
        ("<!DOCTYPE html><html><p>Hi</p></html> and so on", "<!DOCTYPE html><html><p>Hi</p></html>"),
        ("no page, only `<p>` in words", None),
        ("```html\nnothing\n```", None),
    ],
)
def test_a_page_is_found_in_a_text(text, page):
    assert page_in(text) == page


def test_a_fence_is_longer_than_those_inside():
    assert fenced("a\n```\nb").startswith("````\n")


@pytest.mark.parametrize("bad", [{"content": "x"}, {"role": "robot", "content": "x"}, "hello"])
def test_a_message_needs_a_known_role(bad):
    with pytest.raises(ConfigError, match="role"):
        to_message(bad)


def test_a_withdrawn_turn_is_still_paid_for():
    spend = Spend(lambda usage: usage.input * 1.0)
    spend.begin_turn(10)
    spend.counted(Usage(input=5))
    spend.begin_turn(10)
    spend.end_turn(Usage(input=7))
    assert (spend.total.input, spend.cost) == (12, 12.0)


def test_an_unknown_price_stays_unknown():
    spend = Spend(lambda usage: None)
    spend.end_turn(Usage(input=7))
    assert spend.cost is None
    assert spend.estimate(100)[1] is None


def test_waits_grow_and_end():
    error = ProviderError("cut", retryable=True)
    waits = [wait_before(attempt, error) for attempt in range(1, RETRIES + 1)]
    assert all(later > earlier for earlier, later in itertools.pairwise(waits))
    with pytest.raises(ProviderError, match="cut"):
        wait_before(RETRIES + 1, error)
    with pytest.raises(ProviderError, match="final"):
        wait_before(1, ProviderError("final"))


def test_a_wait_the_vendor_asks_for_is_kept():
    assert wait_before(1, ProviderError("slow", retryable=True, retry_after=7)) == 7
