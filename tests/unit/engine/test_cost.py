"""What a run has spent."""

import pytest

from agent_nb.engine.cost import TOKENS_PER_IMAGE, Purse, Spend, estimate_tokens
from agent_nb.errors import ToolError
from agent_nb.messages import Image, ToolCall, Usage, assistant, user


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
    assert spend.estimate()[1] is None


def test_tokens_are_estimated_from_every_part():
    talk = [user("a" * 40, Image(b"x")), assistant(ToolCall("1", "t", "b" * 40))]
    assert estimate_tokens(talk, "c" * 40) == 30 + TOKENS_PER_IMAGE


def test_a_turn_cut_off_counts_as_far_as_it_came():
    spend = Spend(lambda usage: 0.0)
    spend.begin_turn(25)
    spend.chars = 400
    spend.cut_off()
    assert spend.total == Usage(input=25, output=100)


def test_tools_and_turns_cost_together():
    spend = Spend(lambda usage: usage.input * 1.0)
    bill = spend.open_bill(lambda: None)
    bill.pay(0.5)
    spend.charge(bill)
    spend.end_turn(Usage(input=2))
    assert (spend.cost, spend.estimate()[1], spend.reckoned) == (2.5, 2.5, 2.5)


def test_a_budget_holds_what_is_under_way():
    purse = Purse()
    one, other = (purse.share(Spend(lambda usage: 0.0)) for _ in range(2))
    bill = one.open_bill(lambda: 1 - purse.spent)
    bill.expect([0.25, 0.25], "Two")
    assert (purse.spent, one.cost) == (0.5, 0.0)
    with pytest.raises(ToolError, match=r"\$0.50 of the budget is left"):
        other.open_bill(lambda: 1 - purse.spent).expect([0.75], "One")
    one.charge(bill)
    assert purse.spent == 0


def test_a_call_cut_off_counts_what_was_charged():
    spend = Spend(lambda usage: 0.0)
    bill = spend.open_bill(lambda: None)
    bill.pay(0.5)
    spend.cut_off()
    spend.charge(bill)
    assert spend.cost == 0.5


def test_a_withdrawn_turn_that_nobody_counted_is_reckoned():
    spend = Spend(lambda usage: usage.output * 1.0)
    spend.begin_turn(25)
    spend.chars = 400
    spend.begin_turn(25)
    assert (spend.total, spend.cost) == (Usage(input=25, output=100), 100.0)


def test_a_budget_holds_past_a_turn_without_a_price():
    purse = Purse()
    spend = purse.share(Spend(lambda usage: None if usage.cached_read else usage.output * 1.0))
    spend.end_turn(Usage(output=10))
    spend.end_turn(Usage(output=1, cached_read=1))
    spend.end_turn(Usage(output=5))
    assert spend.cost is None
    assert purse.spent == 15.0
