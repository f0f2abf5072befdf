"""The scripted agent as `acp:fake`."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_nb import Agent
from agent_nb.acp import known
from agent_nb.acp.folder import cache_folder
from tests.support.agents import FAKE

ASKING = {"sessionId": "s1", "modes": {"availableModes": [{"id": "default"}, {"id": "read-only"}]}}
"""A session with the modes in which known agents ask."""


class FakeAgent:
    """Writes scripts for the agent, and reads what it has noted."""

    def __init__(self, folder: Path) -> None:
        self._script, self._log = folder / "script.json", folder / "log.jsonl"

    def plays(
        self, *prompts: list[dict[str, Any]], fault: str = "", agent: str = "fake", **more: Any
    ) -> None:
        """The steps for each prompt, as this agent."""
        script = {
            "prompts": prompts,
            "log": str(self._log),
            **({} if agent == "fake" else {"new": ASKING}),
            **more,
        }
        self._script.write_text(json.dumps(script))
        self._log.unlink(missing_ok=True)
        known.set_own({agent: [sys.executable, "-S", FAKE, str(self._script), *([fault] if fault else [])]})

    def noted(self, name: str) -> list[Any]:
        lines = self._log.read_text().splitlines() if self._log.exists() else ()
        return [entry[name] for line in lines if name in (entry := json.loads(line))]

    def received(self, method: str) -> list[dict[str, Any]]:
        return [message["params"] for message in self.noted("received") if message.get("method") == method]


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    return cache_folder()


@pytest.fixture
def fake(tmp_path: Path, cache: Path) -> Iterator[FakeAgent]:
    yield FakeAgent(tmp_path)
    known.set_own({})


@pytest.fixture
def run_fake(fake: FakeAgent) -> Callable[..., Any]:
    """Runs steps of the fake agent to the end."""

    async def run(*prompts: list[dict[str, Any]], approve: Any = "auto", **script: Any) -> Any:
        fake.plays(*prompts, **script)
        return await Agent("acp:fake", approve=approve).run("Make a page.")

    return run
