"""When a failed turn is retried, and after how long."""

import random

from agent_nb.errors import ProviderError, RequestRefusedError

RETRIES = 4
LONGEST_WAIT = 60.0
"""The longest wait, in seconds, that a vendor's `retry-after` is granted."""


def wait_before(attempt: int, error: ProviderError) -> float:
    """Seconds to wait after failed attempt number `attempt`; raises the error if there is to be no retry."""
    if isinstance(error, RequestRefusedError) and error.without:
        return 0.0
    if not error.retryable or attempt > RETRIES:
        raise error
    if error.retry_after is not None:
        if error.retry_after > LONGEST_WAIT:
            raise ProviderError(
                f"{error} It asks to wait {error.retry_after:.0f} s; try again later."
            ) from None
        return error.retry_after
    ceiling = min(8.0, 0.5 * 2.0 ** (attempt - 1))
    return round(ceiling * (0.75 + 0.25 * random.random()), 2)
