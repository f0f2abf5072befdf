"""Python in a browser: what works without threads, and the sentence about each thing that does not."""

import json
import subprocess
import sys

import httpx2
import pytest

from agent_nb import Agent, model
from agent_nb.providers.failure import from_network
from tests.support import ROOT
from tests.support.wire import Say, reply
from tests.support.wire.cases import CASE


def test_agents_work_without_threads_locks_and_some_packages(tmp_path) -> None:
    command = [sys.executable, "-m", "tests.support.as_in_a_browser"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PATH": "", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "recorded": "end_turn",
        "same": True,
        "tool": "on the loop",
        "map": ["end_turn", "end_turn"],
        "race": ["end_turn", "end_turn"],
        "stopped": "stopped",
        "saved": 1,
        "leftovers": [True, False],
        "attended": True,
        "bound": ["on the loop", ""],
        "read": "inline",
        "run_sync": "CannotBlockError: In a browser, synchronous code cannot wait for a run: use `await agent.run"
        "(...)`, and write `%%agent` in the first line of its cell.",
        "image": "InstallError: Images need the `pillow` package: `%pip install pillow`.",
        "gemini": "InstallError: Gemini is not available in a browser, where the 'google-genai' package cannot be "
        "installed. Use another vendor here.",
        "mcp": "ConfigError: MCP servers are not available here: they need threads, which Python in a browser lacks.",
    }


@pytest.mark.parametrize("in_browser", [True, False])
async def test_anthropic_is_told_that_a_browser_asks(monkeypatch, server, in_browser) -> None:
    monkeypatch.setattr("agent_nb.providers.anthropic_messages.IN_BROWSER", in_browser)
    server.plan(reply(Say("Hello.")))
    async with Agent(CASE["anthropic_messages"].provider(server)) as agent:
        await agent.run("Hello?")
    header = server.requests[0].headers.get("anthropic-dangerous-direct-browser-access")
    assert header == ("true" if in_browser else None)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "chat:m",
            "The browser gets no answer from http://127.0.0.1:9/v1: Failed to fetch. The server there must be running "
            "and allow requests from this page's origin (CORS).",
        ),
        (
            "openai:gpt-6.1-sol",
            "The browser gets no answer from http://127.0.0.1:9/v1: Failed to fetch. Either there is no network, or it "
            "takes no requests from web pages. Try again, or use another vendor.",
        ),
    ],
)
def test_a_server_that_does_not_answer_a_page(monkeypatch, name, sentence) -> None:
    monkeypatch.setattr("agent_nb.providers.failure.IN_BROWSER", True)
    settings = model(name, api_key="none", base_url="http://127.0.0.1:9/v1").settings
    assert str(from_network(settings, httpx2.ConnectError("Failed to fetch"))) == sentence
