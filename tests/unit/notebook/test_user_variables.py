"""Which variables are the user's own, and which of them are the newest."""

import pytest

from agent_nb.notebook.user_variables import newest_variables, user_data, user_names


def names(shell) -> list[str]:
    return [name for name, _ in newest_variables(shell.ipython)]


def test_only_the_users_own_are_listed(shell):
    shell.run(
        "from __future__ import annotations\n"
        "import math, numpy as np\n"
        "from math import sqrt, pi\n"
        "from typing import Any, Optional\n"
        "from pathlib import Path\n"
        "from agent_nb import Agent, tool, kernel_tools\n"
        "_private, number = 1, 2\n"
        "@tool\ndef weather(city: str) -> str:\n    return city\n"
        "def double(x): return 2 * x\n"
        "class Thing: pass\n"
        "tools = kernel_tools()"
    )
    shell.run("1 + 1")
    assert sorted(names(shell)) == ["Thing", "double", "number", "pi", "tools"]


def test_a_name_of_ipython_is_the_user_s_once_they_took_it(shell):
    shell.run("_private, exit = 1, 3\nopen = 4")
    assert user_names(shell.ipython) == {"exit": 3, "open": 4}
    assert names(shell) == ["open", "exit"]


def test_code_is_not_data(shell):
    shell.run(
        "import math\nfrom math import sqrt, pi\nclass Thing: pass\ndef double(x): return 2 * x\nthing = Thing()"
    )
    assert [*user_data(shell.ipython)] == ["pi", "thing"]


@pytest.mark.parametrize(
    "cell",
    [
        "a = 9",
        "a += [1]",
        "a: int = 9",
        "a, *rest = 1, 2",
        "for a in range(3): pass",
        "with __import__('io').StringIO() as a: pass",
        "if True:\n    a = 3",
        "(a := 3)",
        "def a(): pass",
        "async def a(): pass",
        "class a: pass",
        "a = await __import__('asyncio').sleep(0, 3)",
        "%%time\na = 3",
        "%time a = 3",
        "del a\na = 1",
        "d['x'] = 1; a = d",
        "s.x.y = 1; a = s",
        "a[0] = 1",
        "a.append(1); a[0:] = []",
        "a[0][1] = 2",
    ],
)
def test_a_cell_that_assigns_a_name_or_an_item_makes_it_the_newest(shell, cell):
    shell.run("from types import SimpleNamespace\nd, s = {}, SimpleNamespace(x=SimpleNamespace())")
    shell.run("a = [[1, 2]]")
    shell.run("b = 2")
    assert names(shell)[:2] == ["b", "a"]
    assert shell.run(cell).error is None
    found = names(shell)
    assert found.index("a") < found.index("b")


@pytest.mark.parametrize(
    "cell", ["[a for a in range(3)]", "def f(a):\n    a = 3", "lambda a: a", "a ==", "a"]
)
def test_a_name_of_another_scope_does_not_count(shell, cell):
    shell.run("a = 1")
    shell.run("b = 2")
    shell.run(cell)
    assert [name for name in names(shell) if name != "f"] == ["b", "a"]


def test_names_that_no_cell_assigns_are_ordered_by_their_first_assignment(shell):
    shell.run("a = 1")
    shell.run("exec('z = 1')")
    shell.run("b = 2")
    shell.names["y"] = 3
    assert names(shell) == ["y", "b", "z", "a"]
    shell.run("a = 2")
    assert names(shell) == ["a", "y", "b", "z"]


def test_a_reset_forgets_all(shell):
    shell.run("a = 1")
    shell.run("%reset -f")
    assert names(shell) == []
    shell.run("b = 1")
    assert names(shell) == ["b"]
