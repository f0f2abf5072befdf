"""The progress bar, in a terminal and elsewhere."""

import io

from agent_nb.lab.marks.progress import with_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_one_line_in_a_terminal_only():
    terminal, file = Terminal(), io.StringIO()
    assert list(with_progress([1, 2, 3], terminal)) == list(with_progress([1, 2, 3], file)) == [1, 2, 3]
    lines = terminal.getvalue().split("\r")
    assert lines[1] == f"[{'#' * 10}{'.' * 20}] 1/3"
    assert lines[-1] == f"[{'#' * 30}] 3/3\n"
    assert file.getvalue() == ""
    assert list(with_progress([], terminal)) == []
