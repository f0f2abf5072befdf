"""What every provider owes the engine, held against the real SDKs over real sockets."""

import asyncio
import base64
import io
import json
from dataclasses import replace

import PIL.Image
import pytest

from agent_nb.core.messages import (
    Document,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    assistant,
    user,
)
from agent_nb.core.run_settings import SETTINGS
from agent_nb.providers.base import CallPiece, CallStarted, TextPiece, ThinkingPiece, Turn
from tests.support.pdf import pdf_of
from tests.support.wire import Call, Comment, End, Raw, Reply, Say, Think, Tokens, Unknown, WireServer, reply
from tests.support.wire.cases import (
    CASES,
    CLOUD_CASES,
    RED_PNG,
    Case,
    ask,
    collect,
    results_of,
    strings_in,
    turn_of,
    two_turns,
)
from tests.unit.core.test_run_settings import VALUES

PNG_START = b"\x89PNG\r\n\x1a\n"
SIGNATURE = "c2lnbmVkK3RoaXMvYW5kPT90aGF0+/8="

# The clouds share the code of their protocols, so only `make test-wide` tries all of this on them.
CLOUDS = [pytest.param(case, marks=pytest.mark.wide) for case in CLOUD_CASES]
pytestmark = pytest.mark.parametrize("case", [*CASES, *CLOUDS], ids=str)


@pytest.fixture
async def server():
    async with WireServer() as server:
        yield server
        assert server.unused == 0


def full_reply(**settings) -> Reply:
    return reply(
        Think("First I look around, then I decide.", signature=SIGNATURE),
        Say("Grüße aus Lyon 🥐, here we go."),
        Call("search", {"q": "bread — “croûte” 🥖"}, id="call_a", signature=SIGNATURE),
        Call("search", {"q": "opening hours"}, id="call_b"),
        Tokens(input=900, cached_read=500, cached_write=100, output=80, reasoning=30),
        **settings,
    )


async def test_a_setting_is_sent_in_the_vendors_form(case: Case, server: WireServer):
    rows = [(name, row) for name, row in SETTINGS.items() if row.accepted_by.get(case.protocol) == "accepts"]
    for name, _ in rows:
        server.plan(full_reply())
        await collect(case.provider(server, **{name: VALUES[name]}))
        assert VALUES[name] in map(str.lower, strings_in(server.requests[-1].body))
    assert rows


async def test_deltas_concatenate_to_the_turn(case: Case, server: WireServer):
    server.plan(full_reply(fragment=3))
    *pieces, turn = await collect(case.provider(server))
    message = turn.message
    assert not [piece for piece in pieces if isinstance(piece, Turn)]
    assert (message.role, turn.model) == ("assistant", case.name.partition(":")[2])
    streamed = "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
    thought = "".join(piece.text for piece in pieces if isinstance(piece, ThinkingPiece))
    assert streamed == message.text == "Grüße aus Lyon 🥐, here we go."
    assert thought == "".join(part.text for part in message.parts if isinstance(part, Thinking))
    assert thought == "First I look around, then I decide."
    for call in message.tool_calls:
        written = [piece.text for piece in pieces if isinstance(piece, CallPiece) and piece.id == call.id]
        assert "".join(written) == call.arguments
        assert (len(written) > 1) == case.streams_arguments


async def test_parallel_calls_keep_ids_and_order(case: Case, server: WireServer):
    server.plan(full_reply())
    *pieces, turn = await collect(case.provider(server))
    assert turn.stop == "tool_use"
    assert [type(part) for part in turn.message.parts] == [Thinking, Text, ToolCall, ToolCall]
    assert [(call.id, json.loads(call.arguments)["q"]) for call in turn.message.tool_calls] == [
        ("call_a", "bread — “croûte” 🥖"),
        ("call_b", "opening hours"),
    ]
    started = [piece for piece in pieces if isinstance(piece, CallStarted)]
    assert started == [CallStarted("call_a", "search"), CallStarted("call_b", "search")]
    first_fragment = next(i for i, piece in enumerate(pieces) if isinstance(piece, CallPiece))
    assert pieces.index(started[0]) < first_fragment


async def test_usage_is_counted_the_same_way(case: Case, server: WireServer):
    server.plan(full_reply())
    turn = await turn_of(case.provider(server))
    counted = Usage(input=900, cached_read=500, cached_write=100, output=80, reasoning=30)
    assert turn.usage == replace(counted, **dict.fromkeys(case.uncounted, 0))


@pytest.mark.parametrize("stop", ["end_turn", "max_tokens", "refusal"])
async def test_stop_reasons_map_to_ours(case: Case, server: WireServer, stop: str):
    if stop == "refusal" and not case.refuses:
        pytest.skip("This protocol has no word for a refusal.")
    server.plan(reply(Say("So far."), End(stop, explanation="That is against our rules.")))
    turn = await turn_of(case.provider(server))
    assert turn.stop == stop
    assert bool(turn.detail) == (stop == "refusal")


async def test_a_call_without_arguments_is_an_empty_object(case: Case, server: WireServer):
    server.plan(reply(Call("list_files", "" if case.streams_arguments else "{}", id="call_a")))
    turn = await turn_of(case.provider(server))
    assert turn.message.tool_calls == (ToolCall("call_a", "list_files", "{}"),)


async def test_the_second_request_echoes_the_first_answer(case: Case, server: WireServer):
    server.plan(full_reply(), reply(Say("Done.")))
    await two_turns(case.provider(server))
    first, second = (request.body for request in server.requests)
    sent = list(strings_in(second))
    assert "3 hits" in sent
    assert sum("opening hours" in text for text in sent) == 1
    if case.signs:
        url_safe = SIGNATURE.replace("+", "-").replace("/", "_")
        assert (url_safe if case.signs == "url-safe" else SIGNATURE) in sent
    key = case.messages
    assert second[key][: len(first[key])] == first[key]
    assert {name: value for name, value in second.items() if name != key} == {
        name: value for name, value in first.items() if name != key
    }


async def test_equal_requests_are_equal_bytes(case: Case, server: WireServer):
    server.plan(full_reply(), reply(Say("Done.")), reply(Say("Done.")))
    provider = case.provider(server)
    turn = await turn_of(provider)
    request = ask(user("Hello?"), turn.message, results_of(turn))
    await turn_of(provider, request)
    await turn_of(provider, request)
    assert json.dumps(server.requests[1].body) == json.dumps(server.requests[2].body)


async def test_another_vendors_message_is_rebuilt(case: Case, server: WireServer):
    foreign = Message(
        role="assistant",
        parts=(Thinking("secret musings"), Text("I search."), ToolCall("call_x", "search", '{"q": "cats"}')),
        vendor={"someone_else": {"signature": "foreign-signature"}},
    )
    result = Message(role="tool", parts=(ToolResult(call_id="call_x", name="search", text="3 hits"),))
    server.plan(reply(Say("Done.")))
    await turn_of(case.provider(server), ask(user("Hello?"), foreign, result))
    body = json.dumps(server.requests[0].body)
    assert "I search." in body
    assert "call_x" in body
    assert "3 hits" in body
    assert "foreign-signature" not in body
    assert "secret musings" not in body


BEFORE_AN_IMAGE = {
    "responses": "'image_url': 'data:image/png;base64,",
    "chat": "'image_url': {'url': 'data:image/png;base64,",
    "anthropic_messages": "'media_type': 'image/png', 'data': '",
    "interactions": "'image', 'data': '",
    "generate_content": "'data': '",
}


async def test_images_go_into_prompts_and_results(case: Case, server: WireServer):
    server.plan(reply(Call("search", "{}", id="c")), reply(Say("Red.")))
    provider = case.provider(server)
    question = user("What colour?", RED_PNG)
    turn = await turn_of(provider, ask(question))
    await turn_of(provider, ask(question, turn.message, results_of(turn, images=(RED_PNG,))))
    image = BEFORE_AN_IMAGE[case.protocol] + base64.b64encode(RED_PNG.data).decode()
    assert str(server.requests[1].body).count(image) == 2


BEFORE_A_PDF = {
    "responses": "'type': 'input_file', 'filename': 'paper.pdf', 'file_data': 'data:application/pdf;base64,",
    "anthropic_messages": "'type': 'document', 'source': {'type': 'base64', 'media_type': 'application/pdf', 'data': '",
    "interactions": "'type': 'document', 'data': '",
    "generate_content": "'data': '",
}


async def test_pdfs_are_sent_as_documents_or_as_text(case: Case, server: WireServer):
    server.plan(reply(Say("42.")))
    paper = Document(pdf_of("The mean is 42"), "paper.pdf")
    if case.protocol == "chat":
        pytest.importorskip("pypdf")
    await turn_of(case.provider(server), ask(user("What is the mean?", paper)))
    body = str(server.requests[0].body)
    if case.protocol == "chat":
        assert "The text of `paper.pdf`:\\n```\\nThe mean is 42\\n```" in body
    else:
        data = base64.b64encode(paper.data).decode()
        data = data if data in body else base64.urlsafe_b64encode(paper.data).decode()  # Gemini's SDK
        assert BEFORE_A_PDF[case.protocol] + data in body


async def test_calls_and_results_without_a_counterpart_are_accepted(case: Case, server: WireServer):
    server.plan(reply(Call("search", "{}", id="a"), Call("search", "{}", id="b")), reply(Say("Done.")))
    provider = case.provider(server)
    turn = await turn_of(provider)
    first, lost = (
        Message(role="tool", parts=(ToolResult(call_id=name, name="search", text="3 hits"),))
        for name in ("a", "lost")
    )
    opening = assistant("Welcome!"), user("Hello?")
    await turn_of(provider, ask(*opening, lost, turn.message, first, user("And now?")))
    assert server.refusals == []


async def test_broken_arguments_do_not_break_the_next_request(case: Case, server: WireServer):
    broken = assistant(ToolCall("call_x", "search", '{"q": "ca'))
    result = Message(
        role="tool",
        parts=(ToolResult(call_id="call_x", name="search", text="Not JSON.", code="INVALID_JSON"),),
    )
    server.plan(reply(Say("Again.")))
    await turn_of(case.provider(server), ask(user("Hello?"), broken, result))
    sent = list(strings_in(server.requests[0].body))
    broken_text = '{"q": "ca'
    assert broken_text in sent or json.dumps({"invalid_json": broken_text}) in sent


async def test_half_a_character_in_arguments_does_not_break_the_next_request(case: Case, server: WireServer):
    halved = assistant(ToolCall("call_x", "search", '{"q": "cats \\ud83d"}'))
    result = Message(role="tool", parts=(ToolResult(call_id="call_x", name="search", text="3 hits"),))
    server.plan(reply(Say("Done.")))
    assert (await turn_of(case.provider(server), ask(user("Hello?"), halved, result))).message.text == "Done."
    assert any("cats" in text for text in strings_in(server.requests[0].body))


async def test_an_invented_name_and_an_empty_result_are_accepted(case: Case, server: WireServer):
    server.plan(reply(Call("find it: now", "{}", id="call_a")), reply(Say("Done.")))
    turn = await two_turns(case.provider(server), text="")
    assert turn.message.tool_calls[0].name == "find it: now"
    assert "find it: now" not in strings_in(server.requests[1].body)


async def test_an_image_is_sent_as_what_it_is(case: Case, server: WireServer):
    data = io.BytesIO()
    PIL.Image.new("RGB", (2, 2)).save(data, "GIF")
    server.plan(reply(Say("Black.")))
    await turn_of(case.provider(server), ask(user("Which colour?", Image(data.getvalue()))))
    sent = str(server.requests[0].body)
    assert base64.b64encode(PNG_START).decode().rstrip("=")[:10] in sent
    assert base64.b64encode(b"GIF89a").decode() not in sent


async def test_chunks_may_end_anywhere(case: Case, server: WireServer):
    server.plan(full_reply(split=1, fragment=7))
    turn = await turn_of(case.provider(server))
    assert turn.message.text == "Grüße aus Lyon 🥐, here we go."
    assert json.loads(turn.message.tool_calls[0].arguments) == {"q": "bread — “croûte” 🥖"}


async def test_unknown_events_are_ignored(case: Case, server: WireServer):
    noise = (Comment(), Raw(b"event: ping\ndata:\n\ndata: \n\n")) if case.comments else ()
    server.plan(reply(*noise, Say("Hello."), Unknown(), *noise, Say(" Again."), Unknown()))
    assert (await turn_of(case.provider(server))).message.text == "Hello. Again."


async def test_the_connection_is_used_again(case: Case, server: WireServer):
    server.plan(*[reply(Say("Hello."))] * 3)
    provider = case.provider(server)
    for _ in range(3):
        await turn_of(provider)
    assert server.connections == 1


async def test_a_closed_provider_can_be_used_again(case: Case, server: WireServer):
    server.plan(reply(Say("Hello.")), reply(Say("Again.")))
    provider = case.provider(server)
    await turn_of(provider)
    await provider.close()
    await asyncio.sleep(0)
    assert server.requests[0].closed.is_set() or await asyncio.wait_for(server.requests[0].closed.wait(), 5)
    assert (await turn_of(provider)).message.text == "Again."
    await provider.close()


def test_a_provider_works_on_two_loops(case: Case):
    with WireServer.in_thread() as server:
        server.plan(reply(Say("Hello.")), reply(Say("Again.")))
        provider = case.provider(server)
        assert asyncio.run(turn_of(provider)).message.text == "Hello."
        assert asyncio.run(turn_of(provider)).message.text == "Again."
