"""When a failed turn is tried again."""

import itertools

import pytest

from agent_nb.engine.retry import RETRIES, wait_before
from agent_nb.errors import ProviderError


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
