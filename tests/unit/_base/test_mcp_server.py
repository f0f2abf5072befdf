"""The small MCP server: with the official client, and with clients that break its rules."""

import asyncio
import contextlib
import json

import httpx2
import pytest
from mcp import Client, Implementation, MCPError
from mcp.client.streamable_http import streamable_http_client

from agent_nb._base import mcp
from agent_nb._base.mcp_server import BURST, MAX_BODY, MOST_CALLS, McpServer
from agent_nb._base.threads import off_loop
from tests.support.waiting import wait_for

TOOLS = [mcp.tool_entry("echo", "Says it again.", {"type": "object"})]
STREAM = "application/json, text/event-stream"


class EchoServer(McpServer):
    instructions = "Echoes."
    most_clients = 2

    def __init__(self):
        super().__init__("echo", TOOLS)
        self.begun, self.cancelled, self.gone = asyncio.Event(), asyncio.Event(), []

    async def call(self, call):
        call.progress("it begins")
        if call.name == "wait":
            self.begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return mcp.tool_result(f"{call.client.name}: {call.arguments}", [("cG5n", "image/png")])

    def left(self, client):
        self.gone.append(client.name)


@pytest.fixture
async def server():
    async with EchoServer() as started:
        yield started


def official(server, name="Ann", **options):
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {server.token}"}, trust_env=False)
    transport = streamable_http_client(server.url, http_client=http)
    return Client(transport, client_info=Implementation(name=name, version="1"), **options)


class Raw:
    """Sends what it is given."""

    def __init__(self, server):
        self.http = httpx2.AsyncClient(trust_env=False, timeout=60)
        self.url, self.headers = server.url, {"Authorization": f"Bearer {server.token}"}

    async def send(self, method="ping", params=None, number=1, **headers):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        return await self.post(json.dumps(message), **headers)

    async def post(self, body, **headers):
        return await self.http.post(self.url, content=body, headers={**self.headers, **headers})

    async def enter(self, name="Eve"):
        answer = await self.send("initialize", {"clientInfo": {"name": name}})
        self.headers[mcp.SESSION] = answer.headers.get(mcp.SESSION, "")
        return answer


@pytest.fixture
async def raw(server):
    client = Raw(server)
    async with client.http:
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client(server, mode):
    told = []

    async def on_progress(step, total, message):
        told.append(message)

    async with official(server, mode=mode) as client:
        assert (client.server_info.name, client.instructions) == ("echo", "Echoes.")
        assert client.protocol_version == mcp.VERSIONS[0]
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
        result = await client.call_tool("echo", {"a": 1}, progress_callback=on_progress)
        assert result.content[0].text == "Ann: {'a': 1}"
        assert result.content[1].data == "cG5n"
        assert told == ["it begins"]
        with pytest.raises(MCPError, match="Method not found"):
            await client.list_prompts()


async def test_two_clients_are_two_and_leave(server, raw):
    async with official(server) as ann, official(server, "Bob") as bob:
        for client, name in ((ann, "Ann"), (bob, "Bob")):
            assert (await client.call_tool("echo")).content[0].text == f"{name}: {{}}"
        assert "too many clients" in (await raw.enter("Carl")).text
    assert sorted(server.gone) == ["Ann", "Bob"]


async def test_the_client_that_has_been_idle_longest_gives_way(server, raw, monkeypatch):
    monkeypatch.setattr("agent_nb._base.mcp_server.IDLE_SECONDS", 0)
    for name in ("a", "b", "c"):
        assert (await raw.enter(name)).status_code == 200
    assert server.gone == ["a"]


@pytest.mark.parametrize("asked", [*mcp.VERSIONS, "1999-01-01", None, {}])
async def test_versions_are_negotiated(raw, asked):
    answer = (await raw.send("initialize", {"protocolVersion": asked})).json()["result"]
    assert answer["protocolVersion"] == (asked if asked in mcp.VERSIONS else mcp.VERSIONS[0])


async def test_a_cancelled_call_is_cancelled_and_has_no_answer(server, raw):
    await raw.enter()
    waiting = asyncio.ensure_future(raw.send("tools/call", {"name": "wait"}, "7", Accept=STREAM))
    await asyncio.wait_for(server.begun.wait(), 60)
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    assert (await raw.post(json.dumps(note))).status_code == 202
    assert not server.cancelled.is_set()  # 7 is not "7"
    note["params"]["requestId"] = "7"
    await raw.post(json.dumps(note))
    assert "data" not in (await waiting).text
    assert server.cancelled.is_set()


async def test_the_official_client_cancels(server):
    async with official(server) as client:
        waiting = asyncio.ensure_future(client.call_tool("wait"))
        await asyncio.wait_for(server.begun.wait(), 60)
        waiting.cancel()
        await asyncio.wait_for(server.cancelled.wait(), 60)
        assert (await client.call_tool("echo")).content


async def test_a_client_that_hangs_up_cancels_its_call(server, raw):
    await raw.enter()
    waiting = asyncio.ensure_future(raw.send("tools/call", {"name": "wait"}, Accept=STREAM))
    await asyncio.wait_for(server.begun.wait(), 60)
    waiting.cancel()
    await asyncio.wait_for(server.cancelled.wait(), 60)
    assert (await raw.send()).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer x"}, 401),
        ({"Authorization": "Bearer ä"}, 401),
        ({"Host": "evil.example"}, 403),
        ({"Host": "localhost:1"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({mcp.SESSION: ""}, 404),
        ({mcp.SESSION: "x" * 1000}, 404),
    ],
)
async def test_strangers_and_web_pages_are_refused(raw, headers, status):
    await raw.enter()
    encoded = {name: value.encode() for name, value in headers.items()}
    for method in ("ping", "tools/list", "tools/call"):
        answer = await raw.send(method, **encoded)
        assert answer.status_code == status
        assert "result" not in answer.text
        assert "access-control-allow-origin" not in answer.headers


async def test_without_a_session_only_initialize_is_answered(server, raw):
    assert (await raw.send("tools/list")).status_code == 400
    assert (await raw.http.get(server.url, headers=raw.headers)).status_code == 405
    preflight = await raw.http.request("OPTIONS", server.url, headers={"Origin": "https://evil.example"})
    assert (preflight.status_code, preflight.text) == (403, "")


async def test_the_server_proves_that_it_has_the_token(server, raw):
    answer = await raw.http.get(server.url, headers={mcp.CHALLENGE: "one"})
    assert answer.text == mcp.proof(server.token, "one")
    assert answer.text not in (mcp.proof(server.token, "two"), mcp.proof("x", "one"))
    other = {mcp.CHALLENGE: "one", "Origin": "https://evil.example"}
    assert (await raw.http.get(server.url, headers=other)).status_code == 403


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"7", b"\xff", b'{"a":' * 100_000, b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]'],
)
async def test_what_is_no_message_is_refused(raw, body):
    await raw.enter()
    assert (await raw.post(body)).status_code == 400
    assert (await raw.send()).status_code == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"params": 7},
        {"params": {"name": {}, "arguments": "x", "_meta": 3}},
        {"params": {"name": "echo", "arguments": None, "_meta": {"progressToken": {"a": []}}}},
    ],
)
async def test_fields_of_other_types_do_no_harm(raw, fields):
    await raw.enter()
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", **fields}
    assert "Eve: {}" in (await raw.post(json.dumps(message), Accept=STREAM)).text
    assert (await raw.post(json.dumps({**message, "id": [1]}))).status_code == 400
    assert (await raw.post(json.dumps({**message, "method": 7}))).status_code == 202


async def test_a_giant_body_ends_its_connection_alone(raw):
    await raw.enter()
    with contextlib.suppress(httpx2.TransportError):
        assert (await raw.post(b"x" * (MAX_BODY + 1))).status_code >= 400
    assert (await raw.send()).status_code == 200


async def test_a_flood_is_refused_and_others_are_not(server, raw, monkeypatch):
    monkeypatch.setattr("agent_nb._base.mcp_server.RATE", 0)
    await raw.enter()
    statuses = [(await raw.send()).status_code for _ in range(int(BURST) + 50)]
    assert {200, 429} == {*statuses}
    async with official(server) as client:
        assert (await client.call_tool("echo")).content


async def test_open_calls_are_limited(server, raw):
    await raw.enter()
    calls = [
        asyncio.ensure_future(raw.send("tools/call", {"name": "wait"}, number))
        for number in range(MOST_CALLS)
    ]
    await off_loop(
        wait_for, lambda: sum(len(client.calls) for client in server.clients.values()) == MOST_CALLS
    )
    assert (await raw.send("tools/call", {"name": "wait"}, 99)).status_code == 429
    assert (await raw.send("tools/call", {"name": "wait"}, 1)).status_code == 400  # in use
    for call in calls:
        call.cancel()


async def test_the_name_of_a_client_is_a_short_line(server, raw):
    await raw.enter("<b>\n\x1b[31m\u202e" + "x" * 10_000)
    [client] = server.clients.values()
    assert client.name.isprintable()
    assert len(client.name) <= 60


async def test_the_end_refuses_and_cancels(server, raw):
    await raw.enter()
    waiting = asyncio.ensure_future(raw.send("tools/call", {"name": "wait"}, 5, Accept=STREAM))
    await asyncio.wait_for(server.begun.wait(), 60)
    server.close()
    assert "data" not in (await waiting).text
    assert server.cancelled.is_set()
    assert (await raw.send()).status_code == 503
