"""What is Anthropic's alone: thinking blocks, caching, eager arguments, models of several ages."""

import pytest

from agent_nb.core.errors import ProviderError
from agent_nb.core.messages import Message, ToolCall, ToolResult, assistant, user
from agent_nb.providers import model
from tests.support.wire import Call, End, Raw, Redacted, Say, Think, WireServer, reply
from tests.support.wire.cases import CASE, KEY, RED_PNG, ask, results_of, sent_back, sent_by, turn_of
from tests.support.wire.framing import sse

ANTHROPIC = CASE["anthropic_messages"]


async def test_blocks_come_back_in_order_and_unchanged(server: WireServer):
    steps = Think("Hm.", "sig-1"), Redacted("Emw+/="), Say("So."), Think("And?", "sig-2")
    call = Call("search", {"q": 1}, id="c")
    body = await sent_back(ANTHROPIC.provider(server), server, *steps, call, code="FAILED")
    _, answer, results = body["messages"]
    assert answer["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig-1"},
        {"type": "redacted_thinking", "data": "Emw+/="},
        {"type": "text", "text": "So."},
        {"type": "thinking", "thinking": "And?", "signature": "sig-2"},
        {"type": "tool_use", "id": "c", "name": "search", "input": {"q": 1}},
    ]
    assert results["content"][0]["is_error"] is True


async def test_thinking_is_asked_for_and_the_prompt_cached(server: WireServer):
    body = (await sent_by(ANTHROPIC.provider(server, effort="xhigh"), server)).body
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "xhigh"}
    assert body["cache_control"] == {"type": "ephemeral"}
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert body["tools"][0]["eager_input_streaming"] is True
    assert body["max_tokens"] == 128_000


def test_a_small_answer_leaves_no_budget():
    small = model("anthropic:claude-sonnet-4-5", api_key=KEY, max_tokens=1500).body(ask())
    assert "thinking" not in small
    larger = model("anthropic:claude-sonnet-4-5", api_key=KEY, max_tokens=4000, effort="max").body(ask())
    assert larger["thinking"]["budget_tokens"] < larger["max_tokens"]


async def test_results_of_one_turn_share_a_message(server: WireServer):
    server.plan(reply(Say("Done.")))
    calls = Message(
        role="assistant", parts=tuple(ToolCall(id=name, name="search", arguments="{}") for name in "ab")
    )
    parts = [Message(role="tool", parts=(ToolResult(call_id=name, name="search", text=""),)) for name in "ab"]
    await turn_of(ANTHROPIC.provider(server), ask(user("Hello?"), calls, *parts, user("And?")))
    messages = server.requests[0].body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "user"]
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["a", "b"]
    assert not any("content" in block for block in messages[2]["content"])


async def test_a_failed_result_with_an_image_is_accepted(server: WireServer):
    call = Call("search", {}, id="c")
    body = await sent_back(ANTHROPIC.provider(server), server, call, code="FAILED", images=(RED_PNG,))
    result = body["messages"][2]["content"][0]
    assert [block["type"] for block in result["content"]] == ["text", "image"]


async def test_blank_text_is_not_sent(server: WireServer):
    server.plan(reply(Say("  "), Call("search", {}, id="c")), reply(Say("Done.")))
    provider = ANTHROPIC.provider(server)
    turn = await turn_of(provider)
    await turn_of(provider, ask(user("", "Hello?"), turn.message, results_of(turn), assistant(" ")))
    messages = server.requests[1].body["messages"]
    assert [block.get("text") for block in messages[0]["content"]] == ["Hello?"]
    assert [block["type"] for block in messages[1]["content"]] == ["tool_use"]
    assert len(messages) == 3


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("pause_turn", "go_on"),
        ("model_context_window_exceeded", "max_tokens"),
        ("stop_sequence", "end_turn"),
        ("new", "end_turn"),
    ],
)
async def test_seldom_reasons_are_mapped(server: WireServer, reason: str, stop: str):
    server.plan(reply(Say("Hm."), End(reason)))
    assert (await turn_of(ANTHROPIC.provider(server))).stop == stop


async def test_an_end_without_a_reason_is_none(server: WireServer):
    server.plan(reply(Say("Hm."), Raw(sse({"type": "message_stop"}, "message_stop"))))
    with pytest.raises(ProviderError, match="wrong order") as caught:
        await turn_of(ANTHROPIC.provider(server))
    assert caught.value.retryable


async def test_arguments_that_come_whole_are_taken(server: WireServer):
    block = {"type": "tool_use", "id": "c", "name": "search", "input": {"q": "é"}}
    events = ({"type": "content_block_start", "content_block": block}, {"type": "content_block_stop"})
    server.plan(reply(*(Raw(sse({**event, "index": 0}, event["type"])) for event in events)))
    (call,) = (await turn_of(ANTHROPIC.provider(server))).message.tool_calls
    assert call.arguments == '{"q": "é"}'


SERVER_TOOL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}


async def test_a_paused_turn_comes_back_with_the_input_of_the_vendors_own_tool(server: WireServer):
    def event(kind: str, **fields) -> Raw:
        return Raw(sse({"type": kind, "index": 0, **fields}, kind))

    server.plan(
        reply(
            event("content_block_start", content_block=SERVER_TOOL),
            *(
                event("content_block_delta", delta={"type": "input_json_delta", "partial_json": text})
                for text in ("", '{"query": "ca', 'ts"}')
            ),
            event("content_block_stop"),
            End("pause_turn"),
        ),
        reply(Say("Done.")),
    )
    provider = ANTHROPIC.provider(server)
    turn = await turn_of(provider)
    await turn_of(provider, ask(user("Hello?"), turn.message))
    (block,) = server.requests[1].body["messages"][1]["content"]
    assert block == {**SERVER_TOOL, "input": {"query": "cats"}}


async def test_an_address_may_end_in_v1(server: WireServer):
    provider = ANTHROPIC.provider(server, base_url=server.base_url("responses"))
    assert (await sent_by(provider, server)).path == "/v1/messages"


async def test_a_token_from_the_environment_is_sent(server: WireServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-tests")
    request = await sent_by(model("anthropic:", base_url=server.base_url("anthropic_messages")), server)
    assert request.headers["authorization"] == "Bearer token-of-the-tests"
