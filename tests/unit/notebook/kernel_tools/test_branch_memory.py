"""Memory and locks that a fork would share: what a branch does with them stays in it."""

import re
import sys

import pytest

from agent_nb import kernel_tools
from agent_nb.core.errors import BranchError
from agent_nb.notebook.kernel_tools import inherited
from tests.unit.notebook.kernel_tools.test_branch import Desk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the memory of a process")

MAKE = {
    "file": "file = open(path, 'w+b'); file.truncate(size); shared = mmap.mmap(file.fileno(), size)",
    "part of a file": "file = open(path, 'w+b'); file.truncate(2 * size)\n"
    "shared = mmap.mmap(file.fileno(), size, offset=size); file.seek(0)",
    "deleted file": "file = open(path, 'w+b'); file.truncate(size); os.unlink(path)\n"
    "shared = mmap.mmap(file.fileno(), size); file.close()",
    "truncated file": "file = open(path, 'w+b'); file.truncate(size); shared = mmap.mmap(file.fileno(), size)\n"
    "os.truncate(path, 4096)",
    "np.memmap": "import numpy; shared = numpy.memmap(path, 'uint8', 'w+', shape=(size,))",
    "memfd": "number = os.memfd_create('own'); os.truncate(number, size); shared = mmap.mmap(number, size)",
    "anonymous": "shared = mmap.mmap(-1, size)",
    "multiprocessing.Array": "shared = multiprocessing.Array('B', size)",
    "multiprocessing.RawArray": "shared = multiprocessing.RawArray('B', size)",
    "shared_memory": "block = shared_memory.SharedMemory(create=True, size=size); shared = block.buf",
    "System V": "libc = ctypes.CDLL(None); libc.shmat.restype = ctypes.c_void_p\n"
    "number = libc.shmget(0, size, 0o1600); place = libc.shmat(number, None, 0); libc.shmctl(number, 0, None)\n"
    "shared = (ctypes.c_ubyte * size).from_address(place)",
}
IMPORTS = "import ctypes, mmap, multiprocessing, os\nfrom multiprocessing import shared_memory\n"
CLEAN = """shared = None
if 'block' in globals(): block.close(); block.unlink()
if 'libc' in globals(): libc.shmdt(place)
if 'number' in globals() and 'libc' not in globals(): os.close(number)
"""


@pytest.fixture
def make(shell, tmp_path, monkeypatch):
    """Makes shared memory in the session, which begins with 1, and is copied or, if large, mapped again."""

    def make(kind: str, *, is_large: bool = False) -> None:
        if is_large:
            monkeypatch.setattr(inherited, "COPIED", 0)
        shell.names.update(path=str(tmp_path / "shared"), size=1 << 20)
        shell.run(f"{IMPORTS}{MAKE[kind]}\nshared[0] = 1")

    yield make
    shell.run(CLEAN)


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("kind", MAKE)
async def test_what_a_branch_writes_into_shared_memory_stays_in_it(make, shell, kind, is_large):
    make(kind, is_large=is_large)
    desk = Desk(await kernel_tools()[0].branches.open())
    assert (await desk.run("shared[0] += 7; shared[5] = 8; print(shared[0], shared[5])")).startswith("8 8")
    trial = Desk(await desk.branch.copy())
    assert (await trial.run("shared[0] += 7; print(shared[0])")).startswith("15")
    assert (await desk.run("print(shared[0])")).startswith("8")
    assert (shell.names["shared"][0], shell.names["shared"][5]) == (1, 0)
    trial.branch.end()
    desk.branch.end()


async def test_a_branch_shares_copied_memory_with_the_processes_that_it_starts(make, shell):
    make("multiprocessing.Array")
    desk = Desk(await kernel_tools()[0].branches.open())
    code = "def add():\n    with shared.get_lock(): shared[0] += 1\n"
    code += "workers = [multiprocessing.get_context('fork').Process(target=add) for _ in range(3)]\n"
    code += "for worker in workers: worker.start()\nfor worker in workers: worker.join()\nprint(shared[0])"
    assert (await desk.run(code)).startswith("4")
    desk.branch.end()
    assert shell.names["shared"][0] == 1


@pytest.mark.parametrize(
    ("made", "lock"),
    [
        ("import tqdm; tqdm.tqdm(range(3), disable=True)", "tqdm.tqdm.get_lock().mp_lock"),
        ("import multiprocessing; lock = multiprocessing.Lock()", "lock"),
        ("import multiprocessing; semaphore = multiprocessing.BoundedSemaphore(1)", "semaphore"),
        ("import multiprocessing; pair = multiprocessing.Array('i', 1)", "pair.get_lock()"),
    ],
)
async def test_a_lock_that_a_branch_holds_at_its_end_is_free_in_the_session(shell, made, lock):
    shell.run(made)
    desk = Desk(await kernel_tools()[0].branches.open())
    assert "True" in await desk.run(f"print({lock}.acquire(block=False))")
    desk.branch.end()
    shell.run(f"got = {lock}.acquire(block=False)\nif got: {lock}.release()")
    assert shell.names["got"]


async def test_memory_that_can_neither_be_copied_nor_mapped_again_is_refused_by_name(shell, monkeypatch):
    shell.run(f"import mmap; huge = mmap.mmap(-1, {inherited.LIMIT} + 4096); huge[0] = 1")
    forks = []
    monkeypatch.setattr("os.fork", lambda: forks.append(1))
    with pytest.raises(BranchError, match=re.escape("such as `huge`, has more than the 512 MB")) as caught:
        await kernel_tools()[0].branches.open()
    assert str(caught.value).endswith("run it without `--branch`.")
    assert not forks
    shell.run("huge.close()")


async def test_memory_of_a_device_stays_shared_and_the_branch_says_so(make, shell, tmp_path, monkeypatch):
    monkeypatch.setattr(inherited, "_DEVICE", re.compile(re.escape(str(tmp_path))))
    make("file")
    desk = Desk(await kernel_tools()[0].branches.open())
    text = await desk.run("shared[0] = 9")
    desk.branch.end()
    assert f"shares the memory of {tmp_path / 'shared'} with the session" in text
    assert shell.names["shared"][0] == 9
