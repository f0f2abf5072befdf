"""Servers of your own say what they are: asked once, in the way of each kind."""

import asyncio

import pytest

from agent_nb import Agent
from agent_nb.providers import model
from agent_nb.providers.scripted import ScriptedProvider
from tests.support.wire import Say, WireServer, reply
from tests.support.wire.cases import KEY

LLAMA = {"id": "/models/qwen.gguf", "meta": {"n_ctx": 8192}}
OLLAMA = {
    "/api/show": {"model_info": {"qwen3.context_length": 40_960}},
    "/api/ps": {"models": [{"name": "qwen3", "model": "qwen3", "context_length": 4096}]},
}
STUDIO = {"/api/v0/models/qwen": {"id": "qwen", "loaded_context_length": 4096}}


def provider(server: WireServer, name: str):
    return model(name, base_url=f"http://127.0.0.1:{server.port}/v1", api_key=KEY)


@pytest.mark.parametrize(
    ("name", "told", "expected"),
    [
        ("llamacpp:default", {"/v1/models": {"data": [LLAMA]}}, ("qwen.gguf", 8192)),
        ("chat:qwen", {"/v1/models": {"data": [LLAMA]}}, ("qwen.gguf", 8192)),
        ("vllm:m", {"/v1/models": {"data": [{"id": "m", "max_model_len": 32_768}]}}, ("m", 32_768)),
        ("ollama:qwen3", OLLAMA, ("qwen3", 4096)),
        ("lmstudio:qwen", STUDIO, ("qwen", 4096)),
        ("chat:qwen", {}, ("", None)),
        ("chat:qwen", {"/v1/models": {"data": "nothing"}}, ("", None)),
    ],
    ids=str,
)
async def test_what_a_server_says_is_in_the_settings(server: WireServer, name: str, told, expected):
    server.facts = told
    server.plan(reply(Say("Hello.")))
    run = await Agent(provider(server, name)).run("Hi.")
    said, window = dict(zip(("model", "window"), expected, strict=True)), expected[1]
    assert (run.reason, run.settings["server"], run.settings.get("window")) == ("end_turn", said, window)


async def test_it_is_asked_once(server: WireServer):
    server.facts = {"/v1/models": {"data": [LLAMA]}}
    server.plan(*[reply(Say("Hello."))] * 3)
    agent = Agent(provider(server, "chat:qwen"))
    await agent.start_variants("Hi.", variants=2)
    await agent.run("Hi.")
    assert server.told == ["/v1/models"]


class Mute(ScriptedProvider):
    """A model whose server does not say what it is."""

    async def introduce(self):
        await asyncio.Event().wait()


async def test_a_run_that_is_stopped_meanwhile_has_begun():
    handle = Agent(Mute([])).start("Hi.")
    await asyncio.sleep(0)
    handle.stop()
    run = await handle
    assert [event.type for event in run.events] == ["run_started", "run_finished"]


async def test_a_conversation_is_compacted_for_the_window_it_tells(server: WireServer):
    server.facts = {"/v1/models": {"data": [{**LLAMA, "meta": {"n_ctx": 3000}}]}}
    server.plan(*[reply(Say("Done."))] * 2)
    agent = Agent(provider(server, "chat:qwen"))
    first = await agent.run("A page.", files={"index.html": "<p>word</p>\n" * 900})
    again = await agent.run("Another.", base=first)
    assert again.settings["window"] == 3000
    assert [event.type for event in again.events].count("conversation_compacted") == 1
