"""Every exception class of every SDK ends as a `ProviderError`, which offers the models that may have been meant."""

import inspect
from importlib import import_module
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google.genai import errors as genai_errors
from google.genai._gaos.lib import compat_errors

from agent_nb import Agent
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import RunFinished
from agent_nb.providers import failure, model
from agent_nb.providers.streaming import VendorProvider
from tests.support.wire import Reply, WireServer, json_reply, problem
from tests.support.wire.cases import CASE, case_of

KEY = "sk-test-0123456789abcdef0123"
REQUEST = httpx2.Request("POST", "https://example.org/v1", headers={"authorization": f"Bearer {KEY}"})


def classes_of(module: Any) -> list[type[Exception]]:
    return [value for _, value in inspect.getmembers(module, inspect.isclass) if issubclass(value, Exception)]


STATUS_ERRORS = (openai.APIStatusError, anthropic.APIStatusError, compat_errors.APIStatusError)


def instance_of(kind: type[Exception]) -> Exception:
    """An exception of that class, made without its constructor, with the attributes that the SDK sets."""
    status = getattr(kind, "status_code", None)
    status = status if isinstance(status, int) else 500
    response = httpx2.Response(status, request=REQUEST, headers={"retry-after": "3"})
    made = kind.__new__(kind, "it failed")
    body = {"error": {"message": f"it failed with {KEY}"}}
    made.__dict__.update(message=f"it failed with {KEY}", request=REQUEST, type="x", code=None, body=None)
    if issubclass(kind, STATUS_ERRORS):
        made.__dict__.update(status_code=status, body=body, response=response)
    elif issubclass(kind, genai_errors.APIError):
        made.__dict__.update(code=status, status="X", details=body, response=response)
    elif issubclass(
        kind, openai.APIConnectionError | anthropic.APIConnectionError | compat_errors.APIConnectionError
    ):
        made.__cause__ = httpx2.ReadError(f"it failed with {KEY}")
    return made


def error_of(name: str, exc: Exception, **settings: Any) -> ProviderError:
    if type(exc).__module__ == genai_errors.__name__:
        settings["api"] = "generate_content"
    provider = model(name, api_key=KEY, **settings)
    assert isinstance(provider, VendorProvider)
    return provider.error(exc)


SDKS = [
    ("openai:m", import_module("openai._exceptions")),
    ("anthropic:m", import_module("anthropic._exceptions")),
    ("gemini:m", compat_errors),
    ("gemini:m", genai_errors),
    ("openai:m", httpx2),
]
EVERY = [
    pytest.param(name, kind, id=f"{kind.__module__}-{kind.__name__}")
    for name, module in SDKS
    for kind in classes_of(module)
]


@pytest.mark.parametrize(("name", "kind"), EVERY)
def test_every_sdk_exception_is_mapped(name, kind):
    error = error_of(name, instance_of(kind))
    assert isinstance(error, ProviderError)
    assert str(error)
    assert KEY not in str(error)
    assert "\n" not in str(error)
    expected = kind.__name__ in UNREAD and kind is not genai_errors.APIError
    assert ("could not be read" in str(error)) == expected, f"{kind.__name__}: {error}"


UNREAD = {
    # Never raised by a streamed request: base classes, web sockets, web hooks, workload identity,
    # helpers we do not use, and misuse of the client.
    *("OpenAIError", "AnthropicError", "GeminiNextGenAPIClientError", "GenAiError"),
    *("APIError", "APIResponseValidationError", "APIWebhookValidationError", "ResponseValidationError"),
    *("RetryableError", "LengthFinishReasonError", "ContentFilterFinishReasonError"),
    *("InvalidWebhookSignatureError", "SubjectTokenProviderError", "WebSocketConnectionClosedError"),
    *("WebSocketQueueFullError", "NoResponseError", "UnknownFunctionCallArgumentError"),
    *("UnsupportedFunctionError", "FunctionInvocationError", "ExperimentalWarning"),
    *("ContinuationInterruptedError", "CookieConflict"),
}


def test_an_address_that_cannot_be_asked_is_not_retried():
    assert not error_of("openai:m", instance_of(httpx2.UnsupportedProtocol)).retryable


def test_a_wrapped_network_error_shows_its_cause():
    exc = openai.APIConnectionError(request=REQUEST)
    exc.__cause__ = httpx2.ConnectError("Name or service not known")
    error = error_of("openai:m", exc, base_url="https://nowhere.example")
    assert "https://nowhere.example" in str(error)
    assert "Name or service not known" in str(error)


def test_a_local_server_that_is_off_is_not_retried():
    error = failure.from_network(model("ollama:m").settings, httpx2.ConnectError("refused"))
    assert not error.retryable
    assert "Start Ollama" in str(error)


TOO_LONG = [
    ("openai:gpt-6.1-sol", "Your input exceeds the context window of this model.", None),
    ("anthropic:claude-opus-5-5", "prompt is too long: 200679 tokens > 199999 maximum", 199_999),
    (
        "anthropic:claude-opus-4-1",
        "input length and `max_tokens` exceed context limit: 9 + 8 > 200000",
        200_000,
    ),
    (
        "gemini:x",
        "The input token count (2) exceeds the maximum number of tokens allowed (1048576).",
        1_048_576,
    ),
    ("openrouter:x/y", "This endpoint's maximum context length is 32768 tokens. However, you", 32_768),
    ("vllm:x", "This model's maximum context length is 10000 tokens.", 10_000),
    ("chat:x", "Prompt contains 4 tokens, too large for model with 32768 maximum context length", 32_768),
    ("llamacpp:x", "request (4390 tokens) exceeds the available context size (4096 tokens), try", 4_096),
    ("lmstudio:x", "Cannot truncate prompt with n_keep (4270) >= n_ctx (4096)", 4_096),
    (
        "lmstudio:x",
        "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with"
        " context length of only 32768 tokens, which is not enough.",
        32_768,
    ),
]
CODES = {
    "openai:gpt-6.1-sol": "context_length_exceeded",
    "llamacpp:x": "exceed_context_size_error",
    "chat:x": "3051",
}


@pytest.mark.parametrize(
    ("name", "message", "window", "status"),
    [*((*row, 400) for row in TOO_LONG), ("llamacpp:x", "Context size has been exceeded.", None, 500)],
)
def test_each_vendor_says_in_its_own_words_that_a_request_is_too_long(name, message, window, status):
    settings = model(name, api_key=KEY, base_url="http://127.0.0.1:9/v1").settings
    error = failure.from_status(settings, status, message, body={"code": CODES.get(name, "")})
    assert error.too_long
    assert error.window == window
    assert not error.retryable
    assert "larger context window" in str(error)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (429, "Request too large for gpt-4o: limit 30000 tokens per min (TPM), requested 41000 > 30000."),
        (413, "Request exceeds the maximum size"),
        (400, "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64."),
        (400, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"),
    ],
)
def test_other_limits_are_not_the_context_window(status: int, message: str):
    settings = model("openai:gpt-4o", api_key=KEY).settings
    assert not failure.from_status(settings, status, message).too_long


def test_a_refusal_that_comes_instead_of_a_stream_is_recognized():
    settings = model("llamacpp:x", base_url="http://127.0.0.1:9/v1").settings
    body = '{"error": {"message": "the request exceeds the available context size."}}'
    assert failure.not_an_api(settings, body).too_long


def test_a_refused_key_names_its_variable_and_the_command_for_another(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    refused = failure.from_status(model("anthropic:claude-opus-5-5").settings, 401, "invalid x-api-key")
    assert str(refused) == (
        "Anthropic refused the key: invalid x-api-key. Check `ANTHROPIC_API_KEY`."
        " In a notebook, `%agent key anthropic` asks for another."
    )


@pytest.mark.parametrize("code", ["mismatched_organization", "invalid_organization", "mismatched_project"])
def test_a_refused_organization_is_not_blamed_on_the_key(code: str):
    settings = model("openai:gpt-6.1-sol", api_key=KEY).settings
    message = "OpenAI-Organization header should match organization for API key"  # openai/codex#1000
    refused = failure.from_status(settings, 401, message, body={"code": code})
    assert "OPENAI_ORG_ID" in str(refused)
    assert "refused the key" not in str(refused)


FILTERED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."


# stanford-crfm/helm#3327; ResponseError.code of the SDK
@pytest.mark.parametrize("code", ["content_filter", "bio_policy", "image_content_policy_violation"])
async def test_a_prompt_that_a_policy_forbids_is_a_refusal(code: str, server: WireServer):
    server.plan(json_reply({"error": {"message": FILTERED, "param": "prompt", "code": code}}, 400))
    run = await Agent(case_of("openai").provider(server)).run("Hello?")
    assert run.reason == "refusal"
    assert FILTERED in (run.error or "")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (500, "Your server at http://127.0.0.1:9/v1 failed (500): Oops. Try again in a while."),
        (401, "Your server at http://127.0.0.1:9/v1 refused the key: Oops. Pass an `api_key`."),
        (
            402,
            "There is no quota or credit left at your server at http://127.0.0.1:9/v1: Oops. Check its billing page.",
        ),
        (
            413,
            "The request is too large for your server at http://127.0.0.1:9/v1: Oops."
            " Send fewer or smaller images and PDFs.",
        ),
    ],
)
def test_a_server_without_a_name_is_named_by_its_address(status: int, sentence: str):
    settings = model("chat:m", base_url="http://127.0.0.1:9/v1").settings
    assert str(failure.from_status(settings, status, "Oops")) == sentence
    broken = str(failure.cut(settings))
    assert (
        broken == "The stream from your server at http://127.0.0.1:9/v1 broke off before its end. Try again."
    )


@pytest.mark.parametrize(
    ("status", "reason"), [(429, "Anthropic asks us to wait"), (529, "Anthropic is overloaded (529)")]
)
def test_a_retry_has_a_short_reason(status: int, reason: str):
    settings = model("anthropic:claude-opus-5-5", api_key="k").settings
    assert failure.from_status(settings, status, "Number of requests").reason == reason


def refused(status: int, error: dict[str, object], **beside: str) -> Reply:
    return json_reply({"error": error, **beside}, status)


OPENAI = {"type": "invalid_request_error", "param": "model", "code": "model_not_found"}


GOOGLE = (
    "models/{} is not found for API version v1, or is not supported for generateContent. Call ListModels to "
    "see the list of available models and their supported methods."
)


REFUSALS = {
    # skorokithakis/sysaidmin#9; BerriAI/litellm#39457 has the newer status
    ("responses", "openai:gpt-6.1-sool", "openai:gpt-6.1-sol"): [
        refused(400, {"message": "The requested model 'gpt-6.1-sool' does not exist.", **OPENAI}),
        refused(404, {"message": "The model `gpt-6.1-sool` does not exist.", **OPENAI}),
    ],
    # mattermost/mattermost-plugin-agents#257
    ("anthropic_messages", "anthropic:claude-opus-55", "anthropic:claude-opus-5-5"): [
        refused(404, {"type": "not_found_error", "message": "model: claude-opus-55"}, type="error")
    ],
    # continuedev/continue#9939; google-gemini/gemini-cli#7507
    ("generate_content", "gemini:gemini-4-argom", "gemini:gemini-4-argon"): [
        refused(404, {"code": 404, "message": GOOGLE.format("gemini-4-argom"), "status": "NOT_FOUND"}),
        refused(404, {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND"}),
    ],
    ("interactions", "gemini:gemini-4-argom", "gemini:gemini-4-argon"): [
        refused(404, {"code": "not_found", "message": "Requested entity was not found."})
    ],
    # MuiseDestiny/zotero-gpt#483
    ("chat", "openrouter:anthropic/claude-opus-55", "openrouter:anthropic/claude-opus-5.5"): [
        refused(400, {"message": "anthropic/claude-opus-55 is not a valid model ID", "code": 400})
    ],
    # deepwn/addi#13
    ("chat", "deepseek:deepseek-v4-prp", "deepseek:deepseek-v4-pro"): [
        refused(400, {"message": "Model Not Exist", "code": "invalid_request_error"})
    ],
}


"""By protocol, the model's name, and the one that was meant."""


async def ended(protocol: str, name: str, refusal: Reply) -> RunFinished:
    async with WireServer() as server:
        server.plan(refusal)
        provider = CASE[protocol].provider(server, name=name)
        run = await Agent(provider).run("A page")
        assert len(server.requests) == 1
    last = run.events[-1]
    assert isinstance(last, RunFinished)
    return last


@pytest.mark.parametrize(
    ("protocol", "name", "meant", "refusal"),
    [(*which, refusal) for which, refusals in REFUSALS.items() for refusal in refusals],
)
async def test_the_nearest_names_and_the_default_are_offered(
    protocol: str, name: str, meant: str, refusal: Reply
):
    end = await ended(protocol, name, refusal)
    assert meant in end.other_models
    assert end.error
    assert f"has no model {name.partition(':')[2]!r}" in end.error
    assert all(f"`{other}`" in end.error for other in end.other_models)
    assert len(set(end.other_models)) == len(end.other_models) <= 3


async def test_the_default_is_offered_if_no_name_is_near():
    end = await ended("responses", "openai:zzz", refused(404, {"message": "No model zzz", **OPENAI}))
    assert end.other_models == ("openai:gpt-6.1-sol",)


async def test_a_model_that_is_refused_is_not_offered_itself():
    end = await ended("responses", "openai:gpt-6.1-sol", refused(404, {"message": "No access", **OPENAI}))
    assert end.other_models
    assert "openai:gpt-6.1-sol" not in end.other_models


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize("refusal", [problem(404, "No such path"), problem(403, "This model is not for you")])
async def test_other_refusals_offer_none(name: str, refusal: Reply):
    case = case_of(name)
    assert (await ended(case.protocol, case.name, refusal)).other_models == ()
