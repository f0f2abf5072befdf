"""Which cells count as a try of one's own: those that change or run something, not those that only look."""

import pytest

from agent_nb.lab.hints.tries import is_try


@pytest.mark.parametrize(
    "source",
    [
        "hero",
        "hero.text",
        "hero.files['index.html']",
        "print(hero.text)",
        "print(hero.text.splitlines()[:3])",
        "hero.to_markdown()",
        "display(hero)",
        "'\\n'.join(sorted(hero.files))",
        "for line in hero.text.splitlines():\n    print(line)",
        "items",
        "len(items)",
        "import math",
        "hero?",
        "?hero",
        "help(print)",
        "%agent lab\n!ls\n# a comment",
        "%%time\nhero.text",
        "",
    ],
)
def test_a_cell_that_only_looks_is_no_try(source):
    assert not is_try(source, {"hero"})


@pytest.mark.parametrize(
    "source",
    [
        "x = 1",
        "x += 1",
        "del x",
        "hero = hero.with_files({})",
        "def fact(n): ...",
        "class Shape: ...",
        "fact(5)",
        "print(fact(5))",
        "assert fact(5) == 120",
        "await solve()",
        "items.sort()",
        "[fact(n) for n in range(5)]",
        "math.factorial(5)",
        "(lambda n: n * 2)(3)",
        "%%time\nfact(5)",
        "%%writefile fact.py\nanswer",
        "def fact(n) return n",
        "names = !ls",
        "hero.text\nfact(5)",
    ],
)
def test_a_cell_that_changes_or_runs_something_is_a_try(source):
    assert is_try(source, {"hero"})
