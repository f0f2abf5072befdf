"""The example of a plugin with a feature: it uses every hook that is promised to plugins."""

import ast
import importlib.util
import sys

import pytest

from agent_nb import Agent
from agent_nb.engine.feature_code import CellCode, FeatureCode, RunPart
from agent_nb.notebook.command_line import main
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support import ROOT
from tests.support.plugins import plugin_of

SOURCE = ROOT / "docs/examples/agent-nb-words/agent_nb_words.py"
ONLY_BUILT_IN = {"written", "shown"}
"""A view of what is shown is part of the page."""


@pytest.fixture
def words():
    spec = importlib.util.spec_from_file_location(SOURCE.stem, SOURCE)
    module = sys.modules[SOURCE.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with plugin_of(module.WORDS):
        yield module
    del sys.modules[SOURCE.stem]


def test_it_uses_every_promised_hook():
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    used = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    hooks = {
        name
        for kind in (RunPart, FeatureCode, CellCode)
        for name, value in vars(kind).items()
        if callable(value) and not name.startswith("_")
    }
    assert hooks - used == ONLY_BUILT_IN


async def test_it_asks_again_and_gives_the_run_a_value(words):
    with ScriptedProvider([[text("One two three four.")], [text("One two.")]]) as provider:
        run = await Agent(provider, words=3).run("go")
        first, second = (request.system for request in provider.requests)
    assert (run.text, run.words, run.settings["words"]) == ("One two.", 2, 3)
    assert "2 words." in run.to_markdown()
    assert "Answer in at most 3 words." in first
    assert "Your last answer was too long." in second


def test_in_a_cell_and_as_commands(words, shell, capsys):
    done = shell.run("%%agent hero -m demo: --pace 0 --words 5\nWho are you?")
    assert done.ok, done.stderr
    assert "of 5 words." in done.stdout
    assert f"[{shell.names['hero'].words}]" in shell.run("%agent words").stdout
    assert main(["words", "a", "b"]) == 0
    assert capsys.readouterr().out == "2\n"
