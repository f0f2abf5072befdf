"""The scripted model plays its turns, and fails on any other request."""

import asyncio
import contextlib

import pytest

from agent_nb.errors import ProviderError
from agent_nb.messages import Text, Thinking, ToolCall, Usage, user
from agent_nb.providers.base import (
    CallPiece,
    CallStarted,
    Piece,
    Request,
    TextPiece,
    Turn,
    UsagePiece,
    VirtualClock,
)
from agent_nb.providers.scripted import (
    ScriptedProvider,
    ScriptError,
    call,
    fail,
    pause,
    refuse,
    stall,
    stop,
    text,
    think,
    usage,
    wait,
)


def ask(clock: VirtualClock | None = None) -> Request:
    return Request(system="", messages=(user("hi"),), clock=clock or VirtualClock(pace=0))


async def played(provider: ScriptedProvider) -> list[Piece]:
    return [piece async for piece in provider.stream(ask())]


async def test_text_arrives_in_the_asked_fragments() -> None:
    pieces = await played(ScriptedProvider([[text("Hello world", fragment=5)]]))
    assert pieces[:-1] == [TextPiece("Hello"), TextPiece(" worl"), TextPiece("d")]
    assert isinstance(pieces[-1], Turn)
    assert pieces[-1].message.text == "Hello world"
    assert pieces[-1].stop == "end_turn"


async def test_a_call_ends_the_turn_for_tools() -> None:
    provider = ScriptedProvider([[think("hm"), call("create_file", {"path": "é.html"}, id="c1", fragment=7)]])
    *pieces, turn = await played(provider)
    assert isinstance(turn, Turn)
    assert turn.stop == "tool_use"
    assert turn.message.parts == (Thinking("hm"), ToolCall("c1", "create_file", '{"path": "é.html"}'))
    assert CallStarted("c1", "create_file") in pieces
    assert "".join(piece.text for piece in pieces if isinstance(piece, CallPiece)) == '{"path": "é.html"}'


async def test_raw_arguments_stay_as_they_are() -> None:
    *_, turn = await played(ScriptedProvider([[call("a", '{"broken'), call("b")]]))
    assert isinstance(turn, Turn)
    assert [(c.id, c.arguments) for c in turn.message.tool_calls] == [
        ("call_1_1", '{"broken'),
        ("call_1_2", "{}"),
    ]


async def test_the_last_usage_is_the_turns() -> None:
    pieces = await played(ScriptedProvider([[usage(input=3), text("x"), usage(input=3, output=9)]]))
    assert [piece.usage.output for piece in pieces if isinstance(piece, UsagePiece)] == [0, 9]
    assert isinstance(pieces[-1], Turn)
    assert pieces[-1].usage == Usage(input=3, output=9)


async def test_stop_and_refusal_end_the_turn_early() -> None:
    provider = ScriptedProvider([[text("cut"), stop("max_tokens"), text("never")], [refuse("not this")]])
    cut = (await played(provider))[-1]
    refused = (await played(provider))[-1]
    assert isinstance(cut, Turn)
    assert (cut.stop, cut.message.parts) == ("max_tokens", (Text("cut"),))
    assert isinstance(refused, Turn)
    assert (refused.stop, refused.detail, refused.message.parts) == ("refusal", "not this", ())


async def test_a_planned_failure_is_raised_midway() -> None:
    stream = ScriptedProvider([[text("half"), fail(ProviderError("overloaded"))]]).stream(ask())
    assert await anext(stream) == TextPiece("half")
    with pytest.raises(ProviderError, match="overloaded"):
        await anext(stream)


async def test_a_pause_waits_for_its_event() -> None:
    go_on = asyncio.Event()
    stream = ScriptedProvider([[text("a"), pause(go_on), text("b")]]).stream(ask())
    assert await anext(stream) == TextPiece("a")
    rest = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    assert not rest.done()
    go_on.set()
    assert await rest == TextPiece("b")
    await stream.aclose()


async def test_a_stall_ends_only_by_cancelling() -> None:
    stream = ScriptedProvider([[stall()]]).stream(ask())
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    assert waiting.cancelled()


async def test_waiting_moves_the_clock_of_the_run() -> None:
    clock = VirtualClock(pace=0)
    async for _ in ScriptedProvider([[wait(2.5)]]).stream(ask(clock)):
        pass
    assert clock.now() == 2.5


async def test_an_unplanned_call_fails_by_number() -> None:
    provider = ScriptedProvider([[text("only one")]])
    await played(provider)
    with pytest.raises(ScriptError, match="unplanned call 2: the script has 1 turn"):
        await played(provider)
    with pytest.raises(ScriptError):
        provider.assert_done()
    assert len(provider.requests) == 2


async def test_unused_turns_fail_at_the_end() -> None:
    provider = ScriptedProvider([[text("a")], [text("b")]])
    with pytest.raises(ScriptError, match="2 turns, 1 asked for"), provider:
        await played(provider)


async def test_an_error_in_the_block_is_not_hidden() -> None:
    with pytest.raises(KeyError), ScriptedProvider([[text("a")]]):
        raise KeyError


async def test_every_run_gets_its_own_clock() -> None:
    given = VirtualClock(pace=0)
    assert ScriptedProvider([], clock=given).new_clock() is given
    provider = ScriptedProvider([])
    assert provider.new_clock() is not provider.new_clock()
