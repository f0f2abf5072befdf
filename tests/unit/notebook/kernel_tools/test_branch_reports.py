"""Code in a branch that changes what the branch reports: the session decides what is applied."""

import pandas
import pytest

from agent_nb import ConfigError
from agent_nb.notebook.kernel_tools import in_place
from agent_nb.notebook.kernel_tools.applied import BranchedKernel
from tests.unit.notebook.kernel_tools.test_applied import patient, ran  # noqa: F401 - a fixture


def test_nothing_of_a_failed_call_is_applied_unseen(shell):
    lies = (
        "import agent_nb.notebook.kernel_tools.python as tool\n"
        "tool.failed_line = lambda error: 99\n1/0\nresult = 'never ran'"
    )
    run = ran(lies, "result = globals().get('result', 1)")
    with pytest.raises(
        ConfigError, match=r"(?s)A call of `look` failed.*anyway=True.*\n\n# From.*\nresult = 'never ran'$"
    ):
        run.apply()
    _, problem = run.branched_from.offer(run)
    assert "A call of `look` failed" in problem
    assert "result" not in shell.names
    second = ran("more = result", base=run)
    with pytest.raises(ConfigError, match="result = 'never ran'"):
        second.apply()


def test_a_failed_call_that_nothing_needs_is_left_out_without_a_question(shell):
    run = ran("total = 5; total.nope", "total = 6\nprint('total')")
    run.apply()
    assert shell.names["total"] == 6


def test_every_call_that_succeeded_is_applied(shell):
    shell.run("count = 0\ndef step():\n    global count\n    count += 1\n    return count")
    run = ran("step()", "step()", "step()")
    assert len(run.to_cells().code) == 1
    run.apply()
    assert shell.names["count"] == 3


LIES = """from agent_nb.notebook import user_variables
from agent_nb.notebook.kernel_tools import applied, branch_process
for module in (user_variables, applied, branch_process):
    module.names_read = lambda *arguments: []
    module.fingerprints = lambda values: {}
"""


@pytest.mark.parametrize("name", ["limit", "rows", "table"])
def test_a_branch_cannot_hide_what_code_reads_or_that_it_has_changed(shell, name):
    shell.names["pd"] = pandas
    shell.run("limit = 1; rows = [1]; table = pd.DataFrame({'a': [1]})")
    run = ran(LIES, f"y = {name}")
    shell.run("limit = 2; rows.append(2); table['a'] = 2")
    with pytest.raises(ConfigError, match=f"`{name}` has changed since"):
        run.apply()
    assert "y" not in shell.names


def test_a_change_between_the_copy_and_the_call_is_found_also_after_a_new_copy(shell):
    shell.run("rows = [1]; other = [1]")
    session = BranchedKernel(shell.ipython)
    session.copied()
    shell.run("rows.append(2)")
    session.remember("rows")
    shell.run("other.append(2)")
    session.copied()
    assert session.changed(["rows; other"]) == ["rows"]


def test_what_there_was_no_time_to_read_is_read_when_the_code_needs_it(shell, monkeypatch):
    shell.run("rows = [1]; other = [1]")
    session = BranchedKernel(shell.ipython)
    with monkeypatch.context() as patch:
        patch.setattr(in_place, "SECONDS", 0)
        session.copied()
    session.remember("rows")
    shell.run("rows[0] = 2; other[0] = 2")
    assert session.changed(["rows; other"]) == ["rows"], "nobody has read the other one"
