"""The table of agents."""

import json

import pytest

from agent_nb.acp import known
from agent_nb.core.errors import ConfigError
from agent_nb.files.active import AGENT_FILES


@pytest.fixture(autouse=True)
def own():
    yield
    known.set_own({})


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a program as npm does: a link to a file in its package."""

    def install(program, package, version):
        folder = tmp_path / "lib" / package
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"name": package, "version": version}))
        (folder / "cli.js").write_text("#!/bin/sh\n")
        (folder / "cli.js").chmod(0o755)
        (tmp_path / program).symlink_to(folder / "cli.js")
        monkeypatch.setenv("PATH", str(tmp_path))

    return install


def test_the_state_of_an_installed_agent_has_its_version(installed):
    installed("gemini", "@google/gemini-cli", "0.61.0")
    others = {agent.name: f"install: npm install -g {agent.package}" for agent in known.KNOWN_AGENTS}
    assert known.states() == {**others, "gemini": "installed 0.61.0; log in: gemini"}


@pytest.mark.parametrize("damage", [b"[" * 100_000, b"{", b"\xff", b"[]"])
def test_a_damaged_package_has_no_version(installed, tmp_path, damage):
    installed("gemini", "@google/gemini-cli", "0.61.0")
    (tmp_path / "lib" / "@google/gemini-cli" / "package.json").write_bytes(damage)
    assert known.find("gemini").version == ""


def test_the_instruction_files_of_each_agent_are_known():
    assert {*known.AGENTS} <= {*AGENT_FILES}


def test_an_older_adapter_is_named(installed):
    installed("claude-agent-acp", "@agentclientprotocol/claude-agent-acp", "0.49.0")
    assert known.states()["claude"] == (
        "installed 0.49.0; older than 0.99.1: update Node, then"
        " npm install -g @agentclientprotocol/claude-agent-acp; log in: claude /login"
    )


def test_own_agents_are_added_and_replace_the_command_of_known_ones():
    known.set_own({"mine": ["my-agent", "--acp"], "gemini": ["/opt/gemini", "--acp"]})
    assert known.find("mine").command == ("my-agent", "--acp")
    assert known.find("gemini").title == "Gemini CLI"
    assert known.find("gemini").command == ("/opt/gemini", "--acp")
    assert known.states()["mine"] == "its command was not found"
    known.set_own({})
    assert "mine" not in known.AGENTS


@pytest.mark.parametrize("wrong", [{"a b": ["x"]}, {"mine": []}, {"mine": [""]}, {"mine": "text"}])
def test_a_wrong_agent_is_refused(wrong):
    with pytest.raises(ConfigError, match="a command as a list of words"):
        known.set_own(wrong)
