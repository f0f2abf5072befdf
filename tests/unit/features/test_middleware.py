"""`%agent use`: middleware in variables, in the runs of the following cells."""

import pytest

from agent_nb.core.events import TurnStarted
from tests.support.scripts import of

CELL = "%%agent page -m demo: --pace 0\nA form"
SETUP = """
class Sent:
    def on_request(self, request):
        self.texts = repr(request)
sent, other, number = Sent(), Sent(), 3
"""


@pytest.fixture
def notebook(shell):
    assert shell.run(SETUP).ok
    return shell


def test_a_cell_calls_what_is_in_use(notebook):
    assert notebook.run("%agent use other sent -other").stdout.strip() == "In use, in this order: `sent`."
    assert notebook.run(CELL).ok
    assert "A form" in notebook.names["sent"].texts
    assert not hasattr(notebook.names["other"], "texts")
    assert "Sent  on_request" in repr(notebook.run("%agent use").displays)


def test_each_variant_calls_it_once(notebook):
    notebook.run("seen = []\nSent.on_request = lambda self, request: seen.append(request.variant)")
    notebook.run("%agent use sent")
    assert notebook.run(CELL.replace("--pace", "-n 2 --pace")).ok
    first, second = (of(variant, TurnStarted) for variant in notebook.names["page"].variants)
    assert sorted(notebook.names["seen"]) == [0] * len(first) + [1] * len(second)


def test_a_dry_run_names_it(notebook):
    assert "Middleware" not in notebook.run(CELL.replace("\n", " --dry-run\n")).stdout
    notebook.run("%agent use sent other")
    assert "Middleware: sent, other, which" in notebook.run(CELL.replace("\n", " --dry-run\n")).stdout


def test_a_missing_variable_stops_the_cell_and_a_wrong_one_is_refused(notebook):
    notebook.run("%agent use sent")
    notebook.run("del sent")
    assert str(notebook.run(CELL).error) == "`sent` is not defined. `%agent use -sent` removes it."
    assert "`other` is not in use. In use, in this order: `sent`." in str(
        notebook.run("%agent use -other").error
    )
    assert "`number` cannot be used. Middleware has one of" in str(notebook.run("%agent use number").error)
    assert notebook.run("%agent use -sent").stdout.strip() == "No middleware in use."
    assert notebook.run(CELL).ok


def test_a_run_that_sends_no_values_refuses_a_change_of_requests(notebook):
    notebook.run("%agent use sent")
    error = notebook.run(CELL.replace("\n", " --data schema\n")).error
    assert "Middleware with `on_request` may add values" in str(error)
    assert not hasattr(notebook.names["sent"], "texts")
