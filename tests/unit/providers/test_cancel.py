"""Stopping a stream closes its socket at once, from wherever the engine happens to be."""

import asyncio
import contextlib

import pytest

from agent_nb.providers.base import Accepted, TextPiece
from tests.support.wire import Call, Hold, Say, Think, WireServer, reply
from tests.support.wire.cases import CASES, CLOUD_CASES, Case, ask, collect, turn_of
from tests.support.wire.server import Request

pytestmark = pytest.mark.parametrize("case", [*CASES, *CLOUD_CASES], ids=str)


async def held(server: WireServer, number: int = 0) -> Request:
    """The request of that number, once its answer has come to the `Hold`."""
    request = await server.arrival(number)
    await asyncio.wait_for(request.holding.wait(), 20)
    return request


async def cancelled(task: asyncio.Task) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def closed(request: Request) -> None:
    """The client is gone, and nothing was sent since the hold."""
    sent = request.sent
    await asyncio.wait_for(request.closed.wait(), 5)
    assert request.sent == sent
    assert not request.finished


@pytest.mark.parametrize("before", [(Think("Hm."),), (Say("Hello."),), (Call("search", {"q": "x"}),)])
async def test_cancel_while_waiting_closes_the_socket_and_the_next_request_works(
    case: Case, server: WireServer, before
):
    server.plan(reply(*before, Hold(), Say("never read")), reply(Say("Again.")))
    provider = case.provider(server)
    task = asyncio.ensure_future(collect(provider))
    request = await held(server)
    await cancelled(task)
    await closed(request)
    assert (await turn_of(provider)).message.text == "Again."


async def test_cancel_before_the_headers_closes_the_socket(case: Case, server: WireServer):
    server.plan(reply(Say("never read"), silent=True))
    task = asyncio.ensure_future(collect(case.provider(server)))
    request = await held(server)
    await cancelled(task)
    await closed(request)


async def test_a_request_counts_as_accepted_before_its_first_word(case: Case, server: WireServer):
    server.plan(reply(Hold(), Say("never read")))
    async with contextlib.aclosing(case.provider(server).stream(ask())) as pieces:
        assert isinstance(await asyncio.wait_for(anext(pieces), 20), Accepted)
    await closed(await held(server))


async def test_cancel_inside_the_loop_body_closes_the_socket(case: Case, server: WireServer):
    server.plan(reply(Say("Hello."), Hold(), Say("never read")))
    inside = asyncio.Event()

    async def consume() -> None:
        async with contextlib.aclosing(case.provider(server).stream(ask())) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextPiece):
                    inside.set()
                    await asyncio.sleep(60)

    task = asyncio.ensure_future(consume())
    request = await held(server)
    await asyncio.wait_for(inside.wait(), 5)
    await cancelled(task)
    await closed(request)


async def test_one_cancel_leaves_other_streams_alone(case: Case, server: WireServer):
    server.plan(
        reply(Say("Hello."), Hold(), Say("never read")), reply(Say("Fine."), Hold(), Say(" Still here."))
    )
    provider = case.provider(server)
    doomed = asyncio.ensure_future(collect(provider))
    first = await held(server)
    spared = asyncio.ensure_future(turn_of(provider))
    second = await held(server, 1)
    await cancelled(doomed)
    await closed(first)
    second.let_go.set()
    assert (await asyncio.wait_for(spared, 10)).message.text == "Fine. Still here."
