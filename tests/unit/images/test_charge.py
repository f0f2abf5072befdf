"""What one call costs, and whether a budget holds it."""

import pytest

from agent_nb.errors import ToolError
from agent_nb.images.charge import Bill


def budget(usd: float, **known) -> Bill:
    return Bill(left=lambda: usd, **known)


def test_what_is_charged_adds_up():
    bill = Bill()
    assert bill.total == 0
    bill.pay(0.25)
    bill.pay(0.5)
    assert bill.total == bill.reckoned == 0.75


def test_one_unknown_price_makes_the_sum_unknown():
    bill = Bill()
    bill.pay(0.25)
    bill.pay(None)
    assert bill.total is None


def test_the_expected_counts_until_it_is_charged():
    bill = budget(1.0)
    bill.expect([0.25, 0.25], "Two")
    assert bill.reckoned == 0.5
    bill.pay(0.5)
    assert bill.reckoned == 0.75
    bill.end()
    assert bill.reckoned == 0.5


def test_an_unknown_charge_counts_as_expected():
    bill = budget(1.0)
    bill.expect([0.25, 0.25], "Two")
    bill.pay(None)
    bill.end()
    assert (bill.total, bill.reckoned) == (None, 0.25)


def test_more_than_is_left_is_refused():
    with pytest.raises(
        ToolError, match=r"The 3 pictures would cost about \$0.75, and \$0.50 of the budget"
    ) as e:
        budget(0.5).expect([0.25] * 3, "The 3 pictures")
    assert e.value.hint == "Ask for fewer, or go on without."


def test_just_what_is_left_may_be_spent():
    budget(0.5).expect([0.25] * 2, "Two")
    Bill().expect([1_000.0], "One without a budget")


def test_dear_pictures_raise_the_expectation():
    with pytest.raises(ToolError, match=r"\$0.80, and \$0.50 of the budget is left"):
        budget(0.5, dearest=0.4).expect([0.1, 0.1], "Two")
    budget(0.5, dearest=0.4).expect([0.0, 0.0, None], "What is free")
