"""Tells a rate limit, which passes, from a quota that is used up; and reads how long a vendor asks to wait.

Vendors use the same status (429) and often the same words ("quota", "billing") for both, so codes decide.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Limit = Literal["rate", "credit", "period", "size"]
"""Too many requests in a minute, no credit left, the quota of a day or week used up, one request too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """A refusal and the limit it means. All that is given must match."""

    limit: Limit
    codes: str = ""
    """A regular expression for one of the error's codes, quota ids included."""
    message: str = ""
    """A regular expression for the vendor's message."""
    statuses: tuple[int, ...] = ()

    def matches(self, status: int, codes: list[str], message: str) -> bool:
        return (
            (not self.statuses or status in self.statuses)
            and (not self.codes or any(re.search(self.codes, code) for code in codes))
            and (not self.message or re.search(self.message, message, re.IGNORECASE) is not None)
        )


_RULES = (
    # OpenAI: no credit, and limits set by the account's owner. https://developers.openai.com/docs/guides/error-codes
    _Rule(limit="credit", codes=r"^(insufficient_quota|credit_balance_exhausted|billing_.*)$"),
    # Anthropic: a monthly limit, without `retry-after`. https://docs.claude.com/en/api/rate-limits
    _Rule(limit="credit", codes=r"^enforced_spend_limit_reached$"),
    # OpenRouter, DeepSeek, Anthropic's `billing_error` and Gemini's `payment_required`.
    _Rule(limit="credit", statuses=(402,)),
    # Gemini's Interactions: a quota per day; `rate_limit_exceeded` is one per minute.
    _Rule(limit="period", codes=r"^quota_exceeded$"),
    # Gemini's generateContent and Vertex. These answers have a `retryDelay` of seconds, too, but it does not help.
    # https://ai.google.dev/gemini-api/docs/rate-limits
    _Rule(limit="period", codes=r"PerDay"),
    # OpenRouter's free models, Ollama's cloud. https://openrouter.ai/docs/api-reference/limits
    _Rule(limit="period", message=r"free-models-per-day|(daily|weekly) usage limit", statuses=(429,)),
    # OpenAI: one request that is larger than the tokens per minute, under the code of a rate limit.
    _Rule(limit="size", message=r"request too large .*tokens per min", statuses=(429,)),
    # Every vendor, also in the middle of a stream, where there is no status. OpenAI's text may link to its billing
    # page all the same: https://github.com/openai/codex/issues/797
    _Rule(limit="rate", codes=r"^rate_limit"),
    # Anthropic: an empty balance and an own limit are bad requests, known only by their words.
    # https://docs.claude.com/en/api/errors
    _Rule(
        limit="credit",
        message=r"credit balance|specified api usage limits|billing|insufficient balance|current quota",
        statuses=(400, 403),
    ),
    _Rule(limit="rate", statuses=(429,)),
)
"""The first rule that matches wins."""


_DURATION = re.compile(
    r"(\d+(?:\.\d+)?) ?(ms|h|m|s)(?:ours?|in(?:ute)?s?|ec(?:ond)?s?)?(?![a-z])", re.IGNORECASE
)
_TRY_AGAIN = re.compile(
    rf"(?:try again|retry) (?:in|after) (?P<time>(?:{_DURATION.pattern} ?)+)", re.IGNORECASE
)
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def limit_of(status: int, codes: list[str], message: str) -> Limit | None:
    """The limit that a refusal means; None if it is about something else."""
    return next((rule.limit for rule in _RULES if rule.matches(status, codes, message)), None)


def codes_in(body: Any) -> list[str]:
    """The codes and quota ids in the body of an error, in any of the vendors' shapes."""
    error = _error_in(body)
    codes = [str(error[name]) for name in ("code", "type", "status", "param") if error.get(name)]
    match error.get("details"):
        case {"error_code": str(code)}:  # Anthropic
            codes.append(code)
    for detail in _google_details(body):
        match detail:
            case {"violations": [*violations]}:
                codes += [str(each.get("quotaId")) for each in violations if isinstance(each, Mapping)]
            case {"metadata": {"quota_limit": str(quota_limit)}}:
                codes.append(quota_limit)
    return codes


def wait_asked(headers: Mapping[str, str], body: Any = None, message: str = "") -> float | None:
    """The seconds that a vendor asks to wait, from its headers, the details of its error or its message."""
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    if (seconds := _number(headers.get("retry-after", ""))) is not None:
        return seconds
    delays = (
        _number(str(detail.get("retryDelay", "")).removesuffix("s")) for detail in _google_details(body)
    )
    return next((delay for delay in delays if delay is not None), _wait_in(message))


def _wait_in(message: str) -> float | None:
    """The time after "try again in", such as `6.379s`, `7m12s`, `120ms` or `17 seconds`."""
    found = _TRY_AGAIN.search(message)
    if found is None:
        return None
    return sum(
        float(number) * _UNIT_SECONDS[unit.lower()] for number, unit in _DURATION.findall(found["time"])
    )


def _error_in(body: Any) -> Mapping[str, Any]:
    if isinstance(body, list) and body:
        return _error_in(body[0])
    if not isinstance(body, Mapping):
        return {}
    return body["error"] if isinstance(body.get("error"), Mapping) else body


def _google_details(body: Any) -> list[Mapping[str, Any]]:
    details = _error_in(body).get("details")
    return [detail for detail in details if isinstance(detail, Mapping)] if isinstance(details, list) else []


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None
