"""`list_variables`: one short line for each variable, whatever it is, and no work for what is not shown."""

import math

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from agent_nb import kernel_tools
from agent_nb._base.secrets import mask
from agent_nb.core.events import ToolFinished
from agent_nb.core.messages import ToolResult
from agent_nb.notebook.kernel_tools import variables
from agent_nb.notebook.kernel_tools.variables import (
    ITEMS,
    WIDTH,
    kinds,
    list_variables,
    one_line,
    size,
    type_name,
)
from agent_nb.providers.scripted import call, text
from tests.support import awkward
from tests.support.scripts import of, run_script

SECRET = "correct-horse"
short = st.text(max_size=12)
leaves = st.none() | st.integers() | st.floats() | short | st.binary(max_size=12)
secrets = st.dictionaries(st.sampled_from(["password", "api_key", "token"]), st.just(SECRET))
values = st.recursive(
    leaves | secrets,
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(short, inner, max_size=4) | st.tuples(inner),
    max_leaves=12,
)


def listed(shell) -> dict[str, str]:
    """The line of each variable, by name, as the toolbox masks it."""
    _, *lines = mask(list_variables(shell.ipython).run({}, None).text).splitlines()
    return {name: rest for name, _, rest in (line.removeprefix("- ").partition(": ") for line in lines)}


async def test_each_variable_has_a_line_and_a_description_whatever_it_is(shell, monkeypatch):
    monkeypatch.setattr(variables, "SECONDS", 60.0)  # a busy machine is not the subject here
    monkeypatch.setattr(variables, "SECONDS_IN_ALL", 600.0)
    assert shell.run(awkward.cell()).error is None
    lines = listed(shell)
    wrong = {
        name: lines[name]
        for name, (_, beginning) in awkward.VARIABLES.items()
        if not lines[name].startswith(beginning)
    }
    assert wrong == {}
    assert "abc" not in str(lines)
    assert max(map(len, lines.values())) < 400

    calls = [call("describe_variable", {"name": name}) for name in awkward.VARIABLES]
    run = await run_script([call("list_variables"), *calls], [text("Done.")], tools=kernel_tools())
    assert run.text == "Done."
    finished = of(run, ToolFinished)
    assert len(finished) == len(calls) + 1
    assert [event for event in finished if not event.ok] == []
    results = [
        part.text for message in run.messages for part in message.parts if isinstance(part, ToolResult)
    ]
    assert not any("'abc'" in result or "Ab1Ab1" in result for result in results)


def test_a_slow_variable_is_reported(shell, monkeypatch):
    monkeypatch.setattr(variables, "SECONDS", 0.05)
    shell.run(awkward.CLASSES + "slow = EndlessRepr()")
    assert "(not readable: takes longer than 0.05 seconds)" in listed(shell)["slow"]


def test_when_the_time_for_all_is_over_the_rest_is_not_read(shell, monkeypatch):
    monkeypatch.setattr(variables, "SECONDS_IN_ALL", -1.0)
    shell.run("number = 3")
    assert listed(shell)["number"].endswith("(not read: the variables before took too long)")


def test_old_variables_are_counted(shell, monkeypatch):
    monkeypatch.setattr(variables, "MOST", 2)
    shell.run("a = b = c = 1\nd = 2")
    output = list_variables(shell.ipython).run({}, None)
    assert output.text == "4 variables, newest first:\n- d: int; 2\n- c: int; 1\nand 2 older"
    assert output.summary == "4 variables"
    assert "<td" in output.outputs[0]["text/html"]


def test_an_empty_notebook_says_so(shell):
    assert list_variables(shell.ipython).run({}, None).text == "The notebook has no variables yet."


def test_what_code_leaves_is_told_by_kind_and_size_but_not_what_code_is_made_of():
    class Slow:
        def __len__(self):
            raise RuntimeError("asked")

    groups = pd.DataFrame({"a": [1, 1]}).groupby("a")
    before = dict(vars(groups))
    left = kinds(
        {"math": math, "f": len, "C": Slow, "g": lambda: 1, "rows": [1, 2], "n": 3, "s": Slow(), "by": groups}
    )
    assert left == {"rows": "list, 2 items", "n": "int", "s": "tests.Slow", "by": "pandas.DataFrameGroupBy"}
    assert dict(vars(groups)) == before
    assert len(kinds({f"n{number}": number for number in range(100)})) == 12


@given(values)
def test_any_value_has_a_short_line_without_secrets(value):
    text = one_line("value", value)
    assert len(text) <= WIDTH
    assert len(text.splitlines()) <= 1
    assert SECRET not in text
    assert type_name(value)
    assert isinstance(size(value), str)


class Counted(set):
    read = 0

    def __iter__(self):
        for item in super().__iter__():
            self.read += 1
            yield item


def test_only_the_first_items_are_read():
    numbers = Counted(range(100_000))
    assert one_line("value", numbers).startswith("[0, 1, 2, ")
    assert numbers.read <= ITEMS + 1
