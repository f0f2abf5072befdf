"""What is OpenAI's alone: reasoning, refusals, errors inside the stream."""

import json
from dataclasses import replace

import pytest

from agent_nb.core.errors import ProviderError
from agent_nb.core.messages import ToolSpec, user
from tests.support.wire import Raw, Refuse, Say, WireServer, reply
from tests.support.wire.cases import CASE, ask, collect, results_of, sent_back, sent_by, turn_of
from tests.support.wire.framing import sse
from tests.support.wire.steps import Call, Cut, End, Think

OPENAI = CASE["responses"]


async def test_nothing_is_stored_at_the_vendor(server: WireServer):
    body = (
        await sent_by(OPENAI.provider(server, effort="high", max_tokens=500, service_tier="flex"), server)
    ).body
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["reasoning"] == {"effort": "high", "summary": "auto"}
    assert body["max_output_tokens"] == 500
    assert body["service_tier"] == "flex"
    assert body["instructions"] == "Be brief."


@pytest.mark.parametrize("name", ["gpt-4o", "gpt-4.1", "gpt-5-chat-latest"])
async def test_models_that_do_not_reason_can_go_on_after_one_that_does(server: WireServer, name: str):
    server.plan(reply(Think("Hm."), Say("I search."), Call("search", {"q": 1})), reply(Say("Done.")))
    turn = await turn_of(OPENAI.provider(server))
    provider = replace(OPENAI, name=f"openai:{name}").provider(server, effort="high")
    await turn_of(provider, ask(user("Hello?"), turn.message, results_of(turn)))
    _, message, call, _ = server.requests[1].body["input"]
    assert (message["content"][0]["text"], call["name"]) == ("I search.", "search")


async def test_reasoning_goes_back_before_what_it_led_to(server: WireServer):
    steps = Think("Hm."), Think("So."), Say("I search."), Call("search", {"q": 1})
    body = await sent_back(OPENAI.provider(server), server, *steps)
    assert [item.get("type") for item in body["input"][1:]] == [
        "reasoning",
        "reasoning",
        "message",
        "function_call",
        "function_call_output",
    ]


async def test_thinking_that_was_cut_does_not_go_back(server: WireServer):
    server.plan(reply(Say("I think."), Think("Hm, hm."), End("max_tokens")), reply(Say("Done.")))
    provider = OPENAI.provider(server)
    turn = await turn_of(provider)
    await turn_of(provider, ask(user("Hello?"), turn.message, user("Go on.")))
    assert [item.get("type") for item in server.requests[1].body["input"]] == [None, "message", None]


async def test_a_call_that_was_cut_goes_back_as_valid_json(server: WireServer):
    started = {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "search", "arguments": ""}
    at = {"output_index": 1}
    body = await sent_back(
        OPENAI.provider(server),
        server,
        Think("Hm."),
        Raw(sse({"type": "response.output_item.added", **at, "item": started})),
        Raw(sse({"type": "response.function_call_arguments.delta", **at, "delta": '{"q": "ca'})),
        End("max_tokens"),
        text="Cut off.",
        code="INVALID_JSON",
    )
    _, call, output = body["input"]
    assert (call["name"], json.loads(call["arguments"])) == ("search", {"invalid_json": '{"q": "ca'})
    assert (call["call_id"], output["output"]) == ("c", "Cut off.")


async def test_a_tool_is_sent_as_not_strict(server: WireServer):
    """In strict mode every property would be required."""
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": []}
    tool = ToolSpec(name="search", description="Finds.", schema=schema)
    request = await sent_by(OPENAI.provider(server), server, ask(tools=(tool,)))
    sent = request.body["tools"][0]
    assert (sent["strict"], sent["parameters"]) == (False, schema)


@pytest.mark.parametrize("protocol", ["responses", "chat"])
async def test_a_refusal_is_data_with_its_words(server: WireServer, protocol: str):
    server.plan(reply(Refuse("I cannot help with that.")))
    turn = await turn_of(CASE[protocol].provider(server))
    assert (turn.stop, turn.detail) == ("refusal", "I cannot help with that.")
    assert protocol == "chat" or turn.message.text == "I cannot help with that."


def failed(code: str, message: str) -> Raw:
    response = {"id": "r", "status": "failed", "error": {"code": code, "message": message}, "output": []}
    return Raw(sse({"type": "response.failed", "response": response}))


async def test_a_policy_failure_is_a_refusal(server: WireServer):
    server.plan(reply(failed("bio_policy", "Not about that."), Cut()))
    turn = await turn_of(OPENAI.provider(server))
    assert (turn.stop, turn.detail) == ("refusal", "Not about that.")


@pytest.mark.parametrize(
    ("code", "retryable"), [("rate_limit_exceeded", True), ("server_error", True), ("invalid_prompt", False)]
)
async def test_a_failed_response_is_an_error(server: WireServer, code: str, retryable: bool):
    server.plan(reply(failed(code, "It went wrong."), Cut()))
    with pytest.raises(ProviderError, match=r"It went wrong\.") as caught:
        await collect(OPENAI.provider(server))
    assert caught.value.retryable == retryable


async def test_arguments_that_come_whole_are_taken(server: WireServer):
    item = {"type": "function_call", "id": "fc", "call_id": "c", "name": "search", "arguments": '{"q": 1}'}
    done = Raw(sse({"type": "response.output_item.done", "output_index": 7, "item": item}))
    server.plan(reply(done, Call("search", "{}")))
    turn = await turn_of(OPENAI.provider(server))
    assert turn.message.tool_calls[0].arguments == '{"q": 1}'


async def test_a_text_that_comes_whole_is_taken(server: WireServer):
    content = [{"type": "output_text", "text": "Hello.", "annotations": []}]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    server.plan(reply(Raw(sse({"type": "response.output_item.done", "output_index": 0, "item": item}))))
    assert (await turn_of(OPENAI.provider(server))).message.text == "Hello."


async def test_an_incomplete_answer_without_a_reason_was_cut(server: WireServer):
    response = {"status": "incomplete", "incomplete_details": None}
    server.plan(reply(Say("Half"), Raw(sse({"type": "response.incomplete", "response": response}))))
    assert (await turn_of(OPENAI.provider(server))).stop == "max_tokens"


async def test_an_error_event_says_how_long_to_wait(server: WireServer):
    event = {"type": "error", "code": "rate_limit_exceeded", "message": "Please try again in 1.2s."}
    server.plan(reply(Say("Hm."), Raw(sse(event))))
    with pytest.raises(ProviderError) as caught:
        await collect(OPENAI.provider(server))
    assert caught.value.retry_after == 1.2
