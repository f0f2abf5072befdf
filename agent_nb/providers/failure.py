"""Maps vendor failures to exceptions with a one-sentence remedy and a retry flag."""

import difflib
import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.secrets import short_line
from agent_nb._base.wire import parse_json
from agent_nb.core.errors import ModelNotFoundError, ProviderError, RateLimitError, RequestRefusedError
from agent_nb.providers.prices import listed_models
from agent_nb.providers.settings import IN_MEMORY, Settings

Limit = Literal["rate", "credit", "period", "size"]
"""Requests per minute, no credit left, a daily or weekly quota used up, a single request too large."""
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceeds? the context window"  # OpenAI
    r"|prompt is too long|exceed context limit"  # Anthropic
    r"|input token count.{0,40}exceeds the maximum"  # Gemini
    r"|maximum context length"  # OpenAI's older models, OpenRouter, vLLM, Mistral, DeepSeek
    r"|exceed_context_size|available context size|context size has been exceeded"  # llama.cpp, LM Studio
    r"|n_keep.{0,20}>= n_ctx|when context the overflows",  # LM Studio
    re.IGNORECASE,
)
_WINDOW = re.compile(
    r"> (\d+)|tokens allowed \((\d+)|context length is (\d+)|with (\d+) maximum context|context size \((\d+)"
    r"|n_ctx \((\d+)|length of only (\d+)"
)
"""The size of the context window, as quoted in such messages."""
_BAD_KEY = re.compile(
    r"api[ _]?key (not valid|expired|invalid)|invalid (x-)?api[ _-]?key|incorrect api key", re.IGNORECASE
)
_BAD_ACCOUNT = re.compile(r"\b(invalid|mismatched|incorrect)_(organization|project)\b")
"""OpenAI's codes. Its SDK sends the account that these variables name."""
_ACCOUNT_VARIABLES = "`OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`, and that the key belongs to them"
_NO_MODEL = re.compile(
    r"model_not_found|requested model .{0,200} does not exist"  # OpenAI
    r"|is not a valid model|model not exist",  # OpenRouter, DeepSeek
    re.IGNORECASE,
)
"""Refusals of an unknown model with another status than 404."""
_DECLINED = re.compile(r"\b(content_filter|[a-z_]+_policy|[a-z_]*policy_violation)\b")
"""Codes of OpenAI and Azure for a prompt that a policy forbids."""
_MOST_MODELS = 3
_EXHAUSTED: dict[Limit, tuple[str, str]] = {
    "credit": ("There is no quota or credit left at {}", "Check its billing page."),
    "period": ("This quota at {} is used up", "Wait until it is renewed, or use another model."),
    "size": ("The request is larger than what {} takes in a minute", "Send less, or start a new run."),
}
"""Limits that a retry cannot overcome: description and remedy."""
_TRY_AGAIN = re.compile(
    r"try again in (?:(\d{1,4})h)?(?:(\d{1,4}) ?m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?) ?(ms|s))?", re.IGNORECASE
)
"""`6.379s`, `7m12s`, `120ms`, `17 seconds`."""
_IDENTITY_MODULES = ("azure.", "google.auth.", "botocore.")
"""Modules of exceptions about a cloud's credentials."""
_RETRY_STATUSES = (408, 409, 425, 429)
_LONGEST_MESSAGE = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """Recognises a limit by its refusal. All fields that are set must match."""

    limit: Limit
    codes: str = ""
    message: str = ""
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
    # Anthropic: a limit per month or contract, without `retry-after`. https://docs.claude.com/en/api/rate-limits
    _Rule(limit="credit", codes=r"^(enforced|contract)_spend_limit_reached$"),
    # OpenRouter, DeepSeek, Anthropic's `billing_error` and Gemini's `payment_required`.
    _Rule(limit="credit", statuses=(402,)),
    # Gemini's Interactions: a quota per day; `rate_limit_exceeded` is one per minute.
    _Rule(limit="period", codes=r"^quota_exceeded$"),
    # Gemini's generateContent and Vertex. They also send a `retryDelay` of seconds, but retrying does not help.
    # https://ai.google.dev/gemini-api/docs/rate-limits
    _Rule(limit="period", codes=r"PerDay"),
    # OpenRouter's free models, Ollama's cloud. https://openrouter.ai/docs/api-reference/limits
    _Rule(limit="period", message=r"free-models-per-day|(daily|weekly) usage limit", statuses=(429,)),
    # OpenAI: one request that is larger than the tokens per minute, under the code of a rate limit.
    _Rule(limit="size", message=r"request too large .*tokens per min", statuses=(429,)),
    # Every vendor, also within a stream, where there is no status. OpenAI's message may link to its billing page
    # even so: https://github.com/openai/codex/issues/797
    _Rule(limit="rate", codes=r"^rate_limit"),
    # Anthropic: an empty balance and a spending limit are bad requests, recognisable only by their wording.
    # https://docs.claude.com/en/api/errors
    _Rule(
        limit="credit",
        message=r"credit balance|specified api usage limits|billing|insufficient balance|current quota",
        statuses=(400, 403),
    ),
    _Rule(limit="rate", statuses=(429,)),
)


def is_declined(problem: ProviderError) -> bool:
    """Whether a policy forbids the prompt, which is a refusal and no failure."""
    return isinstance(problem, RequestRefusedError) and bool(_DECLINED.search(problem.refusal))


def codes_in(body: Any) -> list[str]:
    """The codes and quota ids in an error body of any vendor."""
    error = _error_in(body)
    codes = [str(error[name]) for name in ("code", "type", "status", "param") if error.get(name)]
    match error.get("details"):
        case {"error_code": str(code)}:  # Anthropic
            codes.append(code)
    for detail in _google_details(body):
        match detail:
            case {"violations": [*violations]}:
                codes += [str(item.get("quotaId")) for item in violations if isinstance(item, Mapping)]
            case {"metadata": {"quota_limit": str(quota_limit)}}:
                codes.append(quota_limit)
    return codes


def retry_delay(headers: Mapping[str, str], body: Any = None) -> float | None:
    """Seconds to wait before a retry, from the headers or the error details."""
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    after = headers.get("retry-after", "")
    if (seconds := _number(after)) is not None or (seconds := _seconds_until(after)) is not None:
        return seconds
    delays = (
        _number(str(detail.get("retryDelay", "")).removesuffix("s")) for detail in _google_details(body)
    )
    return next((delay for delay in delays if delay is not None), None)


def retry_header(problem: Any) -> dict[str, str]:
    """The header `retry-after` for an error inside a stream that gives the delay only in its text."""
    match = _TRY_AGAIN.search(message_in(problem))
    if match is None or not any(match.groups()):
        return {}
    hours, minutes, seconds = (float(number or 0) for number in match.group(1, 2, 3))
    is_milliseconds = (match[4] or "").lower() == "ms"
    return {"retry-after": str(hours * 3600 + minutes * 60 + seconds / (1000 if is_milliseconds else 1))}


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


def _seconds_until(date: str) -> float | None:
    """Seconds until an HTTP date; None if it is past, or no date."""
    try:
        moment = parsedate_to_datetime(date)
        # `-0000` is UTC as well, but has no time zone here and would be read as local time.
        seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - time.time()
    except (ValueError, OverflowError, OSError):
        return None
    return seconds if seconds > 0 else None


def from_status(
    settings: Settings,
    status: int,
    message: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
) -> ProviderError:
    """The exception for an HTTP status (or that of an error event) and the vendor's message."""
    headers = headers or {}
    line, codes = as_sentence(message), codes_in(body)
    # Vendors use the same status (429) and often the same words ("quota", "billing") for a temporary rate limit and
    # for an exhausted quota, so the codes decide.
    limit = next((rule.limit for rule in _RULES if rule.matches(status, codes, message)), None)
    status = 429 if limit == "rate" else status
    if limit is None and (refused := too_long(settings, message, " ".join(codes))):
        return refused
    refusal = " ".join((*codes, message))
    if limit is None and _is_unknown_model(status, refusal):
        return _no_model(settings, line, refusal)
    if remedy := _remedy(settings, status, refusal, limit):
        summary, advice = remedy
        sentence = f"{summary}: {line} {advice}" if line else f"{summary}. {advice}"
        return RequestRefusedError(sentence, refusal=refusal) if status == 404 else error(sentence)
    advised = headers.get("x-should-retry")  # by OpenAI and Anthropic; their SDKs obey it for every status
    if status in _RETRY_STATUSES or status >= 500 or advised == "true":
        why = {429: "is limiting the rate", 529: "is overloaded", 503: "is overloaded"}.get(status, "failed")
        return error(
            f"{_subject(settings)} {why} ({status}): {line} Try again in a while.",
            reason=f"{settings.title} {'asks us to wait' if status == 429 else f'{why} ({status})'}",
            kind=RateLimitError if status == 429 else ProviderError,
            retryable=advised != "false",
            wait=retry_delay(headers, body),
        )
    if 300 <= status < 400:
        where = headers.get("location", "another address")
        return error(f"{settings.server} redirects to {where}. Set `base_url` to the final address.")
    sentence = f"{_subject(settings)} refused the request ({status}): {line}"
    return RequestRefusedError(sentence, refusal=refusal)


def _remedy(settings: Settings, status: int, text: str, limit: Limit | None) -> tuple[str, str] | None:
    title = _subject(settings)
    credentials = "credentials" if settings.vendor.identity and not settings.api_key else "key"
    if status < 500 and _BAD_KEY.search(text):
        return f"{title} refused the {credentials}", _key_remedy(settings)
    if limit in _EXHAUSTED:
        summary, remedy = _EXHAUSTED[limit]
        return summary.format(settings.title), remedy
    if status >= 500:
        return None
    if status in (401, 403) and _BAD_ACCOUNT.search(text):
        return f"{title} refused the organization or project", f"Check {_ACCOUNT_VARIABLES}."
    return {
        401: (f"{title} refused the {credentials}", _key_remedy(settings)),
        403: (f"{title} does not allow this for your {credentials}", _key_remedy(settings)),
        404: (f"{settings.server} has no such address (404)", "Check `base_url` and the model's name."),
        413: (f"The request is too large for {settings.title}", "Send fewer or smaller images and PDFs."),
    }.get(status)


def _is_unknown_model(status: int, refusal: str) -> bool:
    if status >= 500 or _BAD_KEY.search(refusal) or refusal.lstrip().startswith("<"):
        return False
    # `not_found` is Google's code. Its URLs contain nothing but the model that could be missing.
    is_missing = status == 404 and re.search(r"model|\bnot_found\b", refusal, re.IGNORECASE)
    return bool(is_missing or _NO_MODEL.search(refusal))


def _no_model(settings: Settings, line: str, refusal: str) -> ModelNotFoundError:
    """The exception for a model that the vendor does not have, with suggestions."""
    vendor, model = settings.vendor, settings.model
    is_text_model = model != vendor.image_model
    names = [name for name in listed_models(vendor) if is_text_model and name != model]
    close_names = difflib.get_close_matches(model.lower(), names, n=_MOST_MODELS - 1)
    has_default = is_text_model and not vendor.local and vendor.recommended not in ("", model)
    default = [vendor.recommended] if has_default else []
    suggestions = [f"{vendor.name}:{name}" for name in dict.fromkeys((*close_names, *default))]
    remedy = f", or use {', '.join(f'`{name}`' for name in suggestions)}" if suggestions else ""
    sentence = f"{_subject(settings)} has no model {model!r}: {line} Check the model's name{remedy}."
    return ModelNotFoundError(sentence, refusal=refusal, other_models=suggestions)


def too_long(settings: Settings, message: str, codes: str = "") -> ProviderError | None:
    """The exception for a request larger than the context window; None if the message means something else."""
    if not _TOO_LONG.search(f"{codes} {message}"):
        return None
    sentence = (
        f"The conversation is too long for {settings.name!r}: {as_sentence(message)} Send less, start a "
        "new conversation, or name a model with a larger context window."
    )
    match = _WINDOW.search(message)
    window = int(match[match.lastindex or 0]) if match else None
    return ProviderError(sentence, too_long=True, window=window)


def from_sdk(settings: Settings, exc: Exception) -> ProviderError:
    """The exception for one raised by an SDK. In all SDKs, HTTP errors carry the status and the response body."""
    import httpx2

    if settings.vendor.identity and type(exc).__module__.startswith(_IDENTITY_MODULES):
        return no_credentials(settings, str(exc))
    # `code` and `details` are the names in Google's `generate_content`.
    status = getattr(exc, "status_code", None) or getattr(exc, "code", None)
    body = getattr(exc, "body", None) or getattr(exc, "details", None)
    if isinstance(status, int) and status >= 300:
        message = message_in(body) or str(getattr(exc, "message", ""))
        headers = getattr(getattr(exc, "response", None), "headers", None)
        return from_status(settings, status, message, headers=headers, body=body)
    network = (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError)
    for cause in (exc, exc.__cause__):
        if isinstance(cause, network):
            return from_network(settings, cause)
    is_json = isinstance(exc, json.JSONDecodeError | RecursionError)
    return garbled(settings) if is_json else unexpected(settings, exc)


def no_credentials(settings: Settings, message: str) -> ProviderError:
    """The exception for a cloud whose library finds no credentials, or none that are valid."""
    vendor = settings.vendor
    key = f" or set `{vendor.key_variable}`" if vendor.keys else ""
    remedy = vendor.identity.remedy if vendor.identity else ""
    return error(
        f"There are no credentials for {settings.title}: {as_sentence(message)} Run `{remedy}`{key}."
    )


def from_network(settings: Settings, exc: BaseException | None) -> ProviderError:
    import httpx2

    match exc:
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.ProxyError():
            return _unreachable(settings, exc)
        case httpx2.InvalidURL() | httpx2.UnsupportedProtocol() | httpx2.TooManyRedirects():
            return error(f"{settings.server} cannot be used: {as_sentence(str(exc))} Check `base_url`.")
        case httpx2.TimeoutException():
            return error(
                f"{_subject(settings)} sent nothing for too long. Try again, or allow more with `silence`.",
                reason=f"{settings.title} sent nothing for too long",
                retryable=True,
            )
        case httpx2.DecodingError():
            return garbled(settings, "UTF-8")
        case _:
            return cut(settings)


def cut(settings: Settings) -> ProviderError:
    message = f"The stream from {settings.title} broke off before its end. Try again."
    return error(message, reason="the stream broke off", retryable=True)


def garbled(settings: Settings, expected: str = "JSON") -> ProviderError:
    reason = f"{_subject(settings)} sent an event that is not valid {expected}"
    return error(f"{reason}. Try again.", reason=reason, retryable=True)


def disordered(settings: Settings) -> ProviderError:
    """The exception for contradictory events: repeated or out of order."""
    reason = f"{_subject(settings)} sent events twice or in the wrong order"
    return error(f"{reason}. Try again.", reason=reason, retryable=True)


def unexpected(settings: Settings, exc: BaseException, *, retryable: bool = False) -> ProviderError:
    """The exception for unmapped failures, such as an answer of an unknown shape."""
    return error(
        f"The answer of {settings.title} could not be read ({type(exc).__name__}): {as_sentence(str(exc))}",
        retryable=retryable,
    )


def not_an_api(settings: Settings, body: str) -> ProviderError:
    """The exception for a 200 response with a web page or a JSON object instead of an event stream."""
    text = body.lstrip("\ufeff \t\r\n")
    if text.startswith("<"):
        return error(f"{settings.server} answered with a web page: not an API answer; check `base_url`.")
    if message := message_in(parse_json(text)):
        return too_long(settings, message) or error(
            f"{_subject(settings)} answered with an error instead of a stream: {as_sentence(message)}"
        )
    start = repr(text[:80]) if text else "nothing"
    return error(f"{settings.server} answered {start} instead of a stream of events; check `base_url`.")


def error(
    message: str,
    *,
    kind: type[ProviderError] = ProviderError,
    reason: str = "",
    retryable: bool = False,
    wait: float | None = None,
) -> ProviderError:
    failure = kind(message, retryable=retryable, retry_after=wait)
    failure.reason = reason or failure.reason
    return failure


def message_in(body: Any) -> str:
    match body:
        case {"error": {"message": str(message)}} | {"error": str(message)} | {"message": str(message)}:
            return message
        case {"detail": str(message)}:
            return message
        case [first, *_]:
            return message_in(first)
        # Validators list the fields that they refuse.
        case {"error": inner} | {"detail": inner} | {"message": inner} if inner:
            return json.dumps(inner)
        case str():
            return body
        case _:
            return ""


def as_sentence(text: str) -> str:
    if text.lstrip().startswith("<"):
        text = "it answered with a web page"
    line = short_line(text, _LONGEST_MESSAGE)
    return line if not line or line.endswith((".", "!", "?", "…")) else f"{line}."


def _unreachable(settings: Settings, exc: BaseException) -> ProviderError:
    reason = as_sentence(str(exc) or type(exc).__name__)
    server, is_local = settings.server, settings.vendor.local
    if IN_BROWSER:  # it reports a server that is down and one that refuses web pages alike
        summary = f"The browser gets no answer from {server}"
        remedy = (
            "The server there must be running and allow requests from this page's origin (CORS)."
            if is_local
            else "Either there is no network, or it takes no requests from web pages. Try again, or use another vendor."
        )
    elif is_local:
        summary, remedy = f"Nothing answers at {server}", f"Start {settings.vendor.title} or set `base_url`."
    else:
        summary, remedy = f"{server} cannot be reached", "Check the network and `base_url`."
    return error(f"{summary}: {reason} {remedy}", reason=summary, retryable=not is_local)


def _key_remedy(settings: Settings) -> str:
    if settings.key_variable == IN_MEMORY:
        return f"Enter another with `%agent key {settings.vendor.name}`."
    if settings.key_variable:
        command = f"`%agent key {settings.vendor.name}`"
        return f"Check `{settings.key_variable}`. In a notebook, {command} asks for another."
    if settings.vendor.identity and not settings.api_key:
        return f"Check your permissions, or run `{settings.vendor.identity.remedy}`."
    variable = f", or set `{settings.vendor.key_variable}`" if settings.vendor.keys else ""
    return (
        f"Check the `api_key` you passed{variable}." if settings.api_key else f"Pass an `api_key`{variable}."
    )


def _subject(settings: Settings) -> str:
    """The vendor's title as the first word of a sentence; names such as `vLLM` keep their spelling."""
    return re.sub("^your", "Your", settings.title)
