"""`agent.map` in the workers of an executor. Threads stand in for workers where no process is needed."""

import asyncio
import multiprocessing
import os
import pickle
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from agent_nb import Agent, ConfigError, model
from agent_nb.core.errors import MissingKeyError
from agent_nb.core.events import RunFinished
from agent_nb.demo.provider import DemoProvider
from agent_nb.engine.batch import tally
from agent_nb.engine.batch.executor import VERSIONS, pack, run_job
from agent_nb.engine.cost import SESSION
from agent_nb.plugins import RECORDS_GIVEN, Feature
from tests.support.plugins import plugin_of
from tests.support.wire import Hold, Say, Tokens, WireServer, reply
from tests.support.wire.cases import CASE, KEY
from tests.support.worker_tools import CALLS, holding_a_lock, process_number, third_time_fatal

PROMPTS = [f"A bakery page, number {number}" for number in range(5)]


def demo(**settings) -> Agent:
    return Agent(model("demo:", pace=0), **settings)


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as threads:
        yield threads


@pytest.fixture
def single():
    """One worker. Its end is not waited for, because its run may wait for a server in this loop."""
    executor = ThreadPoolExecutor(1)
    yield executor
    executor.shutdown(wait=False, cancel_futures=True)


@pytest.fixture
async def server():
    async with WireServer() as server:
        server.otherwise = lambda request: reply(Say("Done."), Tokens(input=100_000, output=10))
        yield server


async def test_process_pool(tmp_path, threads, monkeypatch):
    """One session: the runs of other processes, a worker that dies, and the call that goes on from there."""
    monkeypatch.setenv(CALLS, str(tmp_path / "calls"))
    agent, heard = demo(tools=[process_number, third_time_fatal]), []
    agent.on_event(lambda event: heard.append(event) if isinstance(event, RunFinished) else None)
    notes = []
    monkeypatch.setattr(tally, "_watch", lambda counts, stop: notes.append(counts) or tally.Watcher())
    SESSION.clear()

    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        runs = await agent.map(PROMPTS, executor=pool, concurrency=2, save=tmp_path / "runs")
    here = await demo(tools=[process_number]).run(PROMPTS[0])
    assert [run.reason for run in runs] == ["end_turn"] * 2 + ["failed"] * 3
    assert {run.error for run in runs[2:]} == {
        "A worker process died, and with it the whole pool. Create a new pool."
    }
    assert [run.events[-1].error for run in runs] == [run.error for run in runs]
    assert "The same call resumes from here." in notes[0].note
    assert len(list((tmp_path / "runs").iterdir())) == 2
    assert [run.name for run in runs] == [f"runs[{index}]" for index in range(5)]
    places = {use.result.text for run in runs for use in run.tool_uses if use.call.name == "process_number"}
    assert len(places) == 1
    assert str(os.getpid()) not in places
    assert runs[0].system is runs[1].system, "what the runs have in common is in memory once"
    assert len(heard) == 5
    assert SESSION.by_model()["demo:"].runs == 6
    assert here.tools == runs[0].tools[:1]

    runs = await agent.map(PROMPTS, executor=threads, save=tmp_path / "runs")
    assert [run.reason for run in runs] == ["end_turn"] * 5
    assert runs.loaded == 2


async def test_a_run_is_the_same_as_here(threads):
    there, here = await demo().map(PROMPTS[:2], executor=threads), await demo().map(PROMPTS[:2])
    for one, other in zip(there, here, strict=True):
        assert (one.files, one.text, one.name, one.key) == (other.files, other.text, other.name, other.key)
        assert (one.usage, one.cost, one.settings, one.tools) == (
            other.usage,
            other.cost,
            other.settings,
            other.tools,
        )
        assert [event.type for event in one.events] == [event.type for event in other.events]


async def test_a_run_under_way_is_waited_for_when_the_budget_is_reached(server, threads):
    tokens = Tokens(input=100_000, output=10)
    server.plan(reply(Say("Done."), tokens), reply(Hold(), Say("Done."), tokens))
    agent, ended = Agent(CASE["responses"].provider(server)), asyncio.Event()
    agent.on_event(lambda event: ended.set() if isinstance(event, RunFinished) else None)
    work = agent.map(PROMPTS[:3], executor=threads, concurrency=2, budget=0.0001)
    held = await server.arrival(1)
    await held.holding.wait()
    await ended.wait()
    held.let_go.set()
    runs = await work
    assert [run.reason for run in runs] == ["end_turn"] * 2 + ["budget"]
    assert "2 of 3 done" in repr(work)


async def test_stop_takes_back_what_waits_and_ends_what_runs(server, single, tmp_path):
    server.plan(reply(Say("Done.")), reply(Hold(), Say("Done.")))
    agent, ended = Agent(CASE["responses"].provider(server)), asyncio.Event()
    agent.on_event(lambda event: ended.set() if isinstance(event, RunFinished) else None)
    work = agent.map(PROMPTS, executor=single, concurrency=3, save=tmp_path)
    held = await server.arrival(1)
    await held.holding.wait()
    await ended.wait()
    work.stop()
    runs = await work
    await asyncio.wait_for(held.closed.wait(), 60)
    assert await asyncio.wrap_future(single.submit(int)) == 0
    assert [run.reason for run in runs] == ["end_turn"] + ["stopped"] * 4
    assert len(server.requests) == 2, "the job that waited for a worker was taken back"
    assert [path.suffix for path in tmp_path.iterdir()] == [".jsonl"]


async def test_a_worker_that_has_seen_the_batch_starts_no_run_after_its_end(server, tmp_path):
    """A process pool has taken one job more than it runs; it cannot be taken back."""
    file, parcel = tmp_path / "running", parcel_of(Agent(CASE["responses"].provider(server)))

    def answer(number: int):
        return asyncio.to_thread(run_job, VERSIONS, parcel, PROMPTS[0], (str(file), str(number)))

    assert (await answer(1))[0] == "run", "on another machine the file is not seen"
    file.touch()
    assert (await answer(2))[0] == "run"
    file.unlink()
    assert await answer(3) == ("interrupted", None)
    assert len(server.requests) == 2


async def test_an_interrupt_ends_the_wait(server, single):
    server.otherwise = lambda request: reply(Hold(), Say("Done."))
    work = Agent(CASE["responses"].provider(server)).map(PROMPTS[:2], executor=single)

    async def wait():
        return await work

    waiting = asyncio.create_task(wait())
    held = await server.arrival(0)
    await held.holding.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert [run.reason for run in work.result] == ["interrupted"] * 2
    await asyncio.wait_for(held.closed.wait(), 60)


class Losing(ThreadPoolExecutor):
    """Loses the first jobs, as a cluster does whose worker dies."""

    def __init__(self, losses: int, error: type[BaseException] = ConnectionError) -> None:
        super().__init__(1)
        self.losses, self.error, self.submitted = losses, error, 0

    def submit(self, function, /, *args, **kwargs):
        self.submitted += 1
        if self.submitted > self.losses:
            return super().submit(function, *args, **kwargs)
        lost: Future = Future()
        lost.set_exception(self.error("The worker is gone."))
        return lost


@pytest.mark.parametrize(
    ("losses", "error", "reasons", "submitted"),
    [
        (1, ConnectionError, ["end_turn"] * 2, 3),
        (1, KeyboardInterrupt, ["end_turn"] * 2, 3),
        (2, ConnectionError, ["failed", "end_turn"], 3),
    ],
)
async def test_a_lost_job_is_submitted_once_more(losses, error, reasons, submitted):
    with Losing(losses, error) as executor:
        runs = await demo().map(PROMPTS[:2], executor=executor, concurrency=1)
        assert [run.reason for run in runs] == reasons
        assert executor.submitted == submitted
    if "failed" in reasons:
        assert runs[0].error == f"The job lost its worker each time: {error.__name__}: The worker is gone."


async def test_a_future_that_the_executor_cancels_is_a_lost_job(threads):
    class Cancelling(Executor):
        def submit(self, function, /, *args, **kwargs):
            future: Future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    runs = await demo().map(PROMPTS[:1], executor=Cancelling())
    assert runs[0].error == "The job lost its worker each time: the executor cancelled it"


async def test_workers_without_the_package_are_named():
    with (
        Losing(1, lambda text: ModuleNotFoundError("No module named 'agent_nb'")) as executor,
        pytest.raises(ConfigError, match=r"A worker cannot import agent_nb\. Install agent_nb .* there"),
    ):
        await demo().map(PROMPTS[:1], executor=executor)


async def test_a_closed_executor_and_other_values_are_refused():
    with ThreadPoolExecutor(1) as closed:
        pass
    with pytest.raises(ConfigError, match="The executor accepts no jobs: cannot schedule new futures"):
        await demo().map(PROMPTS, executor=closed)
    with pytest.raises(ConfigError, match="not a int"):
        demo().map(PROMPTS, executor=4)


def parcel_of(agent: Agent, **material) -> bytes:
    from agent_nb.engine.batch.runs import plan_jobs

    return pack(plan_jobs(agent, PROMPTS, None, material, saved=False)[0])


async def test_a_worker_that_cannot_take_the_agent_says_why(monkeypatch, tmp_path):
    def answer(parcel: bytes, versions: str = VERSIONS):
        return run_job(versions, parcel, PROMPTS[0], ("", "ticket"))

    kind, pickled = answer(parcel_of(demo()))
    assert (kind, pickle.loads(pickled).reason) == ("run", "end_turn"), "also inside a running loop"
    kind, sentence = answer(parcel_of(demo()), "agent_nb 0.0.1 on Python 3.9")
    assert (kind, sentence) == (
        "unusable",
        f"A worker has {VERSIONS}, this process has agent_nb 0.0.1 on Python 3.9. Install the same in both.",
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_tools.py").write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    import own_tools

    parcel = parcel_of(demo(tools=[own_tools.add]))
    assert answer(parcel)[0] == "run"
    again = parcel_of(demo(tools=[own_tools.add], system="Be brief."))
    monkeypatch.delitem(sys.modules, "own_tools")
    (tmp_path / "own_tools.py").unlink()
    kind, sentence = answer(again)
    assert kind == "unusable"
    assert "No module named 'own_tools'" in sentence


async def test_a_worker_without_a_plugins_feature_refuses_the_job(threads):
    context = multiprocessing.get_context("spawn")
    with plugin_of(Feature("signed", code=RECORDS_GIVEN)), ProcessPoolExecutor(1, mp_context=context) as pool:
        with pytest.raises(ConfigError) as refused:
            await demo().map(PROMPTS[:2], executor=pool)
        runs = await demo().map(PROMPTS[:1], executor=threads)
    assert (
        str(refused.value) == "The feature `signed` is not loaded in this worker: install its plugin there."
    )
    assert runs[0].reason == "end_turn"


class ClockOnlyHere(DemoProvider):
    """A model that works in the thread of the test alone."""

    home = threading.get_ident()

    def new_clock(self):
        if threading.get_ident() != self.home:
            raise ValueError("there is no clock here")
        return super().new_clock()


async def test_a_job_that_raises_fails_alone(threads):
    runs = await Agent(ClockOnlyHere(pace=0)).map(
        PROMPTS[:2], models=[ClockOnlyHere(pace=0), model("demo:", pace=0)], executor=threads
    )
    assert [run.reason for run in runs] == ["failed", "end_turn"] * 2
    assert runs[0].error == "The worker could not run the job: ValueError: there is no clock here"


@pytest.fixture
def no_cloudpickle(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda agent: agent.before_tool(lambda call: None), ".*<lambda>"),
        (lambda agent: agent.tools._tools.update(guarded=holding_a_lock()), ".*lock"),
        (
            lambda agent: vars(agent).update(viewer=sys.__stdout__),
            r"TypeError: cannot pickle '_io.TextIOWrapper' object\.",
        ),
    ],
)
async def test_what_cannot_be_sent_is_refused_before_anything_starts(no_cloudpickle, threads, change, why):
    agent = demo()
    change(agent)
    sentence = (
        f"^The agent cannot be sent to another process: {why}.*sent with `cloudpickle` if that is installed"
    )
    with pytest.raises(ConfigError, match=sentence):
        agent.map(PROMPTS, executor=threads)


async def test_material_that_cannot_be_sent_is_refused(threads):
    with pytest.raises(
        ConfigError, match=r"The agent cannot be sent to another process: TypeError: .*generator"
    ):
        demo().map(PROMPTS, executor=threads, messages=({"role": "user", "content": "Hi"} for _ in range(1)))


async def test_keys_of_the_environment_stay_here(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    provider = Agent("anthropic:").model
    written = pickle.dumps(provider)
    assert KEY.encode() not in written
    assert pickle.loads(written).settings == provider.settings
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-k3y-71fa")
    assert pickle.loads(written).settings.api_key == "another-k3y-71fa"
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(MissingKeyError, match="set `ANTHROPIC_API_KEY` where it starts"):
        pickle.loads(written)


async def test_a_key_that_was_an_argument_travels_unreadably():
    agent = Agent(model("anthropic:", api_key=KEY))
    assert pickle.loads(pickle.dumps(agent)).model.settings.api_key == KEY
    assert KEY.encode() not in parcel_of(agent)


def test_tools_are_pickled_by_reference():
    agent = pickle.loads(pickle.dumps(demo(tools=[process_number])))
    assert agent.tools.get("process_number") is process_number
    assert [*pickle.loads(pickle.dumps(demo())).tools] == [*demo().tools]
    assert not pickle.loads(pickle.dumps(demo())).tools.own
