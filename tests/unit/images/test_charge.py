"""What one call costs, and whether a budget holds it."""

import pytest

from agent_nb.errors import ToolError
from agent_nb.images.charge import Charge


def budget(usd: float, **known) -> Charge:
    return Charge(left=lambda: usd, **known)


def test_what_is_charged_adds_up():
    charge = Charge()
    assert charge.total == 0
    charge.pay(0.25)
    charge.pay(0.5)
    assert charge.total == charge.expected == 0.75


def test_one_unknown_price_makes_the_sum_unknown():
    charge = Charge()
    charge.pay(0.25)
    charge.pay(None)
    assert charge.total is None


def test_the_expected_counts_until_it_is_charged():
    charge = budget(1.0)
    charge.expect([0.25, 0.25], "Two")
    assert charge.expected == 0.5
    charge.pay(0.5)
    assert charge.expected == 0.75
    charge.end()
    assert charge.expected == 0.5


def test_an_unknown_charge_counts_as_expected():
    charge = budget(1.0)
    charge.expect([0.25, 0.25], "Two")
    charge.pay(None)
    charge.end()
    assert (charge.total, charge.expected) == (None, 0.25)


def test_more_than_is_left_is_refused():
    with pytest.raises(
        ToolError, match=r"The 3 images would cost about \$0.75, and \$0.50 of the budget"
    ) as e:
        budget(0.5).expect([0.25] * 3, "The 3 images")
    assert e.value.hint == "Ask for fewer, or go on without."


def test_just_what_is_left_may_be_spent():
    budget(0.5).expect([0.25] * 2, "Two")
    Charge().expect([1_000.0], "One without a budget")


def test_dear_images_raise_the_expectation():
    with pytest.raises(ToolError, match=r"\$0.80, and \$0.50 of the budget is left"):
        budget(0.5, highest=0.4).expect([0.1, 0.1], "Two")
    budget(0.5, highest=0.4).expect([0.0, 0.0, None], "What is free")
