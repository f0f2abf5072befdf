"""The shared HTTP client, and how long a vendor may be silent."""

import asyncio
import socket
from contextlib import asynccontextmanager

import httpx2
import pytest

from agent_nb import model
from agent_nb.core.errors import ConfigError
from agent_nb.providers.http import release, responses_opened, shared_client
from tests.support.wire import Comment, Pause, Raw, Say, WireServer, reply
from tests.support.wire.cases import CASE, KEY, turn_of
from tests.support.wire.framing import sse


class User:
    """Somebody who uses the client."""


@asynccontextmanager
async def server(answer: bytes, then_hold: bool = False):
    """Answers every connection with these bytes, then closes it or says no more."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        if then_hold:
            await asyncio.wait_for(reader.read(), 20)
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        listening.close()


async def test_users_on_one_loop_share_a_client():
    one, two = User(), User()
    client = await shared_client(one)
    assert await shared_client(two) is client
    await release(one)
    assert not client.is_closed
    await release(two)
    assert client.is_closed
    await release(two)


async def test_a_closed_client_is_made_anew():
    user = User()
    first = await shared_client(user)
    await first.aclose()
    second = await shared_client(user)
    assert second is not first
    assert not second.is_closed
    await release(user)


async def test_a_forgotten_user_holds_nothing_open():
    forgotten, user = User(), User()
    client = await shared_client(forgotten)
    await shared_client(user)
    del forgotten
    await release(user)
    assert client.is_closed


@pytest.fixture
async def client():
    user = User()
    yield await shared_client(user)
    await release(user)


async def test_the_operating_system_checks_that_the_server_is_there(client):
    fine = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    async with server(fine, then_hold=True) as url, client.stream("GET", url) as response:
        connection = response.extensions["network_stream"].get_extra_info("socket")
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) == 15


async def test_only_the_responses_of_the_block_are_collected(client):
    fine = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"
    async with server(fine) as url:
        await client.get(url)
        mine: list[httpx2.Response] = []
        with responses_opened(mine, 7.0):
            response = await client.get(url)
        await client.get(url)
        assert mine == [response]
        assert response.request.extensions["timeout"]["read"] == 7.0


def test_a_client_closes_when_its_loop_ends():
    async def opened() -> httpx2.AsyncClient:
        return await shared_client(user)

    user = User()
    with asyncio.Runner() as runner:
        client = runner.run(opened())
        assert not client.is_closed
    assert client.is_closed


@pytest.mark.parametrize(
    ("name", "effort", "seconds"),
    [
        ("openai:gpt-6.1-sol", None, 300),
        ("openai:gpt-6.1-sol", "medium", 300),
        ("openai:gpt-6.1-sol", "high", 900),
        ("anthropic:claude-opus-5-5", "xhigh", 900),
        ("gemini:gemini-4-argon", "max", 900),
        ("openrouter:some/model", "none", 300),
        ("ollama:qwen3", None, 600),
        ("ollama:qwen3", "high", 900),
    ],
)
def test_a_model_that_thinks_hard_may_be_silent_for_longer(name: str, effort: str | None, seconds: float):
    assert model(name, api_key=KEY, effort=effort).silence == seconds
    assert model(name, api_key=KEY, effort=effort, silence=42).silence == 42


@pytest.mark.parametrize("silence", [0, -1, "long", True, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["openai:gpt-6.1-sol", "demo:"])
def test_a_silence_that_is_no_time_is_refused(name: str, silence):
    with pytest.raises(ConfigError, match="seconds"):
        model(name, silence=silence, **({} if name == "demo:" else {"api_key": KEY}))


def test_a_model_without_a_server_takes_it_too():
    assert model("demo:", silence=42).name.startswith("demo:")


SIGNS = [
    ("chat", Comment("OPENROUTER PROCESSING")),
    ("responses", Comment("keep-alive")),
    ("responses", Raw(sse({"type": "keepalive", "sequence_number": 3}, "keepalive"))),
    ("anthropic_messages", Raw(sse({"type": "ping"}, "ping"))),
]


async def test_a_comment_or_a_ping_is_a_sign_of_life():
    """All at once, because each takes two seconds."""

    async def answer(protocol: str, sign: Comment | Raw) -> str:
        async with WireServer() as server:
            server.plan(reply(*[Pause(0.5), sign] * 4, Say("At last.")))
            return (await turn_of(CASE[protocol].provider(server, silence=1.5))).message.text

    answers = await asyncio.gather(*(answer(*each) for each in SIGNS))
    assert answers == ["At last."] * len(SIGNS)
