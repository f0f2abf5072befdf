"""Saved runs on disk: the list, pruning, damaged files and several kernels."""

import gzip
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from filelock import FileLock

from agent_nb import Agent, load, replay
from agent_nb.core.errors import SavedRunError
from agent_nb.providers.scripted import text
from agent_nb.run import store as store_module
from agent_nb.run.store import RunStore, run_id
from tests.support.scripts import run_script, write

SAVE = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from agent_nb import load
from agent_nb.run.store import RunStore

def kill(event, arguments):
    if event == "os.rename" and "killed" in str(arguments[1]):
        os.kill(os.getpid(), signal.SIGKILL)

source, home, name, count = sys.argv[1:]
run = load(source)
sys.addaudithook(kill)
print("begin", flush=True)
for number in range(int(count)):
    RunStore(Path(home)).save(replace(run, name=name, id=f"{name}{number}"))
"""


@pytest.fixture
async def run():
    return await run_script([write()], [text("Done.")])


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path)


def save_all(store: RunStore, run, *names: str) -> None:
    for number, name in enumerate(names):
        store.save(replace(run, name=name, id=f"id{number}"))


def names(store: RunStore) -> list[str]:
    return [row["name"] for row in store.rows()]


def another_kernel(store: RunStore, run, name: str, count: int) -> subprocess.Popen[str]:
    """A process that saves several runs under one name; for `killed` it ends before the first has its name."""
    source = run.save(store.root.parent / "source.run.jsonl")
    command = [sys.executable, "-c", SAVE, str(source), str(store.root.parent), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def test_a_list_has_the_names_models_and_ends(store, run):
    path = store.save(replace(run, prompt="A page – for " + "bread " * 4000))
    (row,) = store.rows()
    assert (row["file"], row["name"], row["model"]) == (path.name, "run", "scripted:test")
    assert (row["reason"], row["bytes"]) == ("end_turn", path.stat().st_size)


async def test_the_folder_is_ignored_by_git(store, run):
    store.save(run)
    assert (store.root / ".gitignore").read_text() == "*\n"
    (store.root / ".gitignore").write_text("mine\n")
    store.save(run)
    assert (store.root / ".gitignore").read_text() == "mine\n"


async def test_the_oldest_are_deleted_if_there_are_too_many(store, run, monkeypatch):
    monkeypatch.setattr(store_module, "MAX_RUNS", 3)
    save_all(store, run, "a", "b", "c", "d", "e")
    assert names(store) == ["c", "d", "e"]
    assert len(list(store.folder.glob("*.jsonl"))) == 3


async def test_the_oldest_are_deleted_if_they_are_too_large(store, run, monkeypatch):
    size = store.save(run).stat().st_size
    monkeypatch.setattr(store_module, "MAX_BYTES", int(2.5 * size))
    save_all(store, run, "a", "b", "c")
    assert names(store) == ["b", "c"]
    assert len(list(store.folder.glob("*.jsonl"))) == 2


async def test_the_last_run_is_never_deleted(store, run, monkeypatch):
    monkeypatch.setattr(store_module, "MAX_BYTES", 1)
    save_all(store, run, "a", "b")
    assert names(store) == ["b"]
    assert load(store.newest("b")).name == "b"


async def test_the_same_run_saved_twice_is_one_row(store, run, monkeypatch):
    monkeypatch.setattr(store_module, "MAX_RUNS", 2)
    monkeypatch.setattr(store_module.time, "strftime", lambda *_: "20260101-120000")
    for _ in range(3):
        path = store.save(run)
    assert names(store) == ["run"]
    assert load(path) == run


async def test_a_large_run_is_compressed_and_read_everywhere(store):
    run = await run_script([write(content="<p>bread</p>\n" * 60_000)], [text("Done.")])
    path = store.save(run)
    assert path.name.endswith(".run.jsonl.gz")
    assert path.stat().st_size < 100_000
    assert load(path) == run
    (row,) = store.rows()
    assert (row["name"], row["model"], run_id(row)) == ("run", "scripted:test", run.id)
    assert store.read(row) == gzip.decompress(path.read_bytes())
    again = await Agent(replay(path)).run(run.prompt)
    assert again.files == run.files
    assert store.save(run) == path or not path.exists()
    assert len(store.rows()) == 1


async def test_a_deleted_file_is_not_listed(store, run):
    save_all(store, run, "a", "b")
    store.newest("a").unlink()
    assert names(store) == ["b"]


@pytest.mark.parametrize(
    "content", [b"", b"[1, 2]", b"{", b'{"format": "another"}', b"\xff\xfe\x00 not text"]
)
async def test_what_is_no_run_is_not_listed(store, run, content):
    save_all(store, run, "before")
    for name in ("notes.json", "000007-20260101-120000-other-id.run.jsonl"):
        (store.folder / name).write_bytes(content)
    assert names(store) == ["before"]
    save_all(store, run, "after")
    assert names(store) == ["before", "after"]


async def test_runs_stand_in_the_order_in_which_they_were_saved(store, run, monkeypatch):
    times = iter(["20260101-120000", "20260101-120000", "20250101-120000"])
    monkeypatch.setattr(store_module.time, "strftime", lambda *_: next(times))
    save_all(store, run, "b", "a", "c")
    assert names(store) == ["b", "a", "c"]


@pytest.mark.parametrize("number", ["999998", "999999", "٩٩٩٩٩٩", "1000000"])
async def test_no_file_in_the_folder_hides_later_runs(store, run, number):
    save_all(store, run, "first", "theirs")
    theirs = store.newest("theirs")
    theirs.rename(theirs.with_name(f"{number}-99991231-235959-theirs-id.run.jsonl"))
    listed = ["first", "theirs"] if number.startswith("99999") else ["first"]
    save_all(store, run, "a", "theirs", "b")
    assert names(store) == [*listed, "a", "theirs", "b"]
    assert load(store.newest("theirs")).id == "id1"
    assert len({row["file"][:6] for row in store.rows()}) == len(listed) + 3


async def test_saving_waits_for_the_other_kernel(store, run):
    save_all(store, run, "mine")
    with FileLock(store.folder / ".lock"):
        other = another_kernel(store, run, "theirs", 1)
        assert other.stdout.readline() == "begin\n"
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(1)
        assert names(store) == ["mine"]
    other.communicate(timeout=60)
    assert other.returncode == 0
    assert names(store) == ["mine", "theirs"]


async def test_several_kernels_can_save_at_once(store, run):
    kernels = [another_kernel(store, run, name, 6) for name in ("one", "two", "three")]
    for kernel in kernels:
        kernel.communicate(timeout=60)
        assert kernel.returncode == 0
    assert sorted(names(store)) == ["one"] * 6 + ["three"] * 6 + ["two"] * 6
    assert len(list(store.folder.glob("*.jsonl"))) == 18


async def test_a_folder_that_cannot_be_read_is_one_sentence(store, tmp_path):
    (tmp_path / ".agent_nb").write_text("a file")
    with pytest.raises(SavedRunError, match=r"The saved runs in .* cannot be listed: Not a directory\."):
        store.rows()


async def test_what_killed_kernels_left_is_removed(store, run):
    kept = store.save(run)
    left = store.folder / f".{kept.name[:40]}.a1b2c3_d"
    others = [store.folder / ".hidden", store.folder / ".000001-notes.txt"]
    for path in (left, *others):
        path.write_text("half a r", encoding="utf-8")
    store.save(replace(run, id="next"))
    assert not left.exists()
    assert all(path.exists() for path in (kept, *others))


@pytest.mark.skipif(os.name != "posix", reason="uses SIGKILL")
async def test_a_kernel_that_is_killed_while_it_saves_leaves_the_others(store, run):
    save_all(store, run, "before")
    killed = another_kernel(store, run, "killed", 1)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert names(store) == ["before"]
    save_all(store, run, "after")
    assert names(store) == ["before", "after"]
    assert not list(store.folder.glob(".*killed*"))
