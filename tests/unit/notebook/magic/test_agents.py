"""`-m acp:NAME` in cells, with the scripted agent."""

import json
import re
import sys
from pathlib import Path

import pytest
from traitlets import TraitError

from agent_nb.acp import known
from agent_nb.notebook.magic import candidates
from agent_nb.notebook.session import MagicSettings, Session
from tests.support.agents import FAKE

STEPS = [{"edit": "index.html", "text": "<h1>Bread</h1>\n"}, {"say": "Done."}]
OFFERING = {"sessionId": "s1", "models": {"availableModels": [{"modelId": "opus", "name": "Opus 5.5"}]}}


@pytest.fixture
def cell(shell, monkeypatch, tmp_path):
    """Runs a cell on the scripted agent, which is `acp:mine`."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    script = tmp_path / "script.json"

    def run(line="", steps=STEPS, prompt="A bakery.", model="acp:mine"):
        script.write_text(json.dumps({"prompts": [steps], "new": OFFERING}))
        command = [sys.executable, "-S", FAKE, str(script)]
        shell.run(f"%config AgentMagics.agents = {{'mine': {command!r}}}")
        return shell.run(f"%%agent hero -m {model} {line}\n{prompt}")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield run
    known.set_own({})


def allow(monkeypatch, answer="y"):
    asked = []
    monkeypatch.setattr("builtins.input", lambda prompt="": asked.append(prompt) or answer)
    monkeypatch.setattr(Session, "is_attended", lambda session: True)
    return asked


def test_a_command_of_ones_own_asks_once(cell, shell, monkeypatch):
    asked = allow(monkeypatch)
    for _ in range(2):
        assert cell("--approve auto --replay off").ok
    assert dict(shell.names["hero"].files) == {"index.html": "<h1>Bread</h1>\n"}
    assert len(asked) == 1
    assert "The cell starts the outside agent `acp:mine`:" in asked[0]
    assert "fake.py" in asked[0]


def test_a_variable_of_the_notebook_reaches_the_agent(cell, shell, monkeypatch):
    allow(monkeypatch)
    shell.run("price = 42")
    code = {"code": "price + 1"}
    done = cell("-t kernel --approve auto", [{"tool": "run_python", "args": code}, {"say": "43."}])
    assert done.ok, done.stderr
    question, use = shell.names["hero"].tool_uses
    assert (question.call.name, use.call.name) == ("mine_other", "run_python")
    assert "43" in use.result.text


def test_a_cassette_plays_without_the_agent(cell, shell, monkeypatch):
    allow(monkeypatch)
    assert cell("--approve auto --record").ok
    known.set_own({})
    shell.run("%config AgentMagics.agents = {}")
    played = shell.run("%%agent hero -m acp:mine --replay\nA bakery.")
    assert played.ok, played.stderr
    assert shell.names["hero"].settings["replayed"] == "cassettes/hero.run.jsonl"


def test_agents_are_listed_with_their_state(shell, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    table = shell.run("%agent models").displays[0]["text/plain"]
    assert "acp:gemini" in table
    assert "install: npm install -g @google/gemini-cli" in table


def test_the_models_of_an_agent_are_listed_when_it_is_asked_and_afterwards(cell, shell, monkeypatch):
    asked = allow(monkeypatch)
    assert cell("--approve auto").ok
    listed = shell.run("%agent models acp:mine").displays[0]["text/plain"]
    assert re.search(r"acp:mine/opus +Opus 5.5", listed)
    assert "offers opus" in shell.run("%agent models").displays[0]["text/plain"]
    assert ("acp:mine/opus", "Opus 5.5") in candidates.of_option(shell.session, "models", "")
    assert len(asked) == 1


@pytest.mark.parametrize("model", ["acp:mine", "acp:mine/opus", "ACP:mine", '"acp: mine"'])
def test_no_spelling_of_a_command_of_ones_own_starts_it_without_a_yes(cell, monkeypatch, model):
    allow(monkeypatch, "n")
    why = "its command is new, and you have not allowed it."
    assert f"`acp:mine` was not started: {why}" in cell(model=model).stderr


def test_asking_for_models_starts_nothing_without_a_yes(cell, shell, monkeypatch):
    allow(monkeypatch, "n")
    cell()
    assert "`acp:mine` was not started" in shell.run("%agent models acp:mine").stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [("claude", "takes at most an outside agent"), ("acp:claude", "is not allowed in this notebook")],
)
def test_a_class_with_other_models_starts_no_agent_for_its_models(shell, monkeypatch, line, words):
    Path("lab.toml").write_text('[lab]\nmodels = ["demo:"]\n')
    assert words in shell.run(f"%agent models {line}").stderr


def test_an_outside_agent_does_not_get_the_text_of_the_folder(cell, shell, monkeypatch):
    asked = allow(monkeypatch)
    Path("AGENTS.md").write_text("Use British spelling.")
    assert cell("--approve auto").ok
    assert len(asked) == 1  # about its command
    assert "agents_md" not in shell.names["hero"].settings


def test_a_wrong_setting_is_refused():
    with pytest.raises(TraitError, match="a command as a list of words"):
        MagicSettings().agents = {"mine": "text"}
