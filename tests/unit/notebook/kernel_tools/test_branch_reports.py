"""Code in a branch that changes what the branch reports: the session decides what is applied."""

import pytest

from agent_nb import ConfigError
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
