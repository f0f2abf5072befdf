"""`%agent cells NAME --verify` on a real kernel, with another real kernel that runs the cells."""

import pytest

from agent_nb.notebook.verify import outcome
from tests.support.kernels import start_kernel
from tests.support.waiting import wait_for
from tests.support.wire import Call, Say, reply

MODEL = "-m openai:gpt-6.1-sol -t kernel --approve auto"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory, vendor):
    home = tmp_path_factory.mktemp("kernel")
    (home / "prices.csv").write_text("price\n2\n3\n")
    with start_kernel(home, **vendor) as kernel:
        setup = (
            "import pandas as pd, os\n"
            "def double(x): return 2 * x\n"
            "sales = pd.DataFrame({'region': ['a', 'b', 'a'], 'sold': [1.0, 2.0, 3.0]})\n"
            "count = 1\nimport threading\nlock = threading.Lock()"
        )
        assert kernel.run(setup).status == "ok"
        yield kernel


def ran(kernel, server, *codes: str) -> None:
    server.forget()
    server.plan(
        *(reply(Say("A step."), Call("run_python", {"code": code})) for code in codes), reply(Say("Done."))
    )
    cell = kernel.run(f"%%agent ran {MODEL}\nCompute")
    assert cell.status == "ok", cell.errors


def verified(kernel, **options) -> dict[str, str]:
    """The rows of the table: what, and the result."""
    cell = kernel.run("%agent cells ran --verify", **options)
    assert cell.status == "ok", cell.errors
    lines = cell.displays[-1]["text/plain"].splitlines()[1:-1]
    return {what.strip(): result.strip() for what, _, result in (line.partition("  ") for line in lines)}


@pytest.mark.parametrize(
    ("results", "words"),
    [
        (["equal"], "1 value, the same"),
        (["equal", "equal: 99.8 of 100 alike"], "2 values, the same"),
        (
            ["equal", "differs: 1 instead of 2", "not verified: it is missing"],
            "1 equal, 1 differs, 1 not verified",
        ),
    ],
)
def test_the_outcome_in_words(results: list[str], words: str):
    assert outcome(results) == f"Ran again in a fresh kernel: {words}"


def test_a_variable_that_a_string_names_is_an_input(kernel, server):
    kernel.run("limit = 1.5")
    ran(kernel, server, "few = sales.query('sold > @limit')")
    assert verified(kernel) == {"few": "equal"}


def test_what_is_equal_and_what_differs(kernel, server):
    ran(
        kernel,
        server,
        "import matplotlib.pyplot as plt\nfactor = 10\ntotals = sales.groupby('regio').sum()",  # fails
        "totals = sales.groupby('region').sum() * factor\ntotals",
        "totals = sales.groupby('region').sum() * factor\ntotals",  # again
        "totals.plot.barh()\nplt.show()\nto_file('out/totals.json', totals)\ntotals.to_csv('totals.csv')",
        "groups = sales.groupby('region')['sold']",
        "count = double(count)\nprices = list(pd.read_csv('prices.csv')['price'])",
        "best = [1, 2]\ntable = sales.copy()",
        "pid = os.getpid()\nlazy = (n for n in [1])\ntry:\n    import agent_nb\nexcept ImportError:\n    pass",
    )
    kernel.run("best.append(3); table.loc[0, 'sold'] = 7")
    rows = verified(kernel)
    assert rows.pop("best") == "differs: 2 items instead of 3"
    assert "values are different" in rows.pop("table")
    assert rows.pop("pid").startswith("differs: ")
    assert rows.pop("lazy").startswith("not verified: it cannot be pickled (TypeError: cannot pickle")
    names = ("factor", "totals", "groups", "count", "prices", "figure 1")
    assert rows == dict.fromkeys(names, "equal")
    assert kernel.value("count") == "2"


def test_an_input_that_cannot_be_pickled_is_listed_and_what_comes_before_it_is_compared(kernel, server):
    ran(kernel, server, "before = 1", "free = lock.locked()", "after = 2")
    rows = verified(kernel)
    assert rows["input lock"].startswith("not verified: it cannot be pickled")
    assert rows["cell 2"] == "not verified: NameError: name 'lock' is not defined"
    assert (rows["before"], rows["after"]) == ("equal", "not verified: a cell failed")


def test_the_fresh_kernel_starts_no_program_of_the_folder(kernel, server):
    """Files that the code names are copied to where it runs."""
    kernel.run(
        "open('ipykernel_launcher.py', 'w').write(\"open('/'.join([os.environ['HOME'], 'ran']), 'w')\")"
    )
    kernel.run("os.environ['HOME'] = os.getcwd()")
    ran(kernel, server, "size = len(open('ipykernel_launcher.py').read())")
    assert verified(kernel) == {"size": "equal"}
    assert kernel.value("os.path.exists('ran')") == "False"


CHILDREN = "[p for p in os.popen('ps --ppid %d -o args=' % os.getpid()) if 'ipykernel_launcher' in p]"
WAITS = (
    "import time\nif 'mark' in os.environ:\n    open(os.environ['mark'], 'w').close()\n    time.sleep(1000)"
)


@pytest.fixture
def mark(kernel, server, tmp_path):
    """A file that code writes in the fresh kernel, where it then goes on without end."""
    ran(kernel, server, WAITS)
    kernel.run(f"os.environ['mark'] = {str(tmp_path / 'mark')!r}")
    yield tmp_path / "mark"
    kernel.run("del os.environ['mark']")


def test_a_cell_without_end_is_stopped_and_no_kernel_stays(kernel, mark):
    kernel.run("%config AgentMagics.python_seconds = 3")
    rows = verified(kernel)
    kernel.run("%config AgentMagics.python_seconds = 60")
    assert rows["cell 1"] == "differs: stopped after 3 seconds"
    assert mark.exists()
    assert kernel.value(CHILDREN) == "[]"


def test_an_interrupt_leaves_no_kernel(kernel, mark):
    started = kernel.start("%agent cells ran --verify")
    wait_for(mark.exists)
    kernel.interrupt()
    assert kernel.finish(started).error["ename"] == "KeyboardInterrupt"
    assert kernel.value(CHILDREN) == "[]"
