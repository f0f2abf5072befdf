"""What Apply takes of a call that failed: whole statements, each once."""

import pytest

from agent_nb.run.cells import PART
from tests.unit.notebook.kernel_tools.test_applied import patient, ran  # noqa: F401 - a fixture

FENCE = "'''"


@pytest.mark.parametrize(
    ("failed", "kept"),
    [
        (f"x = 1; a = {FENCE}\n{FENCE}; b = {FENCE}\nevil()\n{FENCE}\n1/0", f"a = {FENCE}\n{FENCE}"),
        ("x = 'é'; a = 2; x = 3\n1/0", "a = 2"),
        ("x = 1\ra = 2\n\nx = '''evil()\n'''\n1/0", "a = 2"),
        ("count += 1; a = count; b = count\n1/0", "count += 1\na = count"),
        ("!true\na = 2\n1/0", "a = 2"),
        ("def evil(): a = 3\na = 2\n1/0", "a = 2"),
    ],
)
def test_of_a_failed_call_each_statement_runs_once_and_as_it_ran(shell, failed, kept):
    shell.run("count = 0")
    run = ran(failed, "result = a", "count")
    codes = [f"{PART}\n{kept}", "result = a", "count"]
    assert [*run.to_cells().code] == run.branched_from.offer(run)[0] == codes
    run.apply(anyway=True)
    assert (shell.names["count"], shell.names["result"]) == (int("count" in kept), shell.names["a"])
    assert ("x" in shell.names, "b" in shell.names) == (False, False)
    assert shell.names["a"] in (1, 2, "\n")


def test_a_call_is_applied_exactly_as_it_was_executed(shell, tmp_path):
    code = "%%writefile out.txt\nfirst\n\n\n"
    run = ran(code)
    written = (tmp_path / "out.txt").read_text()
    (tmp_path / "out.txt").unlink()
    run.apply()
    assert (run.branched_from.offer(run)[0], (tmp_path / "out.txt").read_text()) == ([code], written)
