"""From synchronous code and other threads into the loop."""

import asyncio
import threading

from agent_nb._base.bridge import from_any_thread, run_blocking


async def answer() -> int:
    await asyncio.sleep(0)
    return 42


def test_without_a_loop_one_is_made():
    assert run_blocking(answer()) == 42


async def test_inside_a_loop_the_work_is_nested():
    assert run_blocking(answer()) == 42


async def test_a_call_from_another_thread_runs_on_the_loop():
    where: list[int] = []
    report = from_any_thread()(lambda: where.append(threading.get_ident()))
    await asyncio.to_thread(report)
    report()
    await asyncio.sleep(0)
    assert where == [threading.get_ident()] * 2
