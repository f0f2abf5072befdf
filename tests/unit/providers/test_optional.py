"""A request that is refused for an optional parameter is sent once more without it, visibly."""

from typing import Any

import pytest

from agent_nb import Agent
from agent_nb.core.events import RunFinished, TurnRetrying
from agent_nb.providers.base import OptionalParameter
from tests.support.wire import Call, ErrorEvent, Reply, Say, Think, WireServer, json_reply, problem, reply
from tests.support.wire.cases import CASE

WRITES = Call("create_file", {"path": "index.html", "content": "<h1>Hello</h1>"}, id="call_page")
SIGNATURE = "messages.1.content.0: Invalid `signature` in `thinking` block"


def sent_in(body: Any, name: str) -> bool:
    """Whether a parameter is anywhere in a body."""
    match body:
        case dict():
            return name in body or any(sent_in(value, name) for value in body.values())
        case list():
            return any(sent_in(value, name) for value in body)
        case _:
            return False


UNVERIFIED = "Your organization must be verified to generate reasoning summaries."
NO_EFFORT = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
REFUSALS = [
    (
        "anthropic_messages",
        "thinking",
        '"thinking.type.adaptive" is not supported. Use "output_config.effort".',
    ),
    ("anthropic_messages", "effort", "This model does not support the effort parameter."),
    ("anthropic_messages", "cache_control", "A maximum of 4 blocks with cache_control may be provided."),
    ("anthropic_messages", "eager_input_streaming", "tools.0.custom.eager_input_streaming: Extra inputs"),
    (
        "responses",
        "reasoning.summary",
        UNVERIFIED,
        {"param": "reasoning.summary", "code": "unsupported_value"},
    ),
    (
        "responses",
        "reasoning.effort",
        NO_EFFORT,
        {"param": "reasoning.effort", "code": "unsupported_parameter"},
    ),
    ("responses", "include", "Encrypted content is not supported with this model.", {"param": "include"}),
    ("interactions", "thinking_level", "'high' is not a supported thinking level for this model."),
    ("interactions", "thinking_summaries", "Unknown parameter 'generation_config.thinking_summaries'."),
    ("generate_content", "thinking_level", "Thinking level HIGH is not supported for this model."),
    ("generate_content", "thinking_config", "Thinking is not enabled for this model."),
]
"""Protocol, the parameter's name, and the vendor's refusal."""


@pytest.mark.parametrize("refused", REFUSALS, ids=lambda row: f"{row[0]}-{row[1]}")
async def test_the_run_goes_on_without_it(server: WireServer, refused: tuple[Any, ...]):
    protocol, name, message, *fields = refused
    refusal = problem(400, message, **(fields[0] if fields else {}))
    key = "thinkingConfig" if name == "thinking_config" else name.rpartition(".")[2]
    server.plan(refusal, reply(WRITES), reply(Say("Done.")))
    agent = Agent(CASE[protocol].provider(server, effort="high"))
    events = [event async for event in agent.stream("A page.")]
    assert isinstance(events[-1], RunFinished)
    assert (events[-1].reason, events[-1].error) == ("end_turn", None)
    (retry,) = (event for event in events if isinstance(event, TurnRetrying))
    assert f"Retrying without `{name}`, which this model refuses." in retry.why
    assert [sent_in(request.body, key) for request in server.requests] == [True, False, False]


async def test_it_is_tried_once(server: WireServer):
    refusal = problem(400, "This model does not support the effort parameter.")
    server.plan(refusal, refusal)
    run = await Agent(CASE["anthropic_messages"].provider(server, effort="high")).run("A page.")
    assert run.reason == "failed"
    assert "Retrying" not in run.error
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "refusal",
    [
        problem(400, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"),
        problem(400, "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"),
        problem(400, "messages: at least one message is required"),
        problem(400, SIGNATURE),
        problem(401, "No thinking: invalid x-api-key"),
    ],
)
async def test_nothing_else_is_left_out(server: WireServer, refusal: Reply):
    server.plan(refusal)
    run = await Agent(CASE["anthropic_messages"].provider(server, effort="high")).run("A page.")
    assert run.reason == "failed"
    assert len(server.requests) == 1


async def test_refused_signatures_are_dropped_for_good_and_new_ones_stay(server: WireServer):
    server.plan(
        reply(Think("Hm."), Say("Ready.")),
        problem(400, SIGNATURE),
        reply(Think("Again.", "c2lnbjI="), WRITES),
        reply(Say("Done.")),
    )
    agent = Agent(CASE["anthropic_messages"].provider(server))
    first = await agent.run("A page.")
    run = await agent.run("And?", base=first)
    retries = [event.why for event in run.events if isinstance(event, TurnRetrying)]
    assert ["Retrying without the reasoning of earlier turns." in why for why in retries] == [True]

    def kinds(request: int, message: int) -> list[str]:
        return [block["type"] for block in server.requests[request].body["messages"][message]["content"]]

    assert [kinds(request, 1) for request in (1, 2, 3)] == [["thinking", "text"], ["text"], ["text"]]
    assert kinds(3, 3) == ["thinking", "tool_use"]
    signed = [bool(message.vendor) for message in run.messages if message.role == "assistant"]
    assert signed == [False, True, True]


@pytest.mark.parametrize(
    "refusal",
    [
        problem(400, "The encrypted content gAAA could not be verified.", code="invalid_encrypted_content"),
        problem(400, "Reasoning input items can only be provided to a reasoning or computer use model."),
        problem(400, "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
        problem(400, "Item 'fc_1' was provided without its required 'reasoning' item: 'rs_1'."),
        problem(404, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."),
        reply(ErrorEvent(400, "The encrypted content gAAA could not be verified.")),
    ],
)
async def test_openais_items_are_rebuilt_when_they_are_refused(server: WireServer, refusal: Reply):
    server.plan(reply(Think("Hm."), WRITES), refusal, reply(Say("Done.")))
    run = await Agent(CASE["responses"].provider(server)).run("A page.")
    assert (run.reason, run.text) == ("end_turn", "Done.")
    refused, sent = (
        [item.get("type") for item in request.body["input"][1:]] for request in server.requests[1:]
    )
    assert refused == ["reasoning", "function_call", "function_call_output"]
    assert sent == ["function_call", "function_call_output"]


async def test_a_refusal_inside_the_stream_counts_too(server: WireServer):
    server.plan(reply(Say("So"), ErrorEvent(400, "cache_control: Extra inputs")), reply(Say("Done.")))
    run = await Agent(CASE["anthropic_messages"].provider(server)).run("A page.")
    assert (run.reason, run.text) == ("end_turn", "Done.")


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("a", {"b": {"c": 1, "d": [{"a": 2}]}}),
        ("b.c", {"a": 1, "b": {"d": [{"a": 2}]}}),
        ("b", {"a": 1}),
        ("x.y", {"a": 1, "b": {"c": 1, "d": [{"a": 2}]}}),
        ("*.a", {"b": {"c": 1, "d": [{}]}}),
    ],
)
def test_a_path_names_the_place(path: str, left: dict[str, Any]):
    body = {"a": 1, "b": {"c": 1, "d": [{"a": 2}]}}
    assert OptionalParameter(name="it", refused="", path=path).removed_from(body) == left
    assert body == {"a": 1, "b": {"c": 1, "d": [{"a": 2}]}}


FIELDS = [
    {"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}
]


@pytest.mark.parametrize(
    "body", [{"detail": FIELDS}, {"object": "error", "message": {"detail": FIELDS}}], ids=str
)
async def test_a_refusal_by_a_list_of_fields_is_read(body, server: WireServer):
    server.plan(json_reply(body, 422), reply(Say("Done.")))
    run = await Agent(CASE["chat"].provider(server)).run("Hello?")
    assert run.text == "Done."
    assert "stream_options" not in server.requests[1].body
