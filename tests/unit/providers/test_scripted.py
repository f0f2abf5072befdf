"""The scripted model plays its turns, and fails on any other request."""

import pytest

from agent_nb.core.messages import user
from agent_nb.providers.base import Piece, Request, VirtualClock
from agent_nb.providers.scripted import ScriptedProvider, ScriptError, text, wait


def ask(clock: VirtualClock | None = None) -> Request:
    return Request(system="", messages=(user("hi"),), clock=clock or VirtualClock(pace=0))


async def played(provider: ScriptedProvider) -> list[Piece]:
    return [piece async for piece in provider.stream(ask())]


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
