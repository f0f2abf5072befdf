"""Open questions: the time that a person takes is not the run's time, and the end of the run denies them."""

import asyncio

import pytest

from agent_nb import Agent, Limits, Run, tool
from agent_nb.core.events import ApprovalRequested, ApprovalResolved, ToolFinished
from agent_nb.engine.approval import Answer
from agent_nb.providers.base import RealClock
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.scripts import of

THINKING = 100.0
LIMIT = 0.05


class SteppedClock(RealClock):
    """A wall clock that only a test moves on. The engine sets its real timer as for any wall clock."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:  # type: ignore[override]
        return self.time


def shell_tool(clock: SteppedClock, seconds: float = 0.0):
    @tool(approval="ask")
    async def shell(command: str) -> str:
        """Runs a command."""
        clock.time += seconds
        return f"ran {command}"

    return shell


async def run_asking(clock: SteppedClock, agent: Agent) -> Run:
    # So long that a timer that does not stop would end the run. All answers come in the same step of the loop: no
    # call runs while the question about another one is open.
    thinking = asyncio.create_task(asyncio.sleep(2 * LIMIT))

    async def think_it_over(request: ApprovalRequested) -> Answer:
        clock.time += THINKING
        await asyncio.shield(thinking)
        return Answer(True)

    handle = agent.start("go")
    handle.approve_with(think_it_over)
    return await handle


def script(clock: SteppedClock, *turns) -> ScriptedProvider:
    return ScriptedProvider(list(turns), clock=clock)


async def test_a_run_does_not_time_out_while_a_person_thinks():
    clock = SteppedClock()
    provider = script(
        clock, [call("shell", {"command": "ls"}), call("shell", {"command": "pwd"})], [text("Done.")]
    )
    agent = Agent(provider, tools=[shell_tool(clock, 0.01)], limits=Limits(seconds=LIMIT))
    run = await run_asking(clock, agent)
    assert (run.reason, run.seconds) == ("end_turn", 0.02)
    assert {event.at for event in of(run, ApprovalRequested, ApprovalResolved)} == {0.0}
    assert max(event.seconds for event in of(run, ToolFinished)) <= 0.02


async def test_the_work_after_the_answer_counts():
    clock = SteppedClock()
    provider = script(clock, [call("shell", {"command": "ls"})], [text("Never sent.")])
    agent = Agent(provider, tools=[shell_tool(clock, 2 * LIMIT)], limits=Limits(seconds=LIMIT))
    run = await run_asking(clock, agent)
    assert run.reason == "max_seconds"
    assert [event.approved for event in of(run, ApprovalResolved)] == [True]


class Desk:
    """Eight variants that ask, and the questions that are open."""

    def __init__(self) -> None:
        self.open: dict[int, asyncio.Future[Answer]] = {}
        self.all_open = asyncio.Event()
        clock = SteppedClock()
        models = [script(clock, [call("shell", {"command": f"ls {n}"})], [text("Done.")]) for n in range(8)]
        self.race = Agent(models[0], tools=[shell_tool(clock)]).start_variants("go", models=models)
        self.race.approve_with(self.ask)

    async def ask(self, request: ApprovalRequested) -> Answer:
        self.open[request.variant] = asyncio.get_running_loop().create_future()
        if len(self.open) == 8:
            self.all_open.set()
        return await self.open[request.variant]


async def test_eight_variants_ask_at_once_and_each_gets_its_answer():
    desk = Desk()
    await desk.all_open.wait()
    desk.race.stop(number=3)
    for number, question in desk.open.items():
        if number != 2:
            question.set_result(Answer(number % 2 == 0, args={"command": f"pwd {number}"}))
    run = await desk.race
    results = [variant.tool_uses[0].result for variant in run.variants]
    codes = [result.code for result in results]
    assert codes == [None, "DENIED", "STOPPED", "DENIED", None, "DENIED", None, "DENIED"]
    assert [result.text.partition("\n")[0] for result in results if result.ok] == [
        "ran pwd 0",
        "ran pwd 4",
        "ran pwd 6",
    ]


@pytest.mark.parametrize("reason", ["stopped", "interrupted"])
async def test_the_end_of_the_run_denies_every_open_question_and_says_so(reason):
    desk = Desk()
    await desk.all_open.wait()
    desk.race.stop(reason)
    run = await desk.race
    for variant in run.variants:
        (resolved,) = of(variant, ApprovalResolved)
        assert (variant.reason, resolved.approved, resolved.by) == (reason, False, "stopped")
        assert resolved.executed is None
        assert [event.summary for event in of(variant, ToolFinished)] == ["Stopped before it was approved."]
        assert variant.tool_uses[0].result.text == "Stopped before it was approved."
