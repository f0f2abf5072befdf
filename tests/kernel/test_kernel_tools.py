"""`run_python` on a real kernel: what the code prints, what it does to names, and how it is stopped."""

import json

import pytest

from tests.support.live_page import Page
from tests.support.wire import Call, Say, reply

MODEL = "-m openai:gpt-6.1-sol -t kernel"
NAMES = "application/vnd.agent-nb.names+json"


class Ran:
    """What came of one call of `run_python`."""

    def __init__(self, page: Page, cell: str) -> None:
        self.page, self.cell = page, cell

    def end(self) -> "Ran":
        """Waits for the end of the run."""
        self.page.finish(self.cell)
        (self.finished,) = self.page.of("tool_finished")
        self.outputs = [bundle for bundle in self.finished["outputs"] if NAMES not in bundle]
        self.names = next((b[NAMES] for b in self.finished["outputs"] if NAMES in b), {})
        self.shown = "".join(bundle.get("text/plain", "") for bundle in self.outputs)
        return self

    @property
    def text(self) -> str:
        """What the model got."""
        return str(eval(self.page.kernel.value("ran.tool_uses[0].result.text")))


@pytest.fixture
def begin(page, start_codes):
    return lambda code, options="": Ran(page, start_codes(f"%%agent ran {MODEL} {options}\nCompute", code))


@pytest.fixture
def run(begin):
    return lambda code, options="--approve auto": begin(code, options).end()


IN_BRANCH_AND_HERE = pytest.mark.parametrize("options", ["--approve auto --branch", "--approve auto"])


@IN_BRANCH_AND_HERE
def test_output_goes_to_the_card_and_nowhere_else(page, run, options):
    page.kernel.run("_ = 1; df = None; import matplotlib.pyplot as plt, logging; logging.basicConfig()")
    ran = run(
        "import sys, asyncio\n"
        "class Table:\n    def _repr_html_(self): return '<table></table>'\n"
        "df = Table()\nprint('printed')\nprint('warned', file=sys.stderr)\nlogging.warning('logged')\n"
        "await asyncio.sleep(0)\nasync def late(): print('from a task')\n"
        "await asyncio.create_task(late())\nimport threading\n"
        "t = threading.Thread(target=print, args=('from a thread',)); t.start(); t.join()\n"
        "import multiprocessing\n"
        "f = multiprocessing.get_context('fork').Process(target=print, args=('from a fork',)); f.start(); f.join()\n"
        "import os; _status = os.system('echo from a process')\n!echo from a shell\n%time 1\n"
        "display(df)\nplt.plot([1, 2])\ndf",
        options,
    )
    assert ran.finished["ok"], ran.finished["summary"]
    sources = ("a task", "a thread", "a fork", "a process", "a shell")
    for line in ("printed", "warned", "logged", "Wall time", *(f"from {source}" for source in sources)):
        assert line in ran.shown
    assert [sorted(bundle) for bundle in ran.outputs if "text/html" in bundle] == [
        ["text/html", "text/plain"]
    ] * 2
    assert any("image/png" in bundle for bundle in ran.outputs)
    assert "printed\nwarned\n" in page.live_text()
    assert page.streams == {}
    assert len(page.displays) == 1
    assert page.kernel.value("(_, 'df' in In[-2])") == "(1, False)"
    assert page.kernel.value("len(ran.tool_uses[0].result.images)") == "1"
    assert ran.names["changed"] == ["df"]
    assert {"t", "late"} <= set(ran.names["bound"])
    assert page.kernel.value("'late' in globals()") == str("undo" in ran.names)
    assert "plt.plot" in ran.names["code"]


def test_names_are_put_back(page, run):
    page.kernel.run("x, gone, kept, same = [1], 'here', 1, [1]")
    page.kernel.run("from agent_nb.notebook.kernel_tools import in_place; in_place.SECONDS = 60")
    ran = run("x = 2\nnew = 3\nkept = 4\nsame.append(2)\ndel gone")
    assert ran.names["bound"] == ["new"]
    assert (ran.names["changed"], ran.names["deleted"]) == (["x", "kept"], ["gone"])
    assert ran.names["in_place"] == {"same": "1 item → 2 items"}
    assert "Set new; changed x, kept; deleted gone. same: 1 item → 2 items." in ran.text
    page.kernel.run("kept = 'mine'")
    answer = page.command("undo_python", token=ran.names["undo"])
    assert answer["ok"], answer
    assert "Left alone, because they have changed since: kept." in answer["text"]
    undone = {one.removeprefix(f"{ran.names['undo']} ") for one in page.batches[-1]["meta"]["undone"]}
    assert undone == {"x", "gone", "new"}
    assert page.kernel.value("(x, gone, kept, same)") == "([1], 'here', 'mine', [1, 2])"
    assert page.kernel.value("'new' in globals()") == "False"
    assert "undo" not in run("same.append(3)").names
    assert "already" in page.command("undo_python", token=ran.names["undo"])["error"]
    assert "no longer" in page.command("undo_python", token="other")["error"]


def test_a_check_fails_for_a_number_that_no_output_has(page, server):
    for answer, unsupported in (("The mean is 47.13.", ()), ("The mean is 47.1, the sum 188.5.", ("188.5",))):
        server.forget()
        server.plan(reply(Call("run_python", {"code": "print(94.25 / 2)"})), reply(Say(answer)))
        cell = page.start(
            f'%%agent ran {MODEL} --approve auto --no-raise --check "not run.unsupported"\nMean?'
        )
        page.finish(cell)
        assert page.kernel.value("ran.unsupported") == repr(unsupported)
        failed = "not run.unsupported: run.unsupported is 188.5" if unsupported else ""
        assert page.kernel.value("ran.failed_check") == repr(failed)
        ready = next(message for message in page.messages if message["kind"] == "ready")
        numbers = ready["features"]["numbers"]["0"]["table"]
        assert [number["text"] for number in numbers if not number["call_id"]] == [*unsupported]
        assert numbers[0]["call_id"] == page.kernel.value("ran.tool_uses[0].call.id").strip("'")


def test_the_output_of_code_that_blocks_the_loop_is_shown_at_once(page, begin, tmp_path):
    seen = tmp_path / "seen"
    wait = f"while not pathlib.Path({str(seen)!r}).exists(): time.sleep(0.01)"
    ran = begin(f"import pathlib, time\nprint('begun')\n{wait}\nprint('ended')", "--approve auto")
    page.pump(lambda: "begun" in page.live_text())
    assert "ended" not in page.live_text()
    seen.touch()
    assert ran.end().shown == "begun\nended\n"


@pytest.fixture
def short(page):
    """Code may run for 0.5 seconds."""
    page.kernel.run("%config AgentMagics.python_seconds = 0.5")
    yield
    page.kernel.run("%config AgentMagics.python_seconds = 60")


def test_code_that_runs_too_long_is_stopped_and_the_run_goes_on(page, run, short):
    for wait in (
        "while True: pass",
        "import time; time.sleep(1000)",
        "import asyncio; await asyncio.sleep(1000)",
        "!sleep 1000",
    ):
        ran = run(f"print('begun')\n{wait}")
        assert ran.finished["code"] == "TIMEOUT"
        assert "stopped after 0.5 seconds" in ran.text
        assert ran.shown.removesuffix("^C\n") == "begun\n"
        assert page.events()[-1]["reason"] == "end_turn"


SWALLOWS = "while True:\n    try:\n        time.sleep(0.01)\n    except {error}:\n        print('caught')"


@pytest.mark.parametrize(
    "code",
    [
        SWALLOWS.format(error="KeyboardInterrupt"),
        SWALLOWS.format(error="BaseException"),
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(1000)",
    ],
)
def test_code_that_resists_is_stopped_too_and_the_card_says_that_it_goes_on(page, run, short, code):
    ran = run(f"import time\n{code}")
    assert ran.finished["code"] == "TIMEOUT"
    lines = [event.get("text", "") for event in page.of("tool_progress")]
    if "try:" in code:
        assert any("goes on past its limit of 0.5 seconds" in line for line in lines)
    assert page.events()[-1]["reason"] == "end_turn"
    assert page.kernel.value("__import__('signal').getsignal(2) is __import__('signal').SIG_IGN") == "False"


def test_the_time_of_the_run_bounds_its_code(page, run):
    ran = run("while True: pass", "--approve auto --seconds 3")
    assert ran.finished["code"] in ("TIMEOUT", "STOPPED")
    assert page.events()[-1]["reason"] == "max_seconds"


@pytest.mark.parametrize("wait", ["while True: pass", "await asyncio.sleep(1000)"])
def test_an_interrupt_stops_the_code_and_the_run(page, begin, wait):
    ran = begin(f"import asyncio\nbegun = object()\nprint('begun')\n{wait}", "--approve auto")
    page.pump(lambda: "begun" in page.live_text())
    page.kernel.interrupt()
    ran.end()
    assert ran.finished["code"] == "STOPPED"
    assert "begun" in [*ran.names["bound"], *ran.names["changed"]]
    assert page.events()[-1]["reason"] == "interrupted"
    assert page.kernel.value("type(begun)") == "<class 'object'>"


FAILURES = {
    "a = 1\nb = a / 0": "ZeroDivisionError: division by zero (line 2)",
    "def f(:\n  pass": "SyntaxError",
    "input('name?')": "input() is not available",
    "import sys; sys.exit(3)": "SystemExit: 3",
    "exit()": "SystemExit",
    "raise KeyboardInterrupt": "KeyboardInterrupt (line 1)",
    "class E(Exception): __str__ = None\nraise E": "E: (its message cannot be shown)",
    "%%agent inner\nA page": "cannot be used in run_python",
    "class Bad:\n    def __repr__(self): raise OSError('no repr')\nBad()": "",
}


@IN_BRANCH_AND_HERE
def test_failures_come_back_short(page, run_codes, options):
    run_codes(f"%%agent ran {MODEL} {options}\nCompute", *FAILURES)
    texts = eval(page.kernel.value("[use.result.text for use in ran.tool_uses]"))
    for part, ended, text in zip(FAILURES.values(), page.of("tool_finished"), texts, strict=True):
        assert part in ended["summary"]
        assert ended["ok"] is (part == "")
        assert "kernel_tools" not in text
    assert "code, line 2, in <module>" in texts[0]
    assert "\x1b" not in json.dumps(page.of("tool_finished"))
    assert "no repr" in json.dumps(page.of("tool_finished")[-1])


def test_what_code_breaks_is_survived(page, run):
    ran = run(
        "import sys, os\nprint('sk-ant-REDACTED')\n"
        "sys.stdout.close()\nos.chdir('/')\n"
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True, name='sleeper').start()\n"
        "sys.stdout.write('x' * 50_000_000)\nsys.stdout = None"
    )
    assert ran.finished["ok"], ran.finished["summary"]
    assert "characters omitted" in ran.shown
    assert len(ran.shown) < 60_000
    for note in ("working directory is now /", "still run: sleeper"):
        assert note in ran.text
    assert "AbCdEf" not in str(page.messages)
    assert "AbCdEf" not in ran.text
    assert page.kernel.run("print('still here')").stdout == "still here\n"


def test_what_code_leaves_behind_is_said(page, run):
    ran = run(
        "import asyncio, subprocess\nended = subprocess.Popen(['true']); ended.wait()\n"
        "left = asyncio.create_task(asyncio.sleep(600), name='waiter')\nchild = subprocess.Popen(['sleep', '600'])\n"
        "get_ipython().events.register('pre_run_cell', lambda info: None)\nawait asyncio.create_task(asyncio.sleep(0))"
    )
    assert "Asyncio tasks that it started still run: waiter." in ran.text
    assert "Processes that it started still run: sleep (" in ran.text
    assert "It added functions that IPython calls for every cell: pre_run_cell." in ran.text
    again = run("child.terminate(); child.wait(); left.cancel()")
    assert "still run" not in again.text


def test_what_matplotlib_adds_with_the_first_figure_is_not_said(page, run):
    ran = run(
        "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\nplt.ion()\n_ = plt.plot([1])"
    )
    assert "IPython calls for every cell" not in ran.text


def test_a_name_rebound_while_the_card_waits_keeps_what_the_user_set(page, begin):
    page.kernel.run("total = 1")
    ran = begin("total = total + 1", "--background")
    request = page.question()
    page.finish(page.kernel.start("total = 40"))
    assert page.command("approve", call_id=request["call_id"])["ok"]
    page.pump(lambda: page.of("run_finished"))
    assert page.kernel.value("total") == "41"
    assert page.command("undo_python", token=ran.end().names["undo"])["ok"]
    assert page.kernel.value("total") == "40"


def test_the_calls_of_a_turn_run_one_after_the_other(page, server):
    page.kernel.run("import asyncio; order = []")
    code = "order.append('in')\nfor _ in range(20): await asyncio.sleep(0.01)\norder.append('out')"
    calls = [Call("run_python", {"code": code}, id=f"toolu_{number}") for number in range(2)]
    server.forget()
    server.plan(reply(*calls), reply(Say("Done.")))
    page.finish(page.start(f"%%agent ran {MODEL} --approve auto\nCompute"))
    assert page.kernel.value("order") == "['in', 'out', 'in', 'out']"
