"""Variables that code reads without naming them in its own code: Apply compares them, too."""

import functools

import pandas
import pytest

from agent_nb import ConfigError
from tests.unit.notebook.kernel_tools.test_applied import patient, ran  # noqa: F401 - a fixture


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("table = pd.DataFrame({'x': [1]})", "y = table.query('x > @limit')"),
        ("", "!echo {limit}"),
        ("", "%%timeit -n1 -r1\nlimit"),
        ("", "y = !echo {limit}"),
        ("", "%time y = limit"),
        ("", "y = globals()['limit']"),
        ("", "y = [eval(b'limit') for _ in '1']"),
        ("", "def g(): return eval('limit')\ny = g()"),
        ("def above(): return limit + 1", "y = above()"),
        ("def above(): return (lambda: eval('limit'))()", "y = above()"),
        ("def inner(): return limit\ndef above(): return inner()", "y = above()"),
        ("def made(f):\n    return lambda: f()\nabove = made(lambda: limit)", "y = above()"),
        ("above = functools.partial(functools.cache(lambda: limit))", "y = above()"),
        ("class Above:\n    @property\n    def y(self): return limit\nabove = Above()", "y = above.y"),
        (
            "class Above:\n    @staticmethod\n    def y(): return limit\nclass More(Above): pass",
            "y = More.y()",
        ),
        ("sum = 3", "y = sum; limit = 0"),
    ],
)
def test_what_code_reads_in_other_ways_is_compared(shell, before, code):
    shell.names |= {"pd": pandas, "functools": functools}
    shell.run(f"limit = 0\n{before}")
    ran(code).apply()
    run = ran(code)
    shell.run("sum = 4" if "sum" in before else "limit = 1")
    with pytest.raises(ConfigError, match=r"`(limit|sum)` has changed since"):
        run.apply()


@pytest.mark.parametrize("code", ["limit = 2; y = eval('limit')", "y = 'unlimited'"])
def test_what_code_sets_first_or_does_not_name_is_not_compared(shell, code):
    shell.run("limit = 0\ndef unused(): return limit")
    run = ran(code)
    shell.run("limit = 1")
    run.apply()
