"""Clocks that were set, and computers that slept."""

from agent_nb._base.moment import Moment


def test_a_clock_that_was_set_back_is_noticed_and_a_sleep_is_none():
    before = Moment(1000.0, 50.0)
    assert Moment(900.0, 60.0).set_back_since(before)
    assert Moment(1005.0, 60.0).set_back_since(before)
    assert not Moment(1010.0, 60.0).set_back_since(before)
    assert not Moment(9000.0, 60.0).set_back_since(before)
    assert not Moment.now().set_back_since(Moment.now())
