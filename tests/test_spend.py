"""What a run has spent."""

from agent_nb.messages import Image, ToolCall, Usage, assistant, user
from agent_nb.spend import TOKENS_PER_IMAGE, Spend, estimate_tokens


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
