"""Branches: what the copy of a process shares with the session, and what is left of it."""

import asyncio
import gc
import json
import os
import re
import signal
import socket
import sys
import threading
from pathlib import Path

import psutil
import pytest

from agent_nb import Agent, ConfigError, kernel_tools
from agent_nb._base.constants import CHECK_TYPE, NAMES_TYPE
from agent_nb._base.secrets import mask_values
from agent_nb.core.errors import ToolError
from agent_nb.core.events import RunStarted
from agent_nb.engine.trials import can_try
from agent_nb.files import Files, Workspace
from agent_nb.notebook.kernel_tools import branch as branch_module
from agent_nb.notebook.kernel_tools.inherited import DESCRIPTORS, link_of
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.tools import ToolContext
from tests.support.processes import ended
from tests.support.waiting import PATIENCE


class Desk:
    """A branch of the session of a shell, and what its calls have reported."""

    def __init__(self, branch) -> None:
        self.branch, self.shown = branch, []
        self.files = Workspace(Files({"data.csv": "a,b\n1,2\n", "old.bin": b"\x00\xff"}))

    async def run(self, code: str) -> str:
        context = ToolContext(files=self.files, progress=print, show=self.shown.append)
        return (await self.branch.call("run_python", {"code": code}, context)).text

    async def fails(self, code: str) -> str:
        with pytest.raises(ToolError) as caught:
            await self.run(code)
        return str(caught.value)


@pytest.fixture
async def desk(shell):
    shell.run(f"import random; random.seed(1); rows = [1]; opened = open({__file__!r})")
    branch = await kernel_tools()[0].branches.open()
    yield Desk(branch)
    branch.end()
    await gone(branch)
    shell.run("opened.close()")


async def until(condition) -> None:
    for _ in range(PATIENCE * 50):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen")


async def gone(branch) -> None:
    await until(lambda: ended(branch._process.pid))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("import signal\nsignal.raise_signal(signal.SIGINT)", "interrupted the code"),
        ("import subprocess\nsubprocess.run(['echo', 'run'], capture_output=True, text=True).stdout", "run"),
        ("opened.readline()", "Branches: what the copy"),
        ("import random; random.random()", "0.13436424411240122"),
    ],
)
async def test_signals_processes_open_files_and_random_numbers_are_as_in_the_session(desk, code, text):
    try:
        result = await desk.run(code)
    except ToolError as error:
        result = str(error)
    assert text in result


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux opens a file again by its descriptor")
async def test_reading_and_closing_an_open_file_in_a_branch_moves_nothing_in_the_session(
    desk, shell, tmp_path
):
    path = tmp_path / "log.txt"
    shell.run(f"log = open({str(path)!r}, 'w'); log.write('once')")
    branch = Desk(await kernel_tools()[0].branches.open())
    await branch.run("opened.read(); log.close()")
    branch.branch.end()
    shell.run("log.close(); start = opened.read(20)")
    assert (path.read_text(), shell.names["start"]) == ("once", Path(__file__).read_text()[:20])


async def test_what_the_code_does_stays_in_the_branch_and_the_next_call_finds_it(desk, shell):
    assert "Set total" in await desk.run("rows.append(2); total = sum(rows); print(total)")
    assert "3" in await desk.run("total")
    assert shell.names["rows"] == [1]
    assert "total" not in shell.names
    context = ToolContext(files=desk.files, progress=print)
    assert "total: int" in (await desk.branch.call("list_variables", {}, context)).text
    assert "[1, 2]" in (await desk.branch.call("describe_variable", {"name": "rows"}, context)).text


async def test_files_travel_both_ways(desk):
    await desk.run("to_file('new.json', [1]); to_file('old.bin', agent_files['old.bin'] + b'1')")
    assert desk.files.files["new.json"] == "[\n 1\n]"
    assert desk.files.files["old.bin"] == b"\x00\xff1"
    desk.files.delete("data.csv")
    desk.files.write("new.json", "{}")
    assert "['new.json', 'old.bin'] {}" in await desk.run(
        "print(sorted(agent_files), agent_files['new.json'])"
    )


async def test_a_branch_that_is_made_while_the_session_executes_code_writes_its_own_files(shell):
    run_python = next(tool for tool in kernel_tools() if tool.name == "run_python")
    session = Workspace(Files())
    started = shell.names["started"] = asyncio.Event()
    ends = shell.names["ends"] = asyncio.Event()
    code = {"code": "started.set(); await ends.wait(); to_file('session.txt', '1')"}
    work = asyncio.create_task(run_python.run(code, ToolContext(files=session, progress=print)))
    await started.wait()
    desk = Desk(await run_python.branches.open())
    await desk.run("to_file('branch.txt', '1')")
    desk.branch.end()
    ends.set()
    await work
    assert [*session.files] == ["session.txt"]
    assert "branch.txt" in desk.files.files


async def test_a_copy_of_a_branch_has_its_variables_and_changes_nothing(desk):
    await desk.run("rows.append(2)")
    trial = Desk(await desk.branch.copy())
    assert "[1, 2, 3]" in await trial.run("rows.append(3); rows")
    trial.branch.end()
    await gone(trial.branch)
    assert "[1, 2]" in await desk.run("rows")
    assert "The branch has ended." in await trial.fails("rows")


SEND = """
def send(data):
    for fd in os.listdir('/proc/self/fd'):
        is_socket = os.path.lexists(f'/proc/self/fd/{fd}') and 'socket' in os.readlink(f'/proc/self/fd/{fd}')
        if is_socket and os.get_blocking(int(fd)):
            os.write(int(fd), data)
"""
NAMES = {"bound": ["x"], "changed": [], "deleted": [], "code": "x = 1"}
OUTPUTS = [
    {"text/plain": 3},
    {"text/plain": {"a": 1}},
    {"image/png": None},
    {"application/json": "{}"},
    {CHECK_TYPE: {}},
    {NAMES_TYPE: 3},
    {NAMES_TYPE: {**NAMES, "kinds": [1]}},
    {"text/plain": "x", NAMES_TYPE: {"bound": 3}},
]
MESSAGES = [
    *({"show": bundle} for bundle in OUTPUTS),
    *({"output": {"text": "", "outputs": [bundle]}} for bundle in OUTPUTS),
    {"output": {"text": "", "images": [{"data": "?", "media_type": 3}]}},
]


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


FORGED = [
    b"\xff" * 8,
    b"\0\0\0\x01{" + b"[" * 9,
    *map(
        framed, [b"", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"output": 123}', b'{"show": {"a": ' + b"[" * 300]
    ),
    *(framed(json.dumps(message).encode()) for message in MESSAGES),
]
HUGE = """
body = b'{"show": {"text/plain": "' + b'x' * 7_000_000 + b'"}}'
send(len(body).to_bytes(4, 'big') + body)
time.sleep(100)"""


@pytest.mark.parametrize("data", FORGED)
async def test_what_is_no_message_of_ours_is_not_read(data):
    ours, theirs = socket.socketpair()
    process = branch_module.BranchProcess(ours, os.open(os.devnull, os.O_WRONLY))
    theirs.sendall(data)
    with theirs, pytest.raises(branch_module._BROKEN):
        await process.receive()
    process.close()


@pytest.mark.parametrize(
    "code",
    [
        "os._exit(3)",
        "import ctypes; ctypes.string_at(0)",
        HUGE,
        *(f"print('first'); send({data}); time.sleep(100)" for data in (FORGED[0], FORGED[-1])),
    ],
)
async def test_after_its_death_the_next_call_works_in_a_new_copy_and_says_so(desk, shell, code):
    await desk.run(f"rows.append(2)\nimport os, time\n{SEND}")
    shell.names["later"] = 7
    assert "variables that it had set are gone" in await desk.fails(code)
    result = await desk.run("print(rows, later)")
    assert result.startswith("[1] 7")
    assert "what earlier calls set is gone" in result


async def test_messages_without_an_end_do_not_block_the_kernel(desk, shell):
    await desk.run(f"import os\n{SEND}")
    shell.magics.python_seconds = PATIENCE
    work = asyncio.create_task(desk.run(f"print('begun')\nwhile True: send({framed(b'{}')} * 50_000)"))
    await until(lambda: printed(desk))
    work.cancel()
    with pytest.raises(ToolError, match=r"^The code was stopped\.$"):
        await work


async def test_an_answer_that_code_forges_is_not_followed_by_that_to_an_earlier_call(desk):
    forged = b'\0\0\0\x1a{"output": {"text": "no"}}'
    answer = await desk.run(f"import os\n{SEND}\nsend({forged})")
    assert answer.splitlines()[0] == "no"  # a remark follows where other tests have loaded polars
    assert "mine" in await desk.run("print('mine')")


async def test_a_process_that_the_code_forks_does_not_answer_in_its_place(desk):
    for number in range(4):
        assert "mine" in await desk.run(f"import os; kept = {number}; pid = os.fork(); print('mine')")
        assert (await desk.run("print(kept, os.getpid())")).split() == [
            str(number),
            str(desk.branch._process.pid),
        ]


async def test_what_forked_processes_print_is_output(desk):
    code = "import multiprocessing as m\nwith m.get_context('fork').Pool(2) as pool: pool.map(print, ['one', 'two'])"
    text = await desk.run(f"{code}\nprint('three')")
    assert [word for word in ("one", "two", "three") if word not in text] == []


async def test_a_death_between_two_calls_is_told_with_the_next(desk):
    os.kill(desk.branch._process.pid, signal.SIGKILL)
    assert "what earlier calls set is gone" in await desk.run("rows")


LEFT = (
    "import subprocess, sys, time\n"
    "sleep = [sys.executable, '-c', 'import time; time.sleep(1000)']\n"
    "inside = subprocess.Popen(sleep)\noutside = subprocess.Popen(sleep, start_new_session=True)\n"
    "print(inside.pid, outside.pid, flush=True)\n"
)


def printed(desk: Desk) -> str:
    return "".join(bundle["text/plain"] for bundle in desk.shown)


@pytest.mark.parametrize("how", ["stop", "end"])
async def test_its_end_ends_everything_that_it_started_also_in_c_code(desk, how):
    if how == "end":
        await desk.run(LEFT)
        desk.branch.end()
    else:
        work = asyncio.create_task(desk.run(f"{LEFT}time.sleep(1000)"))
        await until(lambda: "\n" in printed(desk))
        work.cancel()
        with pytest.raises(ToolError, match="stopped") as caught:
            await work
        assert caught.value.outputs
    await gone(desk.branch)
    pids = [int(word) for word in printed(desk).split()]
    await until(lambda: all(map(ended, pids)))


async def test_at_its_limit_code_gets_the_exception_and_its_branch_a_second_more(desk, shell, monkeypatch):
    context = ToolContext(files=desk.files, progress=print)
    await desk.run(
        "import time\nclass Slow:\n    def __repr__(self): time.sleep(2); return 'slow'\nslow = Slow(); kept = 1"
    )
    shell.magics.python_seconds = 0.3
    assert "slow" in (await desk.branch.call("describe_variable", {"name": "slow"}, context)).text
    with monkeypatch.context() as patient:
        patient.setattr(branch_module, "KILL_AFTER", PATIENCE)
        assert "was stopped after 0.3 seconds" in await desk.fails("time.sleep(100)")
    shell.magics.python_seconds = 60
    assert "1" in await desk.run("kept")
    shell.magics.python_seconds = 0.3
    error = await desk.fails("while True:\n    try: time.sleep(100)\n    except BaseException: pass")
    assert "limit of 0.3 seconds" in error
    shell.magics.python_seconds = 60
    assert "what earlier calls set is gone" in await desk.run("rows")


async def test_a_branch_inherits_no_pipe_and_no_socket(desk):
    other = await kernel_tools()[0].branches.open()
    third = Desk(await kernel_tools()[0].branches.open())
    links = "[os.readlink(path) for fd in os.listdir(fds) if os.path.lexists(path := f'{fds}/{fd}')]"
    code = f"import os; fds = '/proc/self/fd'; links = {links}\n[sum(kind in link for link in links) for kind in kinds]"
    # Its connection; the two ends of what processes write to descriptors 1 and 2; its own loop has a socket pair.
    assert "[3, 4]" in await third.run(f"kinds = 'socket', 'pipe'; {code}")
    for branch in (other, third.branch):
        branch.end()


async def test_a_branch_types_nothing_into_a_program_of_the_session(shell):
    shell.run("import pexpect; program = pexpect.spawn('cat', echo=False)")
    desk = Desk(await kernel_tools()[0].branches.open())
    await desk.run("program.sendline('typed')")
    desk.branch.end()
    shell.run(
        "program.sendline('own'); program.expect_exact('own'); before = program.before; program.close()"
    )
    assert shell.names["before"] == b""


async def test_a_branch_keeps_folders_and_devices_without_a_state(shell):
    shell.run("import os; zeros, null = open('/dev/zero', 'rb', 0), open('/dev/null', 'rb')")
    shell.run("urandom, folder = open('/dev/urandom', 'rb'), os.open('/', os.O_RDONLY)")
    desk = Desk(await kernel_tools()[0].branches.open())
    code = "print(zeros.read(3), null.read(), len(urandom.read(4)), os.listdir(folder) == os.listdir('/'))"
    assert (await desk.run(code)).startswith(r"b'\x00\x00\x00' b'' 4 True")
    desk.branch.end()
    shell.run("zeros.close(); null.close(); urandom.close(); os.close(folder)")


@pytest.mark.parametrize("rounds", [3, pytest.param(25, marks=pytest.mark.wide)])
async def test_branches_leave_no_process_no_descriptor_and_no_thread(shell, rounds):
    branches, this = kernel_tools()[0].branches, psutil.Process()
    others = {*this.children()}  # such as the resource tracker of `multiprocessing`, which stays

    async def connections() -> int:
        """The number of pipes and sockets, once no branch is left and no thread waits for one."""
        await until(lambda: others.issuperset(this.children()) and "branch" not in str(threading.enumerate()))
        gc.collect()
        return sum(link_of(number).startswith(("pipe:", "socket:")) for number in os.listdir(DESCRIPTORS))

    (await branches.open()).end()
    before = await connections()
    for _ in range(rounds):
        for branch in await asyncio.gather(*(branches.open() for _ in range(8))):
            branch.end()
    assert await connections() <= before


async def test_branches_copies_and_guards_are_not_said_to_be_started_by_code_that_ends_while_they_are_made(
    shell,
):
    run_python, this = {tool.name: tool for tool in kernel_tools()}["run_python"], psutil.Process()
    code = "import subprocess\nawait made.wait()\nown = subprocess.Popen(['sleep', '60'])"
    shell.names["made"] = asyncio.Event()
    work = asyncio.create_task(
        run_python.run({"code": code}, ToolContext(files=Workspace(Files()), progress=print))
    )
    branches = [await run_python.branches.open() for _ in range(2)]
    branches[0].end()  # its guard now forks shells
    copied, processes = asyncio.create_task(branches[1].copy()), len(this.children(recursive=True))
    await until(lambda: copied.done() or len(this.children(recursive=True)) > processes)
    shell.names["made"].set()
    notes = (await work).text.partition("Processes that it started still run: ")[2]
    for branch in (branches[1], await copied):
        branch.end()
    shell.run("own.kill(); own.wait()")
    assert re.fullmatch(r"sleep \(\d+\)\.", notes)


async def test_a_secret_that_a_branch_sets_is_masked_there_and_in_the_session(desk):
    secret = "hunter2-" + "fjord-quartz-91"
    assert secret not in await desk.run(f"password = '{secret}'; print(password)")
    assert secret not in mask_values(f"a file with {secret}")


def agent(*calls: str, **options) -> Agent:
    turns = [[call("run_python", {"code": code})] for code in calls]
    return Agent(ScriptedProvider([*turns, [text("Done.")]]), tools=kernel_tools(), approve="auto", **options)


async def test_a_run_has_its_own_branch_and_says_so(shell):
    shell.names["rows"] = [1]
    run = await agent("rows.append(2); total = 3; rows", "del total; other = 1", branch=True).run("go")
    assert [use.title for use in run.tool_uses] == ["run Python (in a branch)"] * 2
    assert "[1, 2]" in run.tool_uses[0].result.text
    assert (shell.names["rows"], run.branch, run.settings["branch"]) == (
        [1],
        {"rows": "changed", "other": "set"},
        True,
    )
    assert next(run.events.of(RunStarted)).settings["branch"]
    for form in (run.to_markdown(), run.to_html(), repr(run._repr_mimebundle_())):
        assert "in a branch: your variables are unchanged" in form
        assert "(in a branch)" in form
    undo = [bundle for use in run.events if use.type == "tool_finished" for bundle in use.outputs]
    assert "undo" not in json.dumps(undo)


@pytest.mark.parametrize("codes", [["rows.append(2)"], ["import os; os._exit(1)", "rows.append(2)"]])
async def test_a_run_whose_copy_cannot_be_made_fails_and_runs_nothing_here(shell, monkeypatch, codes):
    shell.names["rows"] = [1]
    fork, copies, session = os.fork, [*codes[1:]], os.getpid()
    works = lambda: os.getpid() != session or (copies and copies.pop())  # noqa: E731
    monkeypatch.setattr(os, "fork", lambda: fork() if works() else os.open("", 0))
    run = await agent(*codes, branch=True).run("go")
    assert (run.reason, shell.names["rows"]) == ("failed", [1])
    assert run.error.startswith("The kernel could not be copied: [Errno 2] No such file")


async def test_variants_that_run_code_have_a_branch_each(shell):
    shell.names["rows"] = []
    turns = [[call("run_python", {"code": "rows.append(1); print(rows)"})], [text("Done.")]]
    models = [ScriptedProvider(turns) for _ in range(3)]
    run = await agent().start_variants("go", models=models)
    assert ["[1]" in variant.tool_uses[0].result.text for variant in run.variants] == [True] * 3
    assert shell.names["rows"] == []
    reading = Agent(ScriptedProvider([[text("x")]]), tools=kernel_tools()[:2])
    assert not reading.prepare_variants("go", variants=3)[0].settings.value("branch")


def test_what_cannot_have_a_branch_is_refused_with_a_remedy(shell):
    shell.names["df"] = [1]
    with pytest.raises(ConfigError, match="add `-t kernel`"):
        Agent("demo:", branch=True).prepare("go")
    with pytest.raises(ConfigError, match="leave out `--bind`, or `--branch`"):
        agent("1", branch=True, bind={"df": [1]}).prepare("go")
    with pytest.raises(ConfigError, match="leave out `--bind`, or make one variant"):
        agent("1", bind={"df": [1]}).prepare_variants("go", variants=2)


@pytest.mark.parametrize("platform", ["win32", "darwin", "gpu"])
def test_where_copies_are_impossible_or_risky(shell, monkeypatch, caplog, platform, tmp_path):
    if platform == "gpu":
        monkeypatch.setattr(branch_module, "_GPUS", (str(tmp_path),))
        shell.names["device"] = (tmp_path / "nvidia0").open("w")
    else:
        monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(ConfigError, match="Variants with `run_python` work in branches"):
        agent("1").prepare_variants("go", variants=2)
    assert not any(map(can_try, kernel_tools()))
    if platform == "win32":
        with pytest.raises(
            ConfigError, match="which Windows and JupyterLite cannot make: leave out `--branch`"
        ):
            agent("1", branch=True).prepare("go")
    else:
        assert agent("1", branch=True).prepare_variants("go", variants=2)
        assert "copy of" in caplog.text
    if platform == "gpu":
        shell.names["device"].close()
        assert [tool.name for tool in kernel_tools() if can_try(tool)] == ["run_python"]
    assert agent("1").prepare("go")


async def test_a_run_that_continues_one_in_a_branch_has_one_too(shell):
    base = await agent("x = 1", branch=True).run("go")
    assert agent("1").prepare("again", base=base).settings.value("branch")
    assert not Agent("demo:").prepare("again", base=base).settings.value("branch")
