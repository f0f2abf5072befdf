"""Any schema of a tool is sent in a form that the vendor takes, and calls come back in the tool's own words."""

import json
import logging
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_nb import Agent, tool
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import ToolArgsDelta
from agent_nb.core.messages import ToolSpec
from agent_nb.providers.base import CallPiece
from agent_nb.providers.tool_schemas import ANTHROPIC, CHAT, GEMINI, OPENAI, _renamed, convert_schema
from agent_nb.tools.base import Tool, ToolOutput
from tests.support.server_schemas import server_schemas
from tests.support.wire import Call, Say, WireServer, reply
from tests.support.wire.cases import CASE, CASES, Case, ask, collect, results_of, sent_by, turn_of, user
from tests.support.wire.rules import Asked, first_refusal, tool_schemas


def spec_of(schema: Any, name: str = "search") -> ToolSpec:
    return ToolSpec(name=name, description="Finds things.", schema=schema)


def sent_tools(case: Case, server: Any, *specs: ToolSpec) -> Asked:
    provider = case.provider(server)
    body = provider.body(provider.translate_tools(specs).outgoing(ask()))
    tools = body.get("tools") or body.get("config", {}).get("tools") or []
    return Asked(case.name, json.loads(json.dumps({"tools": tools}, ensure_ascii=False).encode()))


# Real schemas


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_the_tools_of_real_servers_are_taken(case: Case, server: WireServer):
    found = await server_schemas()
    specs = tuple(spec_of(schema, name) for name, (schema, _) in found.items())
    request = await sent_by(case.provider(server), server, ask(tools=specs))
    assert len(list(tool_schemas.tools(case.protocol, Asked("", request.body)))) == len(found)


@pytest.mark.parametrize(
    "dialect",
    [OPENAI, ANTHROPIC, GEMINI, CHAT],
    ids=["responses", "anthropic_messages", "interactions", "chat"],
)
async def test_what_fits_a_tool_fits_what_the_vendor_is_told(dialect):
    for name, (schema, arguments) in (await server_schemas()).items():
        sent = convert_schema(schema, dialect)
        renamed = json.loads(_renamed(json.dumps(arguments), sent.names))
        problems = list(jsonschema.Draft202012Validator(sent.schema).iter_errors(renamed))
        assert not problems, (name, problems)


@tool
def label(tags: list, extra: dict) -> str:
    """Labels things."""
    return json.dumps([tags, extra])


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_function_may_take_any_list_and_any_dict(case: Case, server: WireServer):
    arguments = {"tags": ["a", 1], "extra": {"deep": {"x": 1}}}
    server.plan(reply(Call("label", arguments, id="c")), reply(Say("Done.")))
    run = await Agent(case.provider(server), tools=[label]).run("Label it.")
    assert (run.reason, run.error) == ("end_turn", None)
    result = next(part for message in run.messages if message.role == "tool" for part in message.parts)
    assert json.loads(result.text) == [["a", 1], {"deep": {"x": 1}}]


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_one_keyword_that_a_vendor_refuses_leaves_the_rest(case: Case, server: WireServer):
    modes = {"mode": {"enum": ["", "a", "b"]}, "name": {"type": "string", "pattern": "^\\p{L}+$"}}
    asked = sent_tools(case, server, spec_of({"type": ["object", "null"], "properties": modes}))
    assert first_refusal(case.protocol, asked, tool_schemas.RULES) is None
    ((_, _, sent),) = tool_schemas.tools(case.protocol, asked)
    assert "string" in sent["properties"]["mode"]["type"]
    assert {"a", "b"} <= {*sent["properties"]["mode"]["enum"]}
    assert sent["properties"]["name"].keys() & {"type", "pattern"} == {"type"}


# Any schema

_names = st.sampled_from(["q", "n", "$filter", "filter[id]", "x" * 70, "", "é", "\ud800", "a.b-c"])
_junk = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**9) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
_types = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null", "any"])
_refs = st.sampled_from(
    [
        "#",
        "#/$defs/A",
        "#/$defs/B",
        "#/definitions/C%20",
        "#/properties/q",
        "#/properties/$filter",
        "#x",
        "https://e.org/s",
    ]
)
_leaves: dict[str, st.SearchStrategy[Any]] = {
    "type": _types | st.lists(_types, max_size=3),
    "description": st.text(max_size=5),
    "enum": st.lists(_junk, max_size=3),
    "const": _junk,
    "default": _junk,
    "format": st.sampled_from(["email", "uri", "date", "int32", ""]),
    "pattern": st.sampled_from(["^a$", "(?=x)", "(?<!x)y", "[", "\\1", "a+", "(?i)x", "\\p{L}"]),
    "$ref": _refs,
    "$schema": st.just("http://json-schema.org/draft-04/schema#"),
    "required": st.lists(_names, max_size=3) | st.booleans(),
    **{key: st.integers(-2, 5000) | st.booleans() for key in ("minimum", "exclusiveMinimum", "minLength")},
    **{
        key: st.integers(-2, 5000) | st.floats(allow_nan=False)
        for key in ("multipleOf", "maxItems", "maxLength")
    },
}


def _inside(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(_names, inner, max_size=3)
    several = st.lists(inner, max_size=3)
    nested = {
        **dict.fromkeys(("properties", "$defs", "definitions", "patternProperties"), named),
        **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), several),
        **dict.fromkeys(("not", "if", "additionalProperties", "propertyNames"), inner),
        "items": inner | several,
    }
    every = {key: value | _junk for key, value in {**_leaves, **nested}.items()}
    chosen = st.lists(st.sampled_from(sorted(every)), max_size=5, unique=True)
    return chosen.flatmap(lambda keys: st.fixed_dictionaries({key: every[key] for key in keys}))


_simple = st.fixed_dictionaries({"type": _types}) | st.fixed_dictionaries({"$ref": _refs})
_schemas = st.recursive(st.booleans() | _simple, _inside, max_leaves=12)


@st.composite
def _tools(draw: st.DrawFn) -> Any:
    schema = draw(_schemas)
    definitions = {
        "$defs": {"A": draw(_schemas), "B": draw(_schemas)},
        "definitions": {"C%20": draw(_schemas)},
    }
    properties = {"q": draw(_schemas), "$filter": draw(_schemas)}
    if not isinstance(schema, dict):
        return schema
    return draw(
        st.sampled_from(
            [
                schema,
                {**schema, "properties": properties},
                {**schema, "properties": properties, **definitions},
            ]
        )
    )


class _NoServer:
    def base_url(self, protocol: str) -> str:
        return "http://127.0.0.1:9/v1"


@pytest.mark.parametrize("case", CASES, ids=str)
@settings(suppress_health_check=list(HealthCheck))
@given(schema=_tools())
@example(schema={"type": "object", "properties": {"$filter": {"prefixItems": [[]]}}})
def test_any_schema_is_sent_as_the_vendor_takes_it_or_left_out(case: Case, schema):
    provider = case.provider(_NoServer())
    asked = sent_tools(case, _NoServer(), spec_of(schema))
    assert first_refusal(case.protocol, asked, tool_schemas.RULES) is None
    sent = list(tool_schemas.tools(case.protocol, asked))
    assert len(sent) + len(provider.left_out([spec_of(schema)])) == 1


def test_definitions_that_grow_exponentially_are_cut():
    definitions = {
        f"d{n}": {"type": "object", "properties": {each: {"$ref": f"#/$defs/d{n + 1}"} for each in "ab"}}
        for n in range(30)
    }
    combined = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}
    for given_definitions in (definitions, combined):
        schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": given_definitions}
        for dialect in (OPENAI, GEMINI):
            assert len(json.dumps(convert_schema(schema, dialect).schema)) < 200_000


# The way back

FILTERED = {
    "type": "object",
    "properties": {
        "$filter": {"type": "string"},
        "where": {
            "type": "array",
            "items": {"type": "object", "properties": {"filter[id]": {"type": "integer"}}},
        },
    },
    "required": ["$filter"],
}
ARGUMENTS = {"$filter": "name eq 'x'", "where": [{"filter[id]": 7}]}


def recording_tool(schema: Any, name: str = "search") -> tuple[Tool, list[Any]]:
    seen: list[Any] = []

    def run(args, context):
        seen.append(args)
        return ToolOutput(text="3 hits")

    return Tool(spec=spec_of(schema, name), run=run, title=lambda args: "search"), seen


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_call_reaches_the_tool_with_its_own_names(case: Case, server: WireServer):
    provider = case.provider(server)
    searching, seen = recording_tool(FILTERED)
    names = provider.translate_tools([searching.spec]).properties.get("search", {})
    sent = {
        names.get("$filter", "$filter"): "name eq 'x'",
        "where": [{names.get("filter[id]", "filter[id]"): 7}],
    }
    server.plan(reply(Call("search", sent, id="c"), fragment=5), reply(Say("Done.")))
    events = [event async for event in Agent(provider, tools=[searching]).stream("Find it.")]
    assert events[-1].reason == "end_turn"
    assert seen == [ARGUMENTS]
    streamed = "".join(event.text for event in events if isinstance(event, ToolArgsDelta))
    assert json.loads(streamed) == ARGUMENTS
    if case.renames_arguments:
        assert names.keys() == {"$filter", "filter[id]"}
        again = json.dumps(server.requests[1].body["messages"])
        assert names["$filter"] in again
        assert '"$filter' not in again


async def test_the_file_that_is_written_streams_beside_a_renamed_tool(server: WireServer):
    case = CASE["anthropic_messages"]
    page = Call("create_file", {"path": "index.html", "content": "<h1>Bread</h1>"}, id="p")
    server.plan(reply(page, fragment=5, gap=0.06), reply(Say("Done.")))
    searching, _ = recording_tool(FILTERED)
    agent = Agent(case.provider(server), tools=[*Agent(case.provider(server)).tools, searching])
    run = await agent.run("A page.")
    assert run.files["index.html"] == "<h1>Bread</h1>"
    assert len([event for event in run.events if event.type == "file_delta"]) > 1


async def test_broken_arguments_of_a_renamed_tool_stay_as_they_are(server: WireServer):
    server.plan(reply(Call("search", '{"_filter', id="c")))
    pieces = await collect(CASE["anthropic_messages"].provider(server), ask(tools=(spec_of(FILTERED),)))
    assert pieces[-1].message.tool_calls[0].arguments == '{"_filter'
    assert "".join(piece.text for piece in pieces if isinstance(piece, CallPiece)) == '{"_filter'


@pytest.mark.parametrize("protocol", ["interactions", "generate_content"])
async def test_the_name_of_a_tool_is_mapped_for_gemini(protocol: str, server: WireServer):
    provider = CASE[protocol].provider(server)
    spec = spec_of({"type": "object", "properties": {}}, "2do")
    name = provider.translate_tools([spec]).names["2do"]
    server.plan(reply(Call(name, "{}", id="c", signature="c2lnbmVk")), reply(Say("Done.")))
    turn = await turn_of(provider, ask(tools=(spec,)))
    assert turn.message.tool_calls[0].name == "2do"
    await turn_of(provider, ask(user("Hello?"), turn.message, results_of(turn), tools=(spec,)))
    assert "2do" not in json.dumps(server.requests[1].body).split('"')


# What cannot be sent


async def test_a_tool_that_no_vendor_can_be_told_of_is_left_out_with_a_line(server: WireServer, caplog):
    server.plan(reply(Say("Hello.")))
    odd, _ = recording_tool({"type": "array"}, "odd")
    with caplog.at_level(logging.WARNING, "agent_nb"):
        run = await Agent(CASE["responses"].provider(server), tools=[odd, label]).run("Hello?")
    assert run.reason == "end_turn"
    assert [each["name"] for each in server.requests[0].body["tools"]] == ["label"]
    assert caplog.messages == ["The model is not offered `odd`: its schema is not that of an object."]


@pytest.mark.parametrize("protocol", ["responses", "chat"])
async def test_too_many_tools_are_refused_before_anything_is_sent(protocol: str, server: WireServer):
    tools = [replace(label, spec=replace(label.spec, name=f"label_{n}")) for n in range(129)]
    with pytest.raises(ConfigError, match=r"This run has 129 tools, and .* takes at most 128\. Name those"):
        await Agent(CASE[protocol].provider(server), tools=tools).run("Hello?")
    assert server.requests == []


async def test_anthropic_takes_more_tools(server: WireServer):
    server.plan(reply(Say("Hello.")))
    tools = [replace(label, spec=replace(label.spec, name=f"label_{n}")) for n in range(129)]
    assert (
        await Agent(CASE["anthropic_messages"].provider(server), tools=tools).run("Hello?")
    ).reason == "end_turn"
