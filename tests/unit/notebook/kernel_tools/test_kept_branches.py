"""Branches of finished runs: which stay alive, what a follow-up is forked from, and what Apply then runs."""

import asyncio
import os
import signal
import sys
from dataclasses import replace

import psutil
import pytest

from agent_nb import Agent, ConfigError, Run, kernel_tools, load
from agent_nb.core.events import Note
from agent_nb.notebook.kernel_tools import kept_branches
from agent_nb.notebook.kernel_tools.kept_branches import KEPT, own_memory
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.processes import ended
from tests.unit.notebook.kernel_tools.test_branch import until
from tests.unit.notebook.kernel_tools.test_branch_processes import DAEMON

LOST = "The branch of `look` has ended, so this run works in a copy of the session"
GUARD = "agent_nb branch guard"
SLEEP = "import subprocess; program = subprocess.Popen(['sleep', '1000'], start_new_session=True)"


def model(*codes: str) -> ScriptedProvider:
    turns = [[call("run_python", {"code": code}, id=f"c{n}")] for n, code in enumerate(codes)]
    return ScriptedProvider([*turns, [text("Done.")]])


async def ran(*codes: str, base=None, name="look", **options) -> Run:
    """A finished run in a branch with a call for each code."""
    agent = Agent(model(*codes), tools=kernel_tools(), **{"approve": "auto", "branch": True, **options})
    return replace(await agent.run("go", base=base), name=name)


def results(run: Run) -> list[str]:
    return [use.result.text.splitlines()[0] for use in run.tool_uses]


def notes(run: Run) -> list[str]:
    return [event.title for event in run.events.of(Note) if type(event) is Note]


def branch_of(run: Run):
    return next((branch for branch in KEPT if branch.session is run.branched_from), None)


def state_of(pid: int) -> str:
    return psutil.Process(pid).status()


def guards(pids: list[int]) -> list[int]:
    """The guards of these branches, without those of kernels that run beside this test."""
    commands = [[GUARD, str(pid)] for pid in pids]
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if (process.info["cmdline"] or [])[-2:] in commands
    ]


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(kept_branches, "LOOK_SECONDS", 0.05)


async def test_a_follow_up_finds_the_variables_of_its_base_whose_own_stay_as_they_are(shell):
    shell.names["rows"] = [1]
    base = await ran("rows.append(2); total = sum(rows)")
    second = await ran("rows.append(total); print(rows)", base=base, branch=False)
    third = await ran("print(rows)", base=base)
    fourth = await ran("rows.append(7); print(rows)", base=second)
    assert [*results(second), *results(third), *results(fourth)] == ["[1, 2, 3]", "[1, 2]", "[1, 2, 3, 7]"]
    assert shell.names["rows"] == [1]
    assert (second.settings["branch"], notes(fourth), "has ended" in repr(fourth.messages)) == (
        True,
        [],
        False,
    )


async def test_only_the_newest_branches_stay_alive(shell):
    shell.magics.branches = 2
    runs = [await ran("x = 1") for _ in range(3)]
    pids = [branch_of(run).pid for run in runs[1:]]
    assert (branch_of(runs[0]), [*KEPT]) == (None, [branch_of(run) for run in runs[1:]])
    shell.magics.branches = 0
    assert branch_of(await ran("x = 1")) is None
    assert [*KEPT] == []
    await until(lambda: all(map(ended, pids)))


async def test_a_chain_of_follow_ups_keeps_three_processes_and_none_of_the_ended_ones(shell, tmp_path):
    run = base = await ran(f"rows = [0]\n{DAEMON}daemon('{tmp_path}/base')")
    pids = [branch_of(run).pid]
    for number in range(1, 6):
        run = await ran(f"rows.append({number}); print(rows)", base=run)
        pids.append(branch_of(run).pid)
    assert results(run) == ["[0, 1, 2, 3, 4, 5]"]
    assert branch_of(base) is None
    daemon = int((tmp_path / "base").read_text())
    await until(lambda: all(map(ended, [daemon, *pids[:3]])))
    assert not any(map(ended, pids[3:]))
    assert guards(pids)
    KEPT.end(*KEPT)
    await until(lambda: not guards(pids))


async def test_of_another_run_a_follow_up_works_in_a_copy_of_the_session_and_says_so(shell, tmp_path):
    base = await ran("x = 1")
    loaded = load(base.save(tmp_path / "base.run.jsonl"))
    KEPT.end(*KEPT)
    for each in (base, loaded):
        second = await ran("print(x)", base=each)
        assert "NameError" in second.tool_uses[0].result.text
        assert LOST in notes(second)[0]
        assert LOST in repr(second.messages)
        assert LOST in second.to_markdown()
        saved = load(second.save(tmp_path / f"{second.id}.run.jsonl"))
        assert "has ended, so this run works in a copy of the session" in saved.to_html()
    quiet = await ran("1", base=replace(await ran("print(1)"), branched_from=None))
    assert notes(quiet) == []


async def test_without_values_the_model_learns_it_too(shell, tmp_path):
    run = await ran("x = 1")
    settings = {**run.settings, "data": "schema"}
    base = load(replace(run, settings=settings).save(tmp_path / "base.run.jsonl"))
    provider = model()
    await Agent(provider, tools=kernel_tools(), branch=True).run("go", base=base)
    assert LOST in repr(provider.requests[0].messages)


async def test_of_variants_the_picked_one_stays_else_the_first(shell):
    agent = Agent(model(), tools=kernel_tools(), approve="auto")
    run = await agent.start_variants("go", models=[model(f"x = {n}") for n in range(3)])
    assert [branch.session for branch in KEPT] == [run.variants[0].branched_from]
    assert results(await ran("print(x)", base=run)) == ["0"]
    shell.names["go_on"] = asyncio.Event()
    waits = "import time\nwhile True: time.sleep(0.01)"
    handle = agent.start_variants("go", models=[model(waits), model("x = 1"), model("x = 2")])
    await until(lambda: all(each.done for each in handle.handles[1:]))
    handle.pick(3)
    run = await handle
    assert [branch_of(variant) is not None for variant in run.variants] == [False, False, True]
    assert results(await ran("print(x)", base=run)) == ["2"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows all states")
async def test_an_idle_branch_is_stopped_and_a_follow_up_continues_it(shell, monkeypatch):
    monkeypatch.setattr(kept_branches, "IDLE_SECONDS", 0)
    base = await ran(
        "import threading, time\nthreading.Thread(target=time.sleep, args=[1000]).start(); x = 1"
    )
    pid = branch_of(base).pid
    await until(lambda: state_of(pid) == "stopped")
    monkeypatch.setattr(kept_branches, "IDLE_SECONDS", 1000)
    second = await ran("print(x)", base=base)
    assert (results(second), state_of(pid) != "stopped") == (["1"], True)
    KEPT.end(*KEPT)
    await until(lambda: ended(pid))


@pytest.mark.parametrize("how", ["limit", "killed"])
async def test_a_branch_ends_at_its_limit_of_memory_and_when_it_is_killed(shell, monkeypatch, how):
    base = await ran(f"data = bytearray(b'1' * 30_000_000)\n{SLEEP}; print(program.pid)")
    pid = branch_of(base).pid
    assert own_memory(pid) > 30_000_000
    if how == "killed":
        os.kill(pid, signal.SIGKILL)
    else:
        monkeypatch.setattr(kept_branches, "MEMORY_LIMIT", 25_000_000)
    await until(lambda: branch_of(base) is None)
    await until(lambda: ended(pid) and ended(int(results(base)[0])))
    assert notes(await ran("data", base=base))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells shared memory from private")
async def test_memory_that_the_session_has_released_is_that_of_its_branches(shell):
    shell.names["data"] = bytearray(b"1") * 400_000_000
    runs = [await ran("x = 1") for _ in range(2)]
    pids = [branch_of(run).pid for run in runs]
    before = [own_memory(pid) for pid in pids]
    del shell.names["data"]
    assert [own_memory(pid) - old > 200_000_000 for pid, old in zip(pids, before, strict=True)] == [True] * 2


async def test_a_kept_branch_has_no_thread_and_no_task_of_its_run(shell):
    await ran("x = 1")
    loop = asyncio.get_running_loop()
    assert [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
    (branch,) = KEPT
    assert branch._process._connection.fileno() not in loop._selector.get_map()


async def test_a_base_that_does_not_answer_is_replaced_by_the_session(shell, monkeypatch):
    monkeypatch.setattr("agent_nb.notebook.kernel_tools.branch.BEGIN_SECONDS", 3)
    base = await ran("x = 1")
    os.kill(branch_of(base).pid, signal.SIGSTOP)
    second = await ran("print(x)", base=base)
    assert LOST in notes(second)[0]


async def test_apply_runs_the_code_of_the_bases_unless_it_was_applied(shell):
    shell.names["rows"] = [1]
    base = await ran("rows.append(2)", "1/0", "more = sum(rows)")
    second = replace(await ran("rows.append(more)", base=base), name="second")
    third = await ran("rows.append(9)", base=second)
    codes, problem = third.branched_from.offer(third)
    assert (codes, problem) == (
        ["rows.append(2)", "more = sum(rows)", "rows.append(more)", "rows.append(9)"],
        "",
    )
    second.apply()
    assert shell.names["rows"] == [1, 2, 3]
    with pytest.raises(ConfigError, match="applied already"):
        base.apply()
    with pytest.raises(ConfigError, match=r"was applied with `second`: `second.unapply\(\)` puts"):
        base.unapply()
    assert third.branched_from.offer(third)[0] == ["rows.append(9)"]
    second.unapply()
    with pytest.raises(ConfigError, match="has not been applied"):
        base.unapply()
    assert len(third.branched_from.offer(third)[0]) == 4


async def test_apply_of_a_run_that_was_not_forked_from_its_base_runs_its_own_code_alone(shell):
    base = await ran("x = 1")
    KEPT.end(*KEPT)
    second = await ran("y = 2", base=base)
    assert second.branched_from.offer(second)[0] == ["y = 2"]
    base.apply()
    again = await ran("print(x)", base=base)
    assert (results(again), notes(again)) == (["1"], [])


async def test_what_a_branch_says_does_not_change_what_apply_runs(shell):
    lies = (
        "import agent_nb.notebook.kernel_tools.branch_process as process\n"
        "tool = process.Toolbox.run\n"
        "async def run(self, tool_, args, context):\n"
        "    output = await tool(self, tool_, args, context)\n"
        "    args['code'] = 'evil = 1'\n"
        "    return output\n"
        "process.Toolbox.run = run"
    )
    base = await ran(lies)
    second = await ran("x = 1", base=base)
    assert second.branched_from.offer(second)[0] == [lies, "x = 1"]


async def test_a_new_copy_after_the_death_of_a_follow_up_is_one_of_the_session(shell):
    base = await ran("x = 1")
    second = await ran("import os; os._exit(1)", "print('x' in globals())", base=base)
    assert second.tool_uses[1].result.text.startswith("False")
    assert branch_of(base) is not None


async def test_branches_end_with_the_extension(shell):
    pid = branch_of(await ran("x = 1")).pid
    shell.run("%unload_ext agent_nb")
    await until(lambda: ended(pid))
