"""What a run has spent."""

import pytest

from agent_nb.core.messages import Image, ToolCall, Usage, assistant, user
from agent_nb.engine.cost import TOKENS_PER_IMAGE, CostMeter, estimate_tokens
from agent_nb.providers.prices import price_of


def test_a_withdrawn_turn_is_still_paid_for():
    meter = CostMeter(lambda usage: usage.input * 1.0)
    meter.begin_turn(10)
    meter.counted(Usage(input=5))
    meter.begin_turn(10)
    meter.end_turn(Usage(input=7))
    assert (meter.total.input, meter.cost) == (12, 12.0)


def test_the_price_of_a_turn_is_looked_up_once_for_all_its_estimates():
    name, asked = "anthropic:claude-opus-5-5", []

    def price(usage: Usage) -> float | None:
        asked.append(usage)
        return price_of(name, usage)

    meter = CostMeter(price)
    meter.begin_turn(1000)
    asked.clear()
    for chars in range(2000, 40_000, 2000):
        meter.chars = chars
        expected = price_of(name, Usage(input=1000, output=chars // 4))
        assert (meter.expected, meter.estimate()[1]) == pytest.approx((expected, expected))
    assert len(asked) == 2
    meter.counted(Usage(input=1000, cached_read=500, output=10_000))
    assert meter.expected == pytest.approx(price_of(name, Usage(input=1000, cached_read=500, output=10_000)))


def test_tokens_are_estimated_from_every_part():
    talk = [user("a" * 40, Image(b"x")), assistant(ToolCall("1", "t", "b" * 40))]
    assert estimate_tokens(talk, "c" * 40) == 30 + TOKENS_PER_IMAGE


def test_a_turn_cut_off_counts_as_far_as_it_came():
    meter = CostMeter(lambda usage: 0.0)
    meter.begin_turn(25)
    meter.chars = 400
    meter.cut_off()
    assert meter.total == Usage(input=25, output=100)


def test_a_withdrawn_turn_that_nobody_counted_is_reckoned():
    meter = CostMeter(lambda usage: usage.output * 1.0)
    meter.begin_turn(25)
    meter.chars = 400
    meter.begin_turn(25)
    assert (meter.total, meter.cost) == (Usage(input=25, output=100), 100.0)


def test_a_budget_holds_past_a_turn_without_a_price():
    meter = CostMeter(lambda usage: None if usage.cached_read else usage.output * 1.0)
    meter.end_turn(Usage(output=10))
    meter.end_turn(Usage(output=1, cached_read=1))
    meter.end_turn(Usage(output=5))
    assert meter.cost is None
    assert meter.expected == 15.0
