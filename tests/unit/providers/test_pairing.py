"""Calls and results are paired, and ids that a server refuses are replaced."""

import pytest

from agent_nb.core.messages import Message, Text, ToolCall, ToolResult, assistant, user
from agent_nb.providers.parts import NO_RESULT, fit_calls
from tests.support.wire import Call, Say, WireServer, reply
from tests.support.wire.cases import CASE, ask, turn_of

ANY = r".+"


def call(call_id: str) -> ToolCall:
    return ToolCall(call_id, "search", "{}")


def result(call_id: str, text: str = "3 hits") -> ToolResult:
    return ToolResult(call_id=call_id, name="search", text=text)


def results(*call_ids: str) -> Message:
    return Message(role="tool", parts=tuple(result(call_id, f"hits of {call_id}") for call_id in call_ids))


def test_a_conversation_that_fits_is_not_changed():
    conversation = [user("Hello?"), assistant("So.", call("a"), call("b")), results("a", "b"), user("Well?")]
    assert fit_calls(conversation, ANY) == conversation


@pytest.mark.parametrize("answered", [(), ("b",)], ids=str)
@pytest.mark.parametrize(
    "after", [(), (user("Well?"),), (assistant("Well."),)], ids=["end", "user", "assistant"]
)
def test_open_calls_are_answered_before_the_next_message(
    answered: tuple[str, ...], after: tuple[Message, ...]
):
    given = [results(*answered)] if answered else []
    fitted = fit_calls([assistant(call("a"), call("b")), *given, *after], ANY)
    found = [part for message in fitted[1 : len(fitted) - len(after)] for part in message.parts]
    assert sorted(part.call_id for part in found) == ["a", "b"]
    assert sum(part.text == NO_RESULT for part in found) == 2 - len(answered)
    assert tuple(fitted[len(fitted) - len(after) :]) == after


def test_results_of_unknown_calls_are_dropped():
    mixed = Message(role="user", parts=(result("x"), Text("Well?")))
    assert fit_calls([results("x"), mixed, assistant("So.")], ANY) == [user("Well?"), assistant("So.")]


def test_an_id_used_again_is_replaced_in_the_call_and_its_result():
    turn = [assistant(call("call_0")), results("call_0")]
    first, _, second, answer, third, _ = fit_calls([*turn, *turn, *turn], ANY)
    ids = [message.tool_calls[0].id for message in (first, second, third)]
    assert ids[0] == "call_0"
    assert len(set(ids)) == 3
    assert answer.parts[0].call_id == ids[1]


def test_two_calls_of_one_turn_with_one_id_keep_their_own_results():
    both = Message(role="tool", parts=(result("c", "first"), result("c", "second")))
    message, answers = fit_calls([assistant(call("c"), call("c")), both], ANY)
    assert [part.text for part in answers.parts] == ["first", "second"]
    assert [part.call_id for part in answers.parts] == [part.id for part in message.tool_calls]
    assert len({part.id for part in message.tool_calls}) == 2


def test_new_ids_stay_the_same_when_the_conversation_goes_on():
    conversation = [assistant(call("functions.search:0")), results("functions.search:0")]
    longer = [*conversation, assistant(call("functions.search:0")), results("functions.search:0")]
    pattern = r"[A-Za-z0-9]{9}"
    assert fit_calls(longer, pattern)[:2] == fit_calls(conversation, pattern)


@pytest.mark.parametrize(
    ("name", "sent"), [("functions.search", "functions_search"), ("", "unknown"), ("x" * 80, "x" * 64)]
)
@pytest.mark.parametrize("protocol", ["responses", "chat"])
async def test_a_name_that_no_tool_can_have_is_replaced(
    server: WireServer, protocol: str, name: str, sent: str
):
    message = assistant(ToolCall("a", name, "{}"))
    server.plan(reply(Call(name, "{}", id="a")), reply(Say("Done.")), reply(Say("Done.")))
    provider = CASE[protocol].provider(server)
    own = await turn_of(provider)
    for answer in (own.message, message):
        await turn_of(provider, ask(user("Hello?"), answer, results("a")))
    for request in server.requests[1:]:
        assert f"'name': '{sent}'" in str(request.body)


async def test_openai_takes_calls_with_long_ids_from_elsewhere(server: WireServer):
    long_id = "call_" + "x" * 111
    server.plan(reply(Say("Done.")))
    request = ask(user("Hello?"), assistant(call(long_id)), results(long_id))
    await turn_of(CASE["responses"].provider(server), request)
    assert f"hits of {long_id}" in str(server.requests[0].body)
