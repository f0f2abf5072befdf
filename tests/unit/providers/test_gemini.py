"""What is Gemini's alone: steps and parts with signatures, answers that go on, blocked prompts."""

import base64
import ssl

import pytest

from agent_nb import Agent
from agent_nb.core.errors import ProviderError
from agent_nb.core.messages import Message, Text, ToolCall, ToolResult, assistant, user
from agent_nb.providers.http import tls
from agent_nb.tools.file_tools import CREATE_FILE
from tests.support.wire import Call, End, Raw, Say, Think, WireServer, reply
from tests.support.wire.cases import (
    CASE,
    RED_PNG,
    ask,
    collect,
    results_of,
    sent_back,
    sent_by,
    turn_of,
    two_turns,
)
from tests.support.wire.framing import sse
from tests.support.wire.steps import Cut, Reply, problem

INTERACTIONS, GENERATE = CASE["interactions"], CASE["generate_content"]
SIGNATURE = "++++/z4/c2ln"


async def test_steps_come_back_in_order_and_unchanged(server: WireServer):
    steps = Think("Hm.", SIGNATURE), Say("So."), Call("search", {"q": 1}, id="c")
    body = await sent_back(INTERACTIONS.provider(server), server, *steps, code="FAILED")
    assert body["input"][1:] == [
        {"type": "thought", "signature": SIGNATURE, "summary": [{"type": "text", "text": "Hm."}]},
        {"type": "model_output", "content": [{"type": "text", "text": "So."}]},
        {"type": "function_call", "id": "c", "name": "search", "arguments": {"q": 1}},
        {
            "type": "function_result",
            "call_id": "c",
            "name": "search",
            "result": [{"type": "text", "text": "3 hits"}],
            "is_error": True,
        },
    ]


async def test_the_sdk_reads_no_certificates(server: WireServer, monkeypatch):
    """It would do so twice for each client, for connections that it does not open."""
    tls()
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: pytest.fail("read again"))
    for case in (INTERACTIONS, GENERATE):
        provider = case.provider(server)
        await provider.client()
        await provider.close()


async def test_nothing_is_stored_at_the_vendor(server: WireServer):
    body = (await sent_by(INTERACTIONS.provider(server, effort="max", max_tokens=500), server)).body
    assert body["store"] is False
    assert body["generation_config"] == {
        "thinking_summaries": "auto",
        "thinking_level": "high",
        "max_output_tokens": 500,
    }


def interaction_half(token: str) -> Raw:
    interaction = {"id": "i", "status": "requires_continuation", "continuation_token": token}
    return Raw(sse({"event_type": "interaction.completed", "interaction": interaction}))


def content_half(token: str) -> Raw:
    encoded = base64.b64encode(token.encode()).decode()
    return Raw(sse({"candidates": [{"finishReason": "CONTINUATION", "continuationToken": encoded}]}))


@pytest.mark.parametrize(
    ("case", "half", "field"),
    [(INTERACTIONS, interaction_half, "continuation_token"), (GENERATE, content_half, "continuationToken")],
    ids=str,
)
async def test_an_answer_cut_for_length_goes_on_by_its_token(case, half, field, server: WireServer):
    end = () if case is INTERACTIONS else (Cut(),)
    server.plan(
        reply(Say("First, "), half("one"), *end),
        reply(Say("second, "), half("two"), *end),
        reply(Say("third.")),
    )
    run = await Agent(case.provider(server)).run("Hello?")
    assert (run.reason, "".join(message.text for message in run.messages[1:])) == (
        "end_turn",
        "First, second, third.",
    )
    bodies = [request.body for request in server.requests]
    tokens = [body.get(field) for body in bodies]
    wire_form = str if case is INTERACTIONS else lambda text: base64.b64encode(text.encode()).decode()
    assert tokens == [None, wire_form("one"), wire_form("two")]
    assert bodies[0][case.messages] == bodies[1][case.messages] == bodies[2][case.messages]


@pytest.mark.parametrize("status", ["failed", "cancelled", "budget_exceeded"])
async def test_a_failed_interaction_is_an_error(server: WireServer, status: str):
    server.plan(reply(Say("Hm."), End(status)))
    with pytest.raises(ProviderError, match=status):
        await collect(INTERACTIONS.provider(server))


async def test_arguments_that_come_whole_are_taken(server: WireServer):
    step = {"type": "function_call", "id": "c", "name": "search", "arguments": {"q": "é"}}
    start = Raw(sse({"event_type": "step.start", "index": 0, "step": step}))
    end = Raw(sse({"event_type": "interaction.completed", "interaction": {"status": "requires_action"}}))
    server.plan(reply(start, end))
    assert (await turn_of(INTERACTIONS.provider(server))).message.tool_calls[0].arguments == '{"q": "é"}'


async def test_signed_parts_stay_alone(server: WireServer):
    def part(**fields):
        return Raw(sse({"candidates": [{"content": {"parts": [fields]}}]}))

    server.plan(
        reply(
            part(text="So "),
            part(text="far"),
            part(text=".", thoughtSignature=SIGNATURE),
            part(text=" More"),
            part(functionCall={"name": "search", "args": {}}, thoughtSignature=SIGNATURE),
            part(functionCall={"name": "search", "args": {}}),
            part(text="", thoughtSignature=SIGNATURE),
        ),
        reply(Say("Done.")),
    )
    turn = await two_turns(GENERATE.provider(server))
    sent = server.requests[1].body["contents"][1]["parts"]
    signature = base64.urlsafe_b64encode(base64.b64decode(SIGNATURE)).decode()
    assert [
        (part.get("text"), part.get("thoughtSignature") or part.get("thought_signature")) for part in sent
    ] == [
        ("So far", None),
        (".", signature),
        (" More", None),
        (None, signature),
        (None, None),
        ("", signature),
    ]
    assert [call.id for call in turn.message.tool_calls] == ["call_3", "call_4"]


async def test_a_blocked_prompt_is_a_refusal(server: WireServer):
    server.plan(reply(Raw(sse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})), Cut()))
    turn = await turn_of(GENERATE.provider(server))
    assert (turn.stop, turn.detail) == ("refusal", "PROHIBITED_CONTENT")


@pytest.mark.parametrize("reason", ["MODEL_ARMOR", "ESCALATION", "PUP_LIMITED_DISABLED"])
async def test_an_answer_that_a_policy_ended_is_a_refusal(server: WireServer, reason: str):
    server.plan(reply(Say("Hm."), End(reason)))
    turn = await turn_of(GENERATE.provider(server))
    assert (turn.stop, turn.detail) == ("refusal", reason)


async def test_images_of_results_follow_them_for_models_that_take_none_there(server: WireServer):
    provider = GENERATE.provider(server, "gemini:gemini-2.5-flash")
    body = await sent_back(provider, server, Call("search", "{}", id="c"), images=(RED_PNG,))
    _, _, results, images = body["contents"]
    assert [list(part) for part in results["parts"]] == [["functionResponse"]]
    assert [part.get("text") for part in images["parts"]] == ["The images of search:", None]


@pytest.mark.parametrize(
    ("end", "says"),
    [
        (End("MALFORMED_FUNCTION_CALL"), "MALFORMED_FUNCTION_CALL"),
        (Raw(sse({"error": {"message": "Oops"}})), "without a code"),
    ],
)
async def test_a_malformed_call_and_an_error_without_a_code_may_be_tried_again(server, end, says):
    server.plan(reply(Say("Hm."), end))
    with pytest.raises(ProviderError, match=says) as caught:
        await collect(GENERATE.provider(server))
    assert caught.value.retryable


async def test_the_vertex_switch_changes_nothing(server: WireServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    assert (await sent_by(INTERACTIONS.provider(server), server)).path == "/v1/interactions"


@pytest.mark.parametrize(
    ("name", "effort", "thinking"),
    [
        ("gemini-4-argon", "minimal", {"thinking_level": "LOW"}),
        ("gemini-2.5-flash", "none", {"thinking_budget": 0}),
        ("gemini-2.5-pro", "none", {"thinking_budget": 128}),
        ("gemini-2.5-flash", "max", {"thinking_budget": 24_576}),
        ("gemini-2.5-pro", "medium", {"thinking_budget": 8192}),
        ("gemini-2.5-pro", None, {}),
        ("my-model", "high", {}),
    ],
)
async def test_an_effort_becomes_a_level_or_a_budget(server: WireServer, name: str, effort: str, thinking):
    body = (await sent_by(GENERATE.provider(server, f"gemini:{name}", effort=effort), server)).body
    assert body["generationConfig"]["thinkingConfig"] == {"include_thoughts": True, **thinking}


async def test_the_turn_of_another_vendor_goes_on_with_its_first_call_marked_as_unsigned(server: WireServer):
    ids = ("functions.search:0", "functions.search:1")
    calls = tuple(ToolCall(id=each, name="search", arguments="{}") for each in ids)
    results = tuple(ToolResult(call_id=each, name="search", text=each[-2:]) for each in ids)
    turn = assistant(Text(""), *calls), Message(role="tool", parts=results)
    for case in (INTERACTIONS, GENERATE):
        server.plan(reply(Say("Done.")))
        await turn_of(case.provider(server), ask(user("Hello?"), *turn))
    first, second = server.requests[1].body["contents"][1]["parts"]
    mark = base64.urlsafe_b64encode(b"skip_thought_signature_validator").decode()
    assert first["thoughtSignature"] == mark
    assert "thoughtSignature" not in second


@pytest.mark.parametrize("empty", [Think("Hm.", ""), Say("")], ids=["unsigned thought", "no text"])
async def test_steps_that_would_be_refused_are_not_sent_back(server: WireServer, empty: Think | Say):
    body = await sent_back(INTERACTIONS.provider(server), server, empty, Call("search", "{}", id="c"))
    kinds = [step["type"] for step in body["input"]]
    assert kinds == ["user_input", "function_call", "function_result"]


async def test_an_answer_in_two_halves_is_one_content(server: WireServer):
    server.plan(
        reply(Say("First half, "), End("CONTINUATION")),
        reply(Say("second half."), Call("search", "{}", id="c")),
        reply(Say("Done.")),
    )
    provider = GENERATE.provider(server)
    half = await turn_of(provider)
    rest = await turn_of(provider, ask(user("Hello?"), half.message))
    await turn_of(provider, ask(user("Hello?"), half.message, rest.message, results_of(rest)))
    roles = [content["role"] for content in server.requests[2].body["contents"]]
    assert roles == ["user", "model", "user"]


async def test_the_path_is_asked_for_before_the_content(server: WireServer):
    request = ask(tools=(CREATE_FILE.spec,))
    sent = [await sent_by(case.provider(server), server, request) for case in (INTERACTIONS, GENERATE)]
    interaction, generated = (each.body["tools"][0] for each in sent)
    schema = generated["functionDeclarations"][0]["parameters_json_schema"]
    assert schema["propertyOrdering"] == ["path", "content"]
    for sent in (interaction["parameters"], schema):
        assert sent["required"] == ["path", "content"]


@pytest.mark.parametrize(
    "refusal",
    [reply(End("MISSING_THOUGHT_SIGNATURE")), problem(400, "Thought signature is not valid.")],
    ids=["missing", "not valid"],
)
async def test_a_refused_signature_is_replaced_by_the_documented_one(server: WireServer, refusal: Reply):
    call = Call("list_files", "{}", id="c", signature=SIGNATURE)
    server.plan(reply(call), refusal, reply(Say("Done.")))
    run = await Agent(GENERATE.provider(server)).run("Which files are there?")
    assert (run.reason, run.text) == ("end_turn", "Done.")
    sent = [
        base64.urlsafe_b64decode(request.body["contents"][1]["parts"][0]["thoughtSignature"])
        for request in server.requests[1:]
    ]
    assert sent == [base64.b64decode(SIGNATURE), b"skip_thought_signature_validator"]
