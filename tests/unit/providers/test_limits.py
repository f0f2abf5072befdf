"""Real answers of the vendors to too many requests: which ones pass, which ones do not, and how long to wait."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from agent_nb.core.errors import ProviderError, RateLimitError
from agent_nb.providers.failure import retry_delay
from tests.support.wire import Raw, Reply, Say, WireServer, json_reply, reply
from tests.support.wire.cases import CASE, collect
from tests.support.wire.framing import sse

RATE_TEXT = "Rate limit reached for o4-mini in organization org-x on tokens per min (TPM): Limit 200000."
BILLING_LINK = (
    "You can increase your rate limit by adding a payment method to your account at "
    "https://platform.openai.com/account/billing."
)
QUOTA_TEXT = "You exceeded your current quota, please check your plan and billing details."


def openai_error(code: str | None, message: str, kind: str = "tokens") -> dict[str, Any]:
    return {"error": {"type": kind, "code": code, "param": None, "message": message}}


def anthropic_error(kind: str, message: str, error_code: str = "") -> dict[str, Any]:
    details = {"details": {"error_code": error_code}} if error_code else {}
    return {"type": "error", "error": {"type": kind, "message": message, **details}}


def google_error(*details: dict[str, Any]) -> dict[str, Any]:
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": QUOTA_TEXT, "details": list(details)}
    return {"error": error}


def quota(quota_id: str) -> dict[str, Any]:
    violation = {"quotaId": quota_id, "quotaValue": "20", "quotaDimensions": {"location": "global"}}
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}


def retry_info(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


HELP = {"@type": "type.googleapis.com/google.rpc.Help", "links": [{"url": "https://ai.google.dev"}]}
PER_MINUTE = quota("GenerateContentInputTokensPerModelPerMinute-FreeTier")
PER_DAY = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
VERTEX_DAY = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    "reason": "RATE_LIMIT_EXCEEDED",
    "metadata": {"quota_limit": "Gemini25ProRequestsPerDay"},
}


async def failure(protocol: str, server: WireServer, planned: Reply) -> ProviderError:
    server.plan(planned)
    with pytest.raises(ProviderError) as caught:
        await collect(CASE[protocol].provider(server))
    return caught.value


@pytest.mark.parametrize(
    ("protocol", "body", "wait"),
    [
        ("interactions", google_error(PER_MINUTE, HELP, retry_info("26s")), 26.0),
        ("generate_content", google_error(PER_MINUTE, HELP, retry_info("26s")), 26.0),
        ("generate_content", google_error(PER_MINUTE), None),
        ("generate_content", google_error(HELP), None),
        ("interactions", openai_error("rate_limit_exceeded", QUOTA_TEXT), None),
        ("responses", openai_error("rate_limit_exceeded", f"{RATE_TEXT} {BILLING_LINK}"), None),
        ("chat", openai_error("rate_limit_exceeded", f"{RATE_TEXT} {BILLING_LINK}"), None),
        ("responses", openai_error(None, QUOTA_TEXT), None),
        ("anthropic_messages", anthropic_error("rate_limit_error", "Slow down", "ramp_limit_exceeded"), None),
    ],
)
async def test_a_limit_per_minute_is_waited_for_whatever_its_text(protocol, body, wait, server):
    error = await failure(protocol, server, json_reply(body, 429))
    assert error.retryable
    assert error.retry_after == wait


@pytest.mark.parametrize(
    ("protocol", "status", "body", "remedy"),
    [
        ("interactions", 429, google_error(PER_DAY, retry_info("36s")), "use another model"),
        ("generate_content", 429, google_error(PER_DAY, retry_info("36s")), "use another model"),
        ("generate_content", 429, google_error(VERTEX_DAY), "use another model"),
        ("interactions", 429, openai_error("quota_exceeded", "Daily quota exceeded."), "use another model"),
        ("interactions", 402, openai_error("payment_required", "Billing is off."), "billing"),
        ("responses", 429, openai_error("insufficient_quota", QUOTA_TEXT, "insufficient_quota"), "billing"),
        ("responses", 429, openai_error("credit_balance_exhausted", "No credit."), "billing"),
        ("responses", 429, openai_error("billing_hard_limit_reached", "Hard limit."), "billing"),
        ("chat", 402, openai_error(None, "Insufficient credits."), "billing"),
        ("chat", 429, openai_error(None, "Rate limit exceeded: free-models-per-day"), "use another model"),
        (
            "responses",
            429,
            openai_error("rate_limit_exceeded", "Request too large for gpt-4o on tokens per min (TPM)."),
            "Send less",
        ),
        *(
            (
                "anthropic_messages",
                429,
                anthropic_error("rate_limit_error", "Limit reached.", f"{kind}_spend_limit_reached"),
                "billing",
            )
            for kind in ("enforced", "contract")
        ),
        (
            "anthropic_messages",
            400,
            anthropic_error(
                "invalid_request_error", "You have reached your specified API usage limits. You will regain"
            ),
            "billing",
        ),
        (
            "anthropic_messages",
            400,
            anthropic_error("invalid_request_error", "Your credit balance is too low to access the API."),
            "billing",
        ),
    ],
)
async def test_a_quota_that_is_used_up_ends_at_once(protocol, status, body, remedy, server):
    error = await failure(protocol, server, json_reply(body, status))
    assert not error.retryable
    assert remedy in str(error)


def failed_response(code: str, message: str) -> bytes:
    response = {"status": "failed", "error": {"code": code, "message": message}}
    return sse({"type": "response.failed", "response": response}, "response.failed")


def failed_interaction(code: str, message: str) -> bytes:
    return sse({"event_type": "error", "error": {"code": code, "message": message}}, "error")


@pytest.mark.parametrize(
    ("protocol", "event", "retryable"),
    [
        ("responses", failed_response("rate_limit_exceeded", f"{RATE_TEXT} {BILLING_LINK}"), True),
        ("responses", failed_response("insufficient_quota", QUOTA_TEXT), False),
        ("interactions", failed_interaction("rate_limit_exceeded", QUOTA_TEXT), True),
        ("interactions", failed_interaction("quota_exceeded", QUOTA_TEXT), False),
        ("chat", sse(openai_error("insufficient_quota", QUOTA_TEXT)), False),
        ("chat", sse(openai_error("rate_limit_exceeded", RATE_TEXT)), True),
    ],
)
async def test_the_same_holds_in_the_middle_of_a_stream(protocol, event, retryable, server):
    error = await failure(protocol, server, reply(Say("Hello."), Raw(event)))
    assert error.retryable == retryable


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please try again in 1.2s. Visit https://platform.openai.com", 1.2),
        ("Please try again in 120ms.", 0.12),
        ("try again in 7m12s", 432),
        ("Try again in 1h2m3.5s", 3723.5),
        ("try again in 17 seconds", 17),
        ("try again in 2 minutes", 120),
        ("Try again in a while.", None),
        ("try again in 12345678901234567890s", None),
    ],
)
@pytest.mark.parametrize(
    ("protocol", "event"),
    [
        ("responses", lambda text: failed_response("rate_limit_exceeded", text)),
        ("chat", lambda text: sse({"error": {"code": 429, "message": text}})),
        ("interactions", lambda text: failed_interaction("rate_limit_exceeded", text)),
    ],
)
async def test_a_delay_in_the_text_of_a_stream_counts_where_there_is_no_other(
    protocol, event, words, seconds, server
):
    error = await failure(protocol, server, reply(Say("Hello."), Raw(event(f"{RATE_TEXT} {words}"))))
    assert isinstance(error, RateLimitError)
    assert error.retry_after == (None if protocol == "interactions" else seconds)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after-ms": "250"}, 0.25),
        ({}, None),
    ],
)
def test_the_wait_is_read_in_every_form(headers, seconds):
    assert retry_delay(headers) == seconds


@pytest.mark.parametrize("zone", ["GMT", "-0000"])
def test_the_wait_may_be_given_as_a_date(zone, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
        wait = retry_delay({"retry-after": date.replace("GMT", zone)})
    finally:
        monkeypatch.undo()
        time.tzset()
    assert wait is not None
    assert 3000 < wait <= 3600
