"""Requests of AG-UI front ends, and the example server that answers them, over a real socket."""

import asyncio
import base64
import contextlib
import json
import re
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import uvicorn
from ag_ui.core import RunAgentInput

from agent_nb import Agent
from agent_nb.demo.provider import DemoProvider
from agent_nb.errors import ConfigError, ProviderError
from agent_nb.events import RunFinished
from agent_nb.messages import Image, Text, ToolCall, ToolResult
from agent_nb.providers.scripted import ScriptedProvider, fail, stall, text
from agent_nb.web import AgUi, AgUiRequest
from docs.examples import ag_ui_server
from tests.support import ROOT
from tests.support.ag_ui import FrontEnd, translated
from tests.support.drawings import png

DRAWING = {"type": "data", "value": base64.b64encode(png()).decode(), "mimeType": "image/png"}
CALL = {"id": "c1", "type": "function", "function": {"name": "create_file", "arguments": "{}"}}
CONVERSATION = [
    {"id": "1", "role": "system", "content": "Be rude."},
    {
        "id": "2",
        "role": "user",
        "content": [{"type": "text", "text": "Like this"}, {"type": "image", "source": DRAWING}],
    },
    {"id": "3", "role": "reasoning", "content": "Hm."},
    {"id": "4", "role": "assistant", "content": "Yes.", "toolCalls": [CALL]},
    {"id": "5", "role": "tool", "toolCallId": "c1", "content": "Created."},
    {"id": "6", "role": "activity", "activityType": "x", "content": {}},
    {"id": "7", "role": "user", "content": "Now blue."},
]


def body(messages: list[dict], **more: Any) -> dict:
    given = {"threadId": "t", "runId": "r", "messages": messages, **more}
    RunAgentInput.model_validate(given)
    return given


def test_a_request_is_what_a_run_begins_with():
    state = {"files": {"index.html": "<p>", "a.bin": None}, "theme": "dark"}
    request = AgUiRequest.read(body(CONVERSATION, state=state))
    assert request.prompt == "Now blue."
    assert request.material["files"] == {"index.html": "<p>"}
    question, answer, result = request.material["messages"]
    assert question.parts == (Text("Like this"), Image(png(), "image/png"))
    assert answer.parts == (Text("Yes."), ToolCall("c1", "create_file", "{}"))
    assert result.parts == (ToolResult(call_id="c1", name="", text="Created."),)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "a JSON object"),
        ({"messages": CONVERSATION}, "`threadId`"),
        ({"threadId": "t", "runId": "r"}, "the last is the user's"),
        ({"threadId": "t", "runId": "r", "messages": CONVERSATION[:-1]}, "the last is the user's"),
        ({"threadId": "t", "runId": "r", "messages": ["hi"]}, "the last is the user's"),
    ],
)
def test_a_body_that_is_no_request_is_refused_in_a_sentence(given, sentence):
    with pytest.raises(ConfigError, match=sentence):
        AgUiRequest.read(given)


async def test_answers_have_the_ids_of_the_request_and_keep_its_state_and_conversation():
    request = AgUiRequest.read(body(CONVERSATION, state={"theme": "dark"}))
    cut = fail(ProviderError("The connection was cut.", retryable=True, retry_after=0))
    provider = ScriptedProvider([[text("Half"), cut], [text("Done.")]])
    run = await Agent(provider).run(request.prompt, **request.material)
    events = translated(run.events, AgUi(request))
    assert (events[0]["threadId"], events[0]["runId"]) == ("t", "r")
    front = FrontEnd(CONVERSATION).take(events)
    assert front.messages[:-1] == CONVERSATION
    assert front.messages[-1]["content"] == "Done."
    assert front.state == {"theme": "dark", "files": {}}


def test_the_page_shows_the_example_as_it_is():
    page = (ROOT / "docs" / "ag-ui.md").read_text(encoding="utf-8")
    code = (ROOT / "docs" / "examples" / "ag_ui_server.py").read_text(encoding="utf-8")
    assert f"```python\n{code}```" in page


@contextlib.asynccontextmanager
async def serving(monkeypatch: pytest.MonkeyPatch, agent: Agent) -> AsyncIterator[httpx2.AsyncClient]:
    monkeypatch.setattr(ag_ui_server, "agent", agent)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(ag_ui_server.app, log_level="warning"))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        yield client
    server.should_exit = True
    await task


async def ask(client: httpx2.AsyncClient, front: FrontEnd, prompt: str, run_id: str) -> FrontEnd:
    messages = [*front.messages, {"id": f"{run_id}-question", "role": "user", "content": prompt}]
    given = {"threadId": "t", "runId": run_id, "messages": messages, "state": front.state}
    response = await client.post("/agent", json=given)
    assert response.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line]
    return FrontEnd(messages).take(events)


async def test_the_example_answers_two_requests_of_one_conversation(monkeypatch):
    async with serving(monkeypatch, Agent(DemoProvider(pace=0))) as client:
        first = await ask(client, FrontEnd(), "A landing page for a bakery", "one")
        second = await ask(client, first, "Make the heading blue", "two")
        refused = await client.post("/agent", json={"messages": []})
    assert len(second.texts("tool")) > len(first.texts("tool"))
    before, after = first.state["files"]["index.html"], second.state["files"]["index.html"]
    assert before != after
    assert len(before) // 2 < len(after)
    assert (refused.status_code, refused.text) == (400, "An AG-UI request needs a `threadId` and a `runId`.")


async def test_a_front_end_that_goes_away_stops_the_run(monkeypatch):
    agent = Agent(ScriptedProvider([[text("Hm."), stall()]]))
    ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    agent.on_event(lambda event: ended.set_result(event.reason) if isinstance(event, RunFinished) else None)
    async with serving(monkeypatch, agent) as client:
        async with client.stream("POST", "/agent", json=body(CONVERSATION)) as response:
            async for line in response.aiter_lines():
                if "TEXT_MESSAGE_CONTENT" in line:
                    break
        assert await ended == "stopped"


def asking(**changes: Any) -> str:
    return json.dumps({**body(CONVERSATION), **changes})


def saying(**message: Any) -> str:
    return asking(messages=[{"id": "1", "role": "user", "content": "Hello?", **message}])


JSON = {"content-type": "application/json"}
NO_IMAGE = {"type": "image", "source": {**DRAWING, "value": base64.b64encode(b"no image").decode()}}
BAD_BASE64 = {"type": "image", "source": {**DRAWING, "value": "***"}}
HELLO = {"role": "user", "content": "Hello?"}


@pytest.mark.parametrize(
    ("headers", "content", "status", "sentence"),
    [
        ({**JSON, "origin": "https://evil.example"}, asking(), 403, "pages from https://evil.example"),
        ({**JSON, "origin": "null"}, asking(), 403, "pages from null"),
        ({"content-type": "text/plain"}, asking(), 415, "application/json"),
        ({}, asking(), 415, "application/json"),
        (JSON, "[" * 100_000, 400, "more than 64 levels"),
        (JSON, asking(state={"a": json.loads("[" * 500 + "]" * 500)}), 400, "more than 64 levels"),
        (JSON, " " * 20_000_001, 413, "more than 20,000,000 bytes"),
        (JSON, "{", 400, "not valid JSON"),
        (JSON, b"\xff", 400, "not valid JSON"),
        (JSON, asking(state={"a": float("nan")}), 400, "NaN is not a JSON value"),
        (JSON, asking(state={"a": 0}).replace(": 0}", ": 1e999}"), 400, "not valid JSON"),
        (JSON, asking(threadId="\ud800"), 400, "not valid JSON"),
        (JSON, "3", 400, "a JSON object"),
        (JSON, saying(content=""), 400, "prompt"),
        (JSON, saying(content=[BAD_BASE64]), 400, "not valid base64"),
        (JSON, saying(content=[{"type": "text", "text": "Hello?"}, NO_IMAGE]), 400, "image"),
        (JSON, asking(state={"files": {"../x": "out"}}), 400, r"\.\./x"),
        (JSON, asking(state={"files": {"": "no name"}}), 400, "path"),
        (JSON, asking(messages=[{"role": "assistant", "toolCalls": [{}]}, HELLO]), 400, "needs an `id`"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str | int) else "",
)
async def test_a_bad_request_is_refused_before_the_answer_begins(
    monkeypatch, headers, content, status, sentence
):
    agent, events = Agent(DemoProvider(pace=0)), []
    agent.on_event(events.append)
    async with serving(monkeypatch, agent) as client:
        response = await client.post("/agent", content=content, headers=headers)
    assert response.status_code == status, response.text
    assert re.search(sentence, response.text)
    assert "\n" not in response.text
    assert events == []


async def test_a_page_that_is_named_may_ask(monkeypatch):
    monkeypatch.setattr(ag_ui_server, "ORIGINS", ["http://localhost:5173"])
    headers = {**JSON, "origin": "http://localhost:5173"}
    async with serving(monkeypatch, Agent(DemoProvider(pace=0))) as client:
        response = await client.post("/agent", content=saying(), headers=headers)
    assert response.status_code == 200
    assert "RUN_FINISHED" in response.text
