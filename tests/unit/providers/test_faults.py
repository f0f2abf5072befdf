"""What goes wrong on the way: each fault is one readable sentence, and says whether to try again."""

import logging
import traceback

import pytest

from agent_nb.core.errors import ProviderError
from tests.support.wire import (
    BadJson,
    Cut,
    ErrorEvent,
    Event,
    Hold,
    Reply,
    Say,
    Think,
    WireServer,
    json_reply,
    page,
    problem,
    reply,
)
from tests.support.wire.cases import CASES, CLOUD_CASES, KEY, Case, collect

# The clouds share the code of their protocols, so only `make test-wide` tries all of this on them.
CLOUDS = [pytest.param(case, marks=pytest.mark.wide) for case in CLOUD_CASES]
pytestmark = pytest.mark.parametrize("case", [*CASES, *CLOUDS], ids=str)


async def failure(case: Case, server: WireServer, planned: Reply, **settings) -> ProviderError:
    server.plan(planned)
    with pytest.raises(ProviderError) as caught:
        await collect(case.provider(server, **settings))
    assert len(server.requests) == 1, "the SDK tried again by itself"
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("planned", "says"),
    [
        *((reply(Cut(how)), "broke off") for how in ("eof", "fin", "rst")),
        *((reply(Say("Hello."), Cut(how)), "broke off") for how in ("eof", "fin", "rst")),
        (Reply(headers={"content-type": "text/event-stream"}, body=b""), "broke off"),
        (reply(Say("Hello."), BadJson()), "not valid JSON"),
        (reply(Say("Hello."), Event("[" * 100_000)), "not valid JSON"),
        (reply(Say("Hello."), ErrorEvent(529, "Overloaded, come back later")), "Overloaded, come back later"),
    ],
)
async def test_a_broken_stream_may_be_tried_again(case: Case, server: WireServer, planned: Reply, says: str):
    error = await failure(case, server, planned)
    assert error.retryable
    assert says in str(error)


async def test_a_silent_stream_is_given_up(case: Case, server: WireServer):
    server.plan(reply(Say("Hello."), Hold()))
    provider = case.provider(server)
    provider.silence = 0.1
    with pytest.raises(ProviderError, match="sent nothing") as caught:
        await collect(provider)
    assert caught.value.retryable
    await server.requests[0].closed.wait()


async def test_an_answer_that_never_begins_is_given_up(case: Case, server: WireServer):
    server.plan(Reply(silent=True))
    with pytest.raises(ProviderError, match="sent nothing") as caught:
        await collect(case.provider(server, silence=0.1))
    assert caught.value.retryable


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", "text/event-stream"])
async def test_a_web_page_points_to_the_base_url(case: Case, server: WireServer, content_type: str):
    error = await failure(case, server, page(content_type=content_type))
    if "html" in content_type or case.shows_pages:
        assert not error.retryable
        assert "`base_url`" in str(error)
        assert "web page" in str(error)


async def test_a_json_error_with_status_200_is_told(case: Case, server: WireServer):
    body = b'{"error": {"code": 400, "message": "The model is resting", "status": "INVALID_ARGUMENT"}}'
    error = await failure(case, server, Reply(headers={"content-type": "application/json"}, body=body))
    assert not error.retryable
    assert "The model is resting" in str(error)


async def test_a_json_error_with_status_200_is_tried_again_if_it_may_pass(case: Case, server: WireServer):
    problem = {"code": 529, "type": "overloaded_error", "message": "Overloaded"}
    if case.protocol == "anthropic_messages":
        del problem["code"]
    error = await failure(case, server, json_reply({"error": problem}))
    assert error.retryable


async def test_a_rate_limit_says_how_long(case: Case, server: WireServer):
    headers = {"retry-after-ms": "1500", "retry-after": "9"}
    error = await failure(case, server, problem(429, "Slow down", headers))
    assert error.retryable
    assert error.retry_after == 1.5
    assert "Slow down" in str(error)


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 529])
async def test_server_trouble_may_be_tried_again(case: Case, server: WireServer, status: int):
    error = await failure(case, server, problem(status, "Something broke"))
    assert error.retryable
    assert str(status) in str(error)


@pytest.mark.parametrize(("status", "word"), [(500, "false"), (400, "true")])
async def test_a_server_may_ask_to_retry_or_not(case: Case, server: WireServer, status: int, word: str):
    error = await failure(case, server, problem(status, "Not yet", {"x-should-retry": word}))
    assert error.retryable == (word == "true")


@pytest.mark.parametrize(
    ("status", "message", "remedy"),
    [
        (401, "Invalid API key", "api_key"),
        (403, "Not for you", "key"),
        (404, "The model `x` does not exist", "Check the model's name"),
        (404, "Not Found", "`base_url`"),
        (400, "prompt is too long: 250000 tokens > 200000 maximum", "start a new conversation"),
        (413, "Payload too large", "images"),
        (402, "Insufficient credits", "billing"),
        (400, "Unknown parameter: shoe_size", "Unknown parameter: shoe_size"),
    ],
)
async def test_a_refused_request_names_the_remedy(case: Case, server: WireServer, status, message, remedy):
    error = await failure(case, server, problem(status, message))
    assert not error.retryable
    assert remedy in str(error)
    assert message in str(error)


async def test_an_html_error_page_is_not_repeated(case: Case, server: WireServer):
    error = await failure(case, server, page(404))
    assert "<" not in str(error)
    assert "`base_url`" in str(error)


async def test_a_redirect_is_not_followed(case: Case, server: WireServer):
    away = Reply(status=307, headers={"location": f"http://127.0.0.1:{server.port}/elsewhere"}, body=b"")
    error = await failure(case, server, away)
    assert "elsewhere" in str(error)
    assert "`base_url`" in str(error)


async def test_nobody_there_names_the_address(case: Case, server: WireServer):
    await server.stop()
    provider = case.provider(server)
    with pytest.raises(ProviderError, match=f"127.0.0.1:{server.port}") as caught:
        await collect(provider)
    assert caught.value.retryable != provider.settings.vendor.local


async def test_a_strange_shape_is_one_sentence(case: Case, server: WireServer):
    error = await failure(
        case, server, reply(Event({"type": "content_block_delta", "choices": [7], "candidates": 7}), Cut())
    )
    assert str(error)


async def test_no_key_is_ever_shown(case: Case, server: WireServer, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []
    provider = case.provider(server)
    shown += [repr(provider), repr(provider.settings), str(vars(provider))]
    server.plan(
        problem(401, f"Incorrect API key provided: {KEY}"),
        reply(Think("Hm."), ErrorEvent(400, f"The key {KEY} is odd")),
        reply(Say("Fine.")),
    )
    for _ in range(2):
        with pytest.raises(ProviderError) as caught:
            await collect(provider)
        assert "•••" in str(caught.value)
        shown += traceback.format_exception(caught.value)
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
    shown += [repr(piece) for piece in await collect(provider)]
    shown += [record.getMessage() for record in caplog.records]
    assert not [text for text in shown if KEY in text]
