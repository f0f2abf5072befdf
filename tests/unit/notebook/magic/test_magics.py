"""`%%agent` as a magic: its help, and how it is loaded, renamed and unloaded."""

import re
import subprocess
import sys

import pytest

from agent_nb.notebook.magic.magics import CellRewriter
from agent_nb.providers.vendors import VENDORS


def rewriters(shell) -> list[CellRewriter]:
    transforms = shell.ipython.input_transformer_manager.line_transforms
    return [transform for transform in transforms if isinstance(transform, CellRewriter)]


def registered(shell) -> set[str]:
    return {name for table in shell.ipython.magics_manager.magics.values() for name in table}


def test_loading_again_leaves_one_magic(shell):
    first = shell.magics
    shell.ipython.run_line_magic("reload_ext", "agent_nb")
    assert shell.magics is not first
    assert rewriters(shell) == [shell.magics.rewriter]
    assert [each for each in shell.ipython.configurables if type(each).__name__ == "AgentMagics"] == [
        shell.magics
    ]


def test_unloading_removes_everything(shell):
    shell.ipython.run_line_magic("unload_ext", "agent_nb")
    try:
        assert not rewriters(shell)
        assert "agent" not in registered(shell)
        assert "AgentMagics" not in shell.ipython.magics_manager.registry
        assert not shell.run("%%agent hero\nA form").ok
    finally:
        shell.ipython.run_line_magic("load_ext", "agent_nb")


def test_the_magic_may_have_another_name(shell):
    shell.run("%config AgentMagics.magic_name = 'robot'")
    assert shell.run("%%robot hero -m demo: --pace 0\nA form").ok
    assert shell.names["hero"].reason == "end_turn"
    assert "agent" not in registered(shell)
    assert "`%robot runs` lists them." in shell.run("%robot load nothing").stderr


@pytest.mark.parametrize("name", ["", "two words", "1st"])
def test_a_magic_name_that_is_no_identifier_is_refused(shell, name, caplog):
    shell.run(f"%config AgentMagics.magic_name = {name!r}")
    assert f"The magic cannot be called {name!r}." in caplog.text
    assert shell.magics.magic_name == "agent"
    assert shell.run("%%agent hero -m demo: --pace 0\nA form").ok
    assert shell.names["hero"].reason == "end_turn"


@pytest.mark.parametrize("autoawait", [True, False], ids=["awaited", "plain"])
def test_dollars_and_braces_are_left_alone(shell, autoawait):
    """IPython would otherwise expand variables on the line of a magic."""
    shell.names["price"] = 3
    shell.ipython.autoawait = autoawait
    line = "hero -m demo: --pace 0 --system 'Pay $price {price}'"
    assert shell.run(f"%%agent {line}\nA page of {{price}} $price").ok
    assert shell.names["hero"].prompt == "A page of {price} $price"
    assert shell.names["hero"].system.endswith("Pay $price {price}")


def test_help_names_the_recommended_models(shell):
    texts = [
        shell.run("%agent help").stdout,
        *(trait.help for trait in shell.magics.traits(config=True).values()),
    ]
    mentioned = re.findall(rf"\b({'|'.join(VENDORS)}):([\w.-]*\w)", " ".join(texts))
    assert {vendor for vendor, _ in mentioned} >= {"anthropic", "openai", "ollama"}
    named = [(vendor, model) for vendor, model in mentioned if model != "NAME"]
    assert all(VENDORS[vendor].recommended == model for vendor, model in named), named


@pytest.mark.parametrize("cell", ["%%agent -m demo: --pace 0 --plain --no-save\nA form", "%agent tools"])
def test_the_demo_is_found_in_a_process_that_has_imported_nothing_else(cell, tmp_path):
    code = f"""if True:
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_cell("%load_ext agent_nb").raise_error()
        shell.run_cell({cell!r}).raise_error()"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
