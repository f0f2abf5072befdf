"""From synchronous code into the loop."""

import asyncio

from agent_nb._base.threads import run_blocking


async def answer() -> int:
    await asyncio.sleep(0)
    return 42


def test_without_a_loop_one_is_made():
    assert run_blocking(answer()) == 42


async def test_inside_a_loop_the_work_is_nested():
    assert run_blocking(answer()) == 42
