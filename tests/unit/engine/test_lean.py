"""Lean requests: what a server of your own is sent, which reads ten tokens a second."""

import itertools
import json

import pytest

from agent_nb import Agent, tool
from agent_nb.providers import model
from tests.support.wire import Call, Say, WireServer, reply
from tests.support.wire.cases import KEY, RED_PNG

WRITES = Call("create_file", {"path": "index.html", "content": "<h1>Hi</h1>"})
FILE_TOOLS = ["create_file", "edit_file", "read_file", "list_files", "delete_file"]


@pytest.fixture
async def server():
    async with WireServer() as server:
        yield server


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return "sunny"


def local(server: WireServer, **settings) -> Agent:
    return Agent(model("chat:qwen", base_url=server.base_url("chat"), api_key=KEY), **settings)


def names(body) -> list[str]:
    return [each["function"]["name"] for each in body["tools"]]


async def test_a_first_page_on_a_local_server_is_a_short_request(server: WireServer):
    server.plan(reply(Say("Hello.")))
    run = await local(server).run("A tiny page with the heading Hello Lyon and one sentence.")
    (body,) = [request.body for request in server.requests]
    assert names(body) == FILE_TOOLS
    # 538 tokens for Qwen2.5-Coder on llama.cpp, with the words of its own template.
    assert len(json.dumps([body["messages"], body["tools"]])) < 2_000
    assert run.settings["lean"] is True


async def test_every_request_of_a_conversation_begins_like_the_one_before(server: WireServer):
    server.plan(reply(WRITES), reply(Say("Done.")), reply(Say("Done again.")))
    agent = local(server)
    first = await agent.run("A page.")
    await agent.run("Another heading.", base=first)
    bodies = [request.body for request in server.requests]
    assert len({json.dumps(body["tools"]) for body in bodies}) == 1
    for before, after in itertools.pairwise(bodies):
        assert after["messages"][: len(before["messages"])] == before["messages"]


async def test_tools_of_your_own_and_what_images_need_are_added(server: WireServer):
    server.plan(reply(Say("Seen.")), reply(Say("Sunny.")))
    await local(server).run("Cut out the logo.", images=[RED_PNG])
    await local(server, tools=[weather]).run("Weather?")
    given, own = [request.body for request in server.requests]
    assert names(given) == [*FILE_TOOLS, "extract_assets"]
    assert names(own) == ["weather"]
    assert "create_file" not in own["messages"][0]["content"]


async def test_an_argument_that_is_not_named_still_works(server: WireServer):
    edits = {"path": "a.txt", "edits": [{"old": "a", "new": "b"}, {"old": "b", "new": "c"}]}
    server.plan(reply(Call("edit_file", edits)), reply(Say("Done.")))
    run = await local(server).run("Change it.", files={"a.txt": "a"})
    assert run.files["a.txt"] == "c"


def test_only_servers_nearby_are_lean_by_themselves():
    def lean(name: str, base_url: str | None = None) -> bool:
        return (
            Agent(model(name, base_url=base_url, api_key=KEY)).prepare("Hi.").run_settings.get("lean", False)
        )

    assert lean("ollama:qwen3")
    assert lean("chat:qwen", "http://gpu-box:8080/v1")
    assert lean("chat:qwen", "http://192.168.1.4/v1")
    assert not lean("chat:mistral-large", "https://api.mistral.ai/v1")
    assert not lean("openrouter:some/model")


def test_lean_can_be_asked_for_and_not():
    hosted, near = Agent(model("openrouter:some/model", api_key=KEY)), Agent("ollama:qwen3")
    assert len(hosted.with_lean().prepare("Hi.").tools) == len(FILE_TOOLS)
    assert len(near.with_lean(False).prepare("Hi.").tools) > len(FILE_TOOLS)
    asked = hosted.with_lean().prepare("Hi.").fingerprint()
    assert asked != hosted.prepare("Hi.").fingerprint()
