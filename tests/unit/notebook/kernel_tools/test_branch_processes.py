"""What a branch starts ends with it, however it hides and however the branch ends."""

import os
import signal
import sys

import psutil
import pytest

from agent_nb import kernel_tools
from tests.support.processes import ended
from tests.unit.notebook.kernel_tools.test_branch import Desk, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")

DAEMON = """
import os, signal, time
def daemon(path, program=False):
    if pid := os.fork():
        return os.waitpid(pid, 0)
    os.setsid()
    if os.fork():
        os._exit(0)
    os.environ.clear()
    os.closerange(0, 256)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    with open(path + '.part', 'w') as file:
        file.write(str(os.getpid()))
    os.rename(path + '.part', path)
    if program:
        os.execve('/bin/sleep', ['sleep', '1000'], {})
    while True:
        time.sleep(1)
"""


@pytest.fixture
def started(tmp_path):
    """The pid of the daemon that has written its own into a file of this name, as soon as it has."""

    async def started(name: str) -> int:
        await until((tmp_path / name).exists)
        return int((tmp_path / name).read_text())

    return started


@pytest.mark.parametrize("how", ["end", "exit", "crash", "killed"])
async def test_no_daemon_of_a_branch_is_left(tmp_path, shell, started, how):
    desk = Desk(await kernel_tools()[0].branches.open())
    await desk.run(f"{DAEMON}daemon('{tmp_path}/fork'); daemon('{tmp_path}/program', True)")
    pids = [await started("fork"), await started("program")]
    assert not any(map(ended, pids))
    if how in ("exit", "crash"):
        await desk.fails("os._exit(3)" if how == "exit" else "import ctypes; ctypes.string_at(0)")
    elif how == "killed":
        os.kill(desk.branch._process.pid, signal.SIGKILL)
    else:
        desk.branch.end()
    await until(lambda: all(map(ended, pids)))
    desk.branch.end()


async def test_no_daemon_of_a_copy_of_a_branch_is_left(tmp_path, shell, started):
    desk = Desk(await kernel_tools()[0].branches.open())
    trial = Desk(await desk.branch.copy())
    await trial.run(f"{DAEMON}daemon('{tmp_path}/first')")
    trial.branch.end()
    pid = await started("first")
    await until(lambda: ended(pid))
    trial = Desk(await desk.branch.copy())
    await trial.run(f"{DAEMON}daemon('{tmp_path}/second')")
    desk.branch.end()
    pid = await started("second")
    await until(lambda: ended(pid))
    trial.branch.end()


async def test_daemons_of_the_session_stay_and_are_not_its_children(tmp_path, shell, started):
    desk = Desk(await kernel_tools()[0].branches.open())
    shell.run(f"{DAEMON}daemon('{tmp_path}/own', True)")
    desk.branch.end()
    pid = await started("own")
    await until(lambda: ended(desk.branch._process.pid))
    assert not ended(pid)
    assert psutil.Process(pid).ppid() != os.getpid()
    os.kill(pid, signal.SIGKILL)


async def test_a_copy_of_a_branch_cannot_have_another_process_ended(shell):
    desk = Desk(await kernel_tools()[0].branches.open())
    shell.run("import subprocess; other = subprocess.Popen(['sleep', '1000'], start_new_session=True)")
    other = shell.names["other"]
    await desk.run(
        "from dataclasses import replace\nfrom agent_nb.notebook.kernel_tools.branch_process import BranchServer\n"
        "send = BranchServer._send\nBranchServer._send = lambda self, message: send(\n"
        f"    self, replace(message, pid={other.pid}) if message.pid else message)"
    )
    trial = Desk(await desk.branch.copy())
    assert trial.branch._process.pid == other.pid
    trial.branch.end()
    desk.branch.end()
    await until(lambda: ended(desk.branch._process.pid))
    assert other.poll() is None
    other.kill()
    other.wait()
