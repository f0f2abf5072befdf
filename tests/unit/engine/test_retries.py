"""When a failed turn is tried again."""

import contextlib
import itertools

import pytest

from agent_nb.core.errors import ProviderError, RateLimitError
from agent_nb.engine.turns import LIMIT_SECONDS, RETRIES, Retries

CUT = ProviderError("cut", retryable=True)


def limit(asked: float | None = None) -> RateLimitError:
    return RateLimitError("slow down", retryable=True, retry_after=asked)


def waits_until_it_ends(retries: Retries, error: ProviderError) -> list[float]:
    waits: list[float] = []
    with contextlib.suppress(ProviderError):
        while len(waits) < 1000:
            waits.append(retries.wait_after(error))
    assert len(waits) < 1000
    return waits


def test_waits_grow_and_end():
    waits = waits_until_it_ends(Retries(), CUT)
    assert len(waits) == RETRIES
    assert all(later > earlier for earlier, later in itertools.pairwise(waits))
    with pytest.raises(ProviderError, match="final"):
        Retries().wait_after(ProviderError("final"))


@pytest.mark.parametrize("kind", [ProviderError, RateLimitError])
def test_a_wait_the_vendor_asks_for_is_kept_with_jitter(kind):
    waits = {Retries().wait_after(kind("slow", retryable=True, retry_after=8)) for _ in range(20)}
    assert min(waits) >= 8
    assert max(waits) <= 10
    assert len(waits) > 1


@pytest.mark.parametrize("asked", [None, 0, 1, 26])
def test_rate_limits_are_waited_for_two_minutes_in_all(asked):
    retries = Retries()
    waits = waits_until_it_ends(retries, limit(asked))
    assert LIMIT_SECONDS - (asked or 0.01) <= sum(waits) <= LIMIT_SECONDS + 0.01
    retries.begin_turn()
    with pytest.raises(ProviderError, match="slow down"):
        retries.wait_after(limit(LIMIT_SECONDS))


def test_rate_limits_and_faults_are_counted_apart():
    retries = Retries()
    for _ in range(RETRIES + 2):
        retries.wait_after(limit(1))
    assert len(waits_until_it_ends(retries, CUT)) == RETRIES
    assert retries.wait_after(limit(1)) >= 1


def test_each_turn_has_its_own_faults():
    retries = Retries()
    waits_until_it_ends(retries, CUT)
    retries.begin_turn()
    assert len(waits_until_it_ends(retries, CUT)) == RETRIES


def test_a_rate_limit_is_not_waited_for_past_the_end_of_the_run():
    with pytest.raises(ProviderError, match="asks to wait 30 s, and this run can wait 20 s more"):
        Retries().wait_after(limit(30), left=20)
    assert Retries().wait_after(limit(19.9), left=20) <= 20
