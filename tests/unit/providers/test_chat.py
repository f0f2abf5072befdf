"""Servers that say they speak Chat Completions, and how differently they do."""

import json
from dataclasses import replace

import pytest

from agent_nb import Agent
from agent_nb._base.constants import EFFORTS
from agent_nb.core.errors import ProviderError
from agent_nb.core.messages import Text, Thinking, ToolCall, assistant, user
from agent_nb.providers import model
from tests.support.wire import Call, End, Raw, Say, Think, WireServer, reply
from tests.support.wire.cases import (
    CASE,
    RED_PNG,
    SEARCH,
    ask,
    collect,
    results_of,
    sent_back,
    sent_by,
    turn_of,
    two_turns,
    without_waits,
)
from tests.support.wire.framing import sse
from tests.support.wire.steps import Cut, Reply, problem

CHAT = CASE["chat"]
TWO_CALLS = (Call("search", {"q": "a"}, id="a"), Call("search", {"q": "b"}, id="b"))


def chunk(delta=None, **choice) -> Raw:
    return Raw(sse({"choices": [{"delta": delta, **choice}]}))


@pytest.mark.parametrize(
    "options",
    [{"no_index": True}, {"whole_arguments": True}, {"no_index": True, "whole_arguments": True}],
    ids=str,
)
async def test_calls_are_told_apart(server: WireServer, options):
    server.plan(reply(*TWO_CALLS, fragment=3, options=options))
    turn = await turn_of(CHAT.provider(server))
    assert [(call.id, json.loads(call.arguments)) for call in turn.message.tool_calls] == [
        ("a", {"q": "a"}),
        ("b", {"q": "b"}),
    ]


@pytest.mark.parametrize(
    ("named", "order"), [(False, "aaaabbbb"), (True, "aaaabbbb"), (True, "abababab")], ids=str
)
async def test_fragments_numbered_zero_find_their_call(server: WireServer, named: bool, order: str):
    def fragment(name: str, arguments: str, first: bool = False) -> Raw:
        head = {"id": name} if first or named else {}
        function = {"arguments": arguments, **({"name": "search"} if head else {})}
        return chunk({"tool_calls": [{"index": 0, **head, "function": function}]})

    parts = {name: iter(("", '{"q":', f'"{name}"', "}")) for name in "ab"}
    server.plan(reply(*(fragment(name, part := next(parts[name]), not part) for name in order)))
    found = (await turn_of(CHAT.provider(server))).message.tool_calls
    assert found == (ToolCall("a", "search", '{"q":"a"}'), ToolCall("b", "search", '{"q":"b"}'))


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource", "abort"])
async def test_an_answer_that_the_server_broke_off_is_tried_again(server: WireServer, reason: str):
    server.plan(reply(Say("Half of"), End(reason)), reply(Say("Whole.")))
    run = await Agent(without_waits(CHAT.provider(server))).run("Hello?")
    assert (run.reason, run.text) == ("end_turn", "Whole.")


async def test_the_context_window_ends_an_answer_of_mistral(server: WireServer):
    server.plan(reply(Say("Half of"), End("model_length")))
    assert (await turn_of(CHAT.provider(server))).stop == "max_tokens"


async def test_a_limit_is_sent_under_the_name_that_the_model_accepts(server: WireServer):
    server.may_refuse = True
    server.plan(*[reply(Say("Hello."))] * 2)
    for name in ("chat:gpt-6-sol", "chat:llama"):
        assert (await Agent(CHAT.provider(server, name, max_tokens=500)).run("Hello?")).text == "Hello."
    names = [name for request in server.requests for name in request.body if name.startswith("max_")]
    assert names == ["max_tokens", "max_completion_tokens", "max_tokens"]


async def test_a_long_description_of_a_tool_is_truncated(server: WireServer):
    request = ask(tools=(replace(SEARCH, description="Finds things. " * 100),))
    body = (await sent_by(CHAT.provider(server), server, request)).body
    sent = body["tools"][0]["function"]["description"]
    assert sent.startswith("Finds things. Finds")
    assert sent.endswith("…")


async def test_thinking_beside_an_empty_field_is_shown_and_sent_back(server: WireServer):
    server.plan(reply(chunk({"reasoning_content": "", "reasoning": "Hm."}), *TWO_CALLS), reply(Say("Done.")))
    turn = await two_turns(CHAT.provider(server))
    assert Thinking("Hm.") in turn.message.parts
    assert server.requests[1].body["messages"][2]["reasoning"] == "Hm."


async def test_an_error_in_the_form_of_older_servers_is_read(server: WireServer):
    event = {"object": "error", "message": "maximum context length is 4096 tokens", "code": 400}
    server.plan(reply(Say("Hm."), Raw(sse(event))))
    with pytest.raises(ProviderError) as caught:
        await collect(CHAT.provider(server))
    assert caught.value.too_long


async def test_a_call_without_an_id_gets_one(server: WireServer):
    call = {"function": {"name": "search", "arguments": {"q": 1}}}
    server.plan(reply(chunk({"tool_calls": [call]})))
    assert (await turn_of(CHAT.provider(server))).message.tool_calls == (
        ToolCall("call_0", "search", '{"q": 1}'),
    )


async def test_a_tool_turn_may_claim_to_have_stopped(server: WireServer):
    server.plan(reply(*TWO_CALLS, options={"finish_reason": "stop"}))
    assert (await turn_of(CHAT.provider(server))).stop == "tool_use"


async def test_odd_chunks_are_survived(server: WireServer):
    odd = [
        chunk(None),
        Raw(sse({"choices": None})),
        Raw(sse({})),
        chunk({"content": None, "tool_calls": None}),
    ]
    text = Raw(sse({"error": None, "choices": [{"delta": {"content": "Hello."}}]}))
    server.plan(reply(*odd, text, *odd))
    assert (await turn_of(CHAT.provider(server))).message.text == "Hello."


async def test_a_stream_may_end_without_done(server: WireServer):
    server.plan(reply(Say("Hello."), chunk({}, finish_reason="stop"), Cut()))
    assert (await turn_of(CHAT.provider(server))).stop == "end_turn"


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_thinking_goes_back_under_its_own_name(server: WireServer, field: str):
    server.plan(reply(Think("Hm, so."), *TWO_CALLS, options={"reasoning": field}), reply(Say("Done.")))
    await two_turns(CHAT.provider(server))
    sent = server.requests[1].body["messages"][2]
    assert sent[field] == "Hm, so."
    assert len({"reasoning", "reasoning_content"} & set(sent)) == 1
    assert ("reasoning_details" in sent) == (field == "reasoning")


async def test_deepseek_gets_the_field_even_when_empty(server: WireServer):
    body = await sent_back(CHAT.provider(server, "deepseek:"), server, *TWO_CALLS)
    assert body["messages"][2]["reasoning_content"] == ""


def detail(kind: str, index: int = 0, **fields) -> Raw:
    return chunk({"content": "", "reasoning_details": [{"type": kind, "index": index, **fields}]})


async def test_fragments_of_thinking_go_back_as_one_with_its_signature(server: WireServer):
    fragments = [
        detail("reasoning.text", text="Hm, ", format="anthropic-claude-v1"),
        detail("reasoning.text", text="so.\n", format="anthropic-claude-v1"),
        detail("reasoning.encrypted", 1, data="c2Vj", id="rs_1"),
        detail("reasoning.encrypted", 1, data="c2Vk", id="rs_2"),
    ]
    signature = {"type": "reasoning.text", "index": 0, "signature": "c2lnbmVk", "format": None}
    signed = chunk({"content": "I search.", "reasoning_details": [signature]})
    body = await sent_back(CHAT.provider(server), server, *fragments, signed, *TWO_CALLS)
    thinking = {"text": "Hm, so.\n", "format": "anthropic-claude-v1", "signature": "c2lnbmVk"}
    assert body["messages"][2]["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, **thinking},
        {"type": "reasoning.encrypted", "index": 1, "data": "c2Vj", "id": "rs_1"},
        {"type": "reasoning.encrypted", "index": 1, "data": "c2Vk", "id": "rs_2"},
    ]


@pytest.mark.parametrize(
    "error", [{"error": {"code": 502, "message": "Provider returned error"}}, {}], ids=str
)
async def test_an_error_next_to_choices_may_be_tried_again(server: WireServer, error):
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
    server.plan(reply(Say("Half an an"), Raw(sse({"id": "c1", **error, "choices": [choice]})), Cut()))
    with pytest.raises(ProviderError, match="OpenRouter failed") as caught:
        await collect(CHAT.provider(server))
    assert caught.value.retryable


async def test_comments_and_then_nothing_is_a_cut(server: WireServer):
    comments = b": OPENROUTER PROCESSING\n\n" * 3
    server.plan(Reply(headers={"content-type": "text/event-stream"}, body=comments))
    with pytest.raises(ProviderError, match="broke off") as caught:
        await collect(CHAT.provider(server))
    assert caught.value.retryable


async def test_content_may_be_a_list_of_blocks(server: WireServer):
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm, so."}]}
    text = {"type": "text", "text": "Hello."}
    reference = {"type": "reference", "reference_ids": [1]}
    server.plan(
        reply(chunk({"content": [thinking]}), chunk({"content": [text, reference]}), Say(" More.")),
        reply(Say("Done.")),
    )
    provider = CHAT.provider(server)
    turn = await turn_of(provider)
    assert turn.message.parts == (Thinking("Hm, so."), Text("Hello. More."))
    await turn_of(provider, ask(user("Hello?"), turn.message, user("Well?")))
    assert server.requests[1].body["messages"][2] == {"role": "assistant", "content": "Hello. More."}


async def test_user_messages_in_a_row_are_sent_as_one(server: WireServer):
    server.plan(reply(Say("Red.")))
    await turn_of(
        CHAT.provider(server), ask(user("Hello?"), user("A page."), user("Like this", RED_PNG), user())
    )
    _, message = server.requests[0].body["messages"]
    assert [block.get("text") for block in message["content"]] == ["Hello?\nA page.", "Like this", None]


async def test_deepseek_gets_every_id_once(server: WireServer):
    call = Call("search", {"q": 1}, id="call_0")
    server.plan(reply(call), reply(call), reply(Say("Done.")))
    provider = CHAT.provider(server, "deepseek:")
    conversation = [user("Hello?")]
    for _ in range(2):
        turn = await turn_of(provider, ask(*conversation))
        conversation += [turn.message, results_of(turn)]
    await turn_of(provider, ask(*conversation))
    first, answer, second, last_answer = server.requests[2].body["messages"][2:]
    assert first["tool_calls"][0]["id"] == answer["tool_call_id"] == "call_0"
    assert second["tool_calls"][0]["id"] == last_answer["tool_call_id"] != "call_0"


@pytest.mark.parametrize("effort", EFFORTS)
async def test_mistral_gets_its_own_ids_order_and_efforts(server: WireServer, effort: str):
    server.plan(reply(*TWO_CALLS), reply(Say("Red.")))
    provider = CHAT.provider(server, "chat:mistral-medium-latest", effort=effort)
    question = user("What colour?", RED_PNG)
    turn = await turn_of(provider, ask(question))
    silent = assistant(Thinking("Hm."))
    answers = results_of(turn, images=(RED_PNG,))
    await turn_of(provider, ask(question, turn.message, answers, silent, user("Well?")))
    roles = [message["role"] for message in server.requests[1].body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user"]


@pytest.mark.parametrize(
    ("vendor", "refusal", "refused"),
    [
        ("ollama", '"llama3.2" does not support thinking', "reasoning_effort"),
        ("chat", "Extra inputs are not permitted: body.stream_options", "stream_options"),
        ("vllm", "Unknown field: chat_template_kwargs", "chat_template_kwargs"),
        ("deepseek", "thinking: unknown field", "thinking"),
        ("openrouter", "Reasoning is not supported: 'reasoning.effort'", "reasoning"),
    ],
)
async def test_what_a_server_refuses_is_left_out(server: WireServer, vendor: str, refusal: str, refused: str):
    server.plan(problem(400, refusal), reply(Say("Hello.")))
    run = await Agent(CHAT.provider(server, f"{vendor}:m", effort="high")).run("Hello?")
    assert (run.reason, run.text) == ("end_turn", "Hello.")
    assert [refused in request.body for request in server.requests] == [True, False]


@pytest.mark.parametrize(
    ("vendor", "effort", "expected"),
    [
        ("openrouter", "high", {"reasoning": {"effort": "high"}}),
        ("deepseek", "high", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("deepseek", "xhigh", {"reasoning_effort": "xhigh"}),  # it maps efforts itself
        ("ollama", "high", {"reasoning_effort": "high"}),
        ("vllm", "high", {"chat_template_kwargs": {"enable_thinking": True}, "reasoning_effort": "high"}),
    ],
)
async def test_effort_in_each_servers_words(server: WireServer, vendor: str, effort: str, expected):
    body = (await sent_by(CHAT.provider(server, f"{vendor}:m", effort=effort, top_k=5), server)).body
    assert {key: body[key] for key in expected} == expected
    assert body["top_k"] == 5


async def test_images_of_results_follow_in_a_user_message(server: WireServer):
    server.plan(reply(*TWO_CALLS), reply(Say("Red.")))
    provider = CHAT.provider(server)
    question = user("What colour?", RED_PNG)
    turn = await turn_of(provider, ask(question))
    await turn_of(provider, ask(question, turn.message, results_of(turn, images=(RED_PNG,)), user("Well?")))
    roles = [message["role"] for message in server.requests[1].body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    images = server.requests[1].body["messages"][5]["content"]
    assert [block["type"] for block in images] == ["text", "image_url", "text", "image_url", "text"]


@pytest.mark.parametrize(("vendor", "sent"), [("openrouter", True), ("deepseek", False), ("ollama", False)])
async def test_made_images_go_to_those_who_see(server: WireServer, vendor: str, sent: bool):
    body = await sent_back(CHAT.provider(server, f"{vendor}:m"), server, *TWO_CALLS, images=(RED_PNG,))
    assert ("image_url" in str(body["messages"])) is sent


async def test_openais_account_stays_with_openai(server: WireServer, monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "private-to-openai")
    request = await sent_by(model("chat:m", base_url=server.base_url("chat")), server)
    assert "private-to-openai" not in str(request.headers)


async def test_own_headers_are_sent(server: WireServer):
    request = await sent_by(CHAT.provider(server, headers={"X-Title": "A notebook"}), server)
    assert request.headers["x-title"] == "A notebook"
