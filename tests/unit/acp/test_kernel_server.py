"""Our tools for an agent: on loopback, with a token, for one run."""

import asyncio
import json

import httpx2
import pytest

from agent_nb.acp.kernel_server import KernelServer
from agent_nb.core.messages import Image, ToolResult, ToolSpec

TOOLS = (ToolSpec(name="add", description="Adds.", schema={"type": "object"}),)


async def call(name, args):
    if name == "slow":
        await asyncio.Event().wait()
    code = None if name == "add" else "UNKNOWN_TOOL"
    image = Image(b"png", "image/png")
    return ToolResult(call_id="1", name=name, text=json.dumps(args), images=(image,), code=code)


@pytest.fixture
async def server():
    async with KernelServer(TOOLS, call) as started:
        yield started


async def ask(server, method, params=None, **headers):
    offer = getattr(server, "offer", server)
    sent = {header["name"]: header["value"] for header in offer["headers"]} | headers
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
    async with httpx2.AsyncClient(trust_env=False) as client:
        return await client.post(offer["url"], json=message, headers=sent)


async def test_it_speaks_the_protocol(server):
    assert server.offer["url"].startswith("http://127.0.0.1:")
    started = (await ask(server, "initialize", {"protocolVersion": "2025-03-26"})).json()["result"]
    assert started["protocolVersion"] == "2025-03-26"
    [tool] = (await ask(server, "tools/list")).json()["result"]["tools"]
    assert tool == {"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}
    result = (await ask(server, "tools/call", {"name": "add", "arguments": {"a": 1}})).json()["result"]
    assert result == {
        "content": [
            {"type": "text", "text": 'Result: {"a": 1}'},
            {"type": "image", "data": "cG5n", "mimeType": "image/png"},
        ],
        "isError": False,
    }
    assert (await ask(server, "tools/call", {"name": "other"})).json()["result"]["isError"]
    assert (await ask(server, "server/discover")).json()["error"]["code"] == -32601


async def test_without_the_token_there_is_nothing(server):
    for wrong in ("", "Bearer x", server.offer["headers"][0]["value"][:-1]):
        assert (await ask(server, "tools/list", Authorization=wrong)).status_code == 401
    async with httpx2.AsyncClient(trust_env=False) as client:
        headers = {header["name"]: header["value"] for header in server.offer["headers"]}
        assert (await client.get(server.offer["url"], headers=headers)).status_code == 405


async def test_two_runs_have_different_tokens(server):
    async with KernelServer(TOOLS, call) as other:
        assert other.offer["headers"] != server.offer["headers"]


async def test_an_agent_that_hangs_up_cancels_its_call():
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def slow(name, args):
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with KernelServer(TOOLS, slow) as server:
        asking = asyncio.ensure_future(ask(server, "tools/call", {"name": "slow"}))
        await asyncio.wait_for(begun.wait(), 60)
        asking.cancel()
        await asyncio.wait_for(cancelled.wait(), 60)


async def test_the_end_of_the_run_ends_it():
    async with KernelServer(TOOLS, call) as server:
        offer = server.offer
        waiting = asyncio.ensure_future(ask(server, "tools/call", {"name": "slow"}))
        await asyncio.sleep(0.1)
    with pytest.raises(httpx2.TransportError):
        await waiting
    with pytest.raises(httpx2.TransportError):
        await ask(offer, "tools/list")


async def test_closing_cancels_calls_and_refuses_more_also_on_open_connections():
    begun = asyncio.Event()

    async def slow(name, args):
        begun.set()
        await asyncio.Event().wait()

    message = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    async with KernelServer(TOOLS, slow) as server, httpx2.AsyncClient(trust_env=False) as client:
        client.headers["Authorization"] = server.authorization
        assert (await client.post(server.offer["url"], json=message)).status_code == 200
        waiting = asyncio.ensure_future(ask(server, "tools/call", {"name": "slow"}))
        await asyncio.wait_for(begun.wait(), 60)
        server.close()
        assert (await waiting).content == b""
        assert (await client.post(server.offer["url"], json=message)).status_code == 503


async def test_nonsense_ends_the_connection_alone(server):
    port = int(server.offer["url"].split(":")[2].split("/")[0])
    for data in (b"\0\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"x" * 70_000):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        writer.write_eof()
        await reader.read()
        writer.close()
    assert (await ask(server, "ping")).json()["result"] == {}


async def test_a_body_that_cannot_be_read_is_refused(server):
    headers = {header["name"]: header["value"] for header in server.offer["headers"]}
    async with httpx2.AsyncClient() as client:
        for body in (b"{", b'{"a":' * 100_000, b"[]"):
            assert (await client.post(server.offer["url"], headers=headers, content=body)).status_code == 400
