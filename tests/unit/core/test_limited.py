"""Code of unknown objects: it may raise, exit and loop forever, and whoever asked goes on."""

import threading
import time

import pytest

from agent_nb.core.limited import UnreadableError, call_within


class MuteError(Exception):
    def __str__(self) -> str:
        raise ValueError


def raising(error: BaseException):
    def function() -> None:
        raise error

    return function


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("no\n  way"), "raises ValueError: no way"),
        (ValueError(), "raises ValueError"),
        (SystemExit(1), "raises SystemExit: 1"),
        (KeyboardInterrupt(), "raises KeyboardInterrupt"),
        (MuteError(), "raises MuteError"),
        (ValueError("x" * 5_000), f"raises {'ValueError: '.ljust(199, 'x')}…"),
    ],
)
def test_what_it_raises_is_reported(error, sentence):
    with pytest.raises(UnreadableError) as problem:
        call_within(10, raising(error))
    assert str(problem.value) == sentence
    assert problem.value.__cause__ is error


def test_a_message_shows_no_secret():
    with pytest.raises(UnreadableError, match=r"raises OSError: •••$"):
        call_within(10, raising(OSError(f"sk-proj-{'Ab1' * 16}")))


def test_an_endless_loop_is_given_up_and_ended():
    def endless() -> None:
        while True:
            try:
                time.sleep(0.001)
            except Exception:  # does not catch what ends it
                continue

    before = {*threading.enumerate()}  # others may wait for what tests before this one have left
    with pytest.raises(UnreadableError, match=r"takes longer than 0\.05 seconds"):
        call_within(0.05, endless)
    for thread in {*threading.enumerate()} - before:
        thread.join(30)
        assert not thread.is_alive()
