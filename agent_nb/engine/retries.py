"""When a failed turn is retried, and after how long."""

import math
import random

from agent_nb.errors import ProviderError, RateLimitError, RequestRefusedError

RETRIES = 4
"""Faults in one turn that are retried. Rate limits are counted apart, by the time waited."""
LONGEST_WAIT = 60.0
"""The longest wait, in seconds, that a vendor may ask for after a fault."""
LIMIT_SECONDS = 120.0
"""How long one run waits for rate limits in all."""


class Retries:
    def __init__(self) -> None:
        self._waited = 0.0
        self._faults = self._refusals = 0

    def begin_turn(self) -> None:
        self._faults = self._refusals = 0

    def wait_after(self, error: ProviderError, left: float = math.inf) -> float:
        """Seconds to wait before the next attempt; raises the error if there is to be none.

        `left` is how many seconds the run has left. A rate limit that lasts longer is not waited for.
        """
        if not error.retryable:
            raise error
        if isinstance(error, RequestRefusedError):
            return 0.0
        if isinstance(error, RateLimitError):
            return self._wait_for_limit(error, min(left, LIMIT_SECONDS - self._waited))
        self._faults += 1
        if self._faults > RETRIES:
            raise error
        asked = error.retry_after
        if asked is not None and asked > LONGEST_WAIT:
            raise ProviderError(f"{error} It asks to wait {asked:.0f} s; try again later.") from None
        return _with_jitter(asked, self._faults) if asked is not None else _backoff(self._faults, longest=8)

    def _wait_for_limit(self, error: RateLimitError, left: float) -> float:
        asked = error.retry_after
        if asked is not None and asked > left:
            raise ProviderError(
                f"{error} It asks to wait {asked:.0f} s, and this run can wait {max(left, 0):.0f} s more."
            ) from None
        if round(left, 3) <= 0:  # a rest below the precision of waits would be waited for without end
            raise ProviderError(f"{error} This run has waited {self._waited:.0f} s for it.") from None
        self._refusals += 1
        wait = (
            _with_jitter(asked, self._refusals) if asked is not None else _backoff(self._refusals, longest=30)
        )
        wait = min(wait, round(left, 3))
        self._waited += wait
        return wait


def _with_jitter(asked: float, number: int) -> float:
    """What the vendor asks for and a little more, so that runs that were refused together do not return together."""
    spread = min(10.0, max(asked / 4, 0.5 * 2.0 ** (number - 1)))
    return round(asked + spread * random.random(), 3)


def _backoff(number: int, longest: float) -> float:
    ceiling = min(longest, 0.5 * 2.0 ** (number - 1))
    return round(ceiling * (0.75 + 0.25 * random.random()), 2)
