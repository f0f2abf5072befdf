"""The specification of hooks stays short, and a finished run needs no code of features."""

import ast
import asyncio
import subprocess
import sys

import pytest

from agent_nb.providers.scripted import text
from tests.support.scripts import run_script
from tests.unit.test_layers import PACKAGE


@pytest.mark.parametrize(("name", "most"), [("draft", 105), ("feature_code", 150)])
def test_the_specification_stays_short(name, most):
    """Lines of code, without docstrings."""
    source = (PACKAGE / "engine" / f"{name}.py").read_text(encoding="utf-8")
    texts = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    in_texts = {line for node in texts for line in range(node.lineno, node.end_lineno + 1)}
    code = [n for n, line in enumerate(source.splitlines(), 1) if line.strip() and n not in in_texts]
    assert len(code) <= most


READ = """
import asyncio, sys
import agent_nb
run = agent_nb.load(sys.argv[1])
run.text, run.answer
print([name for name in sys.modules if name.startswith("agent_nb.features.")])
asyncio.run(agent_nb.Agent("replay:" + sys.argv[1]).run(run.prompt))
from agent_nb.engine.feature_code import RunPart, CellCode
print([kind.__name__ for kind in CellCode.__subclasses__() if kind.__module__ != CellCode.__module__])
"""


def test_a_loaded_run_imports_no_code_of_features_and_a_replay_none_for_cells(tmp_path):
    run = asyncio.run(run_script([text("Hi.")]))
    run.save(tmp_path / "hero.run.jsonl")
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "hero.run.jsonl")],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded, cells = map(ast.literal_eval, done.stdout.splitlines())
    assert all(name.count(".") == 2 for name in loaded)  # declarations
    assert cells == []
