"""The progress of `agent.map` on a real kernel: a line of text, or nothing."""

import re

import pytest

from tests.support.kernels import start_kernel
from tests.support.waiting import wait_for
from tests.support.wire import Hold, Say, reply

SETUP = """
from agent_nb import Agent, model
agent = Agent(model("demo:", pace=0))
real = Agent("openai:gpt-6.1-sol")
prompts = {"bakery": "A bakery page", "form": "A form"}
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory, vendor):
    with start_kernel(tmp_path_factory.mktemp("kernel"), **vendor) as kernel:
        assert kernel.run(SETUP).status == "ok"
        yield kernel


def test_with_nobody_watching_there_is_no_bar(kernel):
    cell = kernel.run("runs = await agent.map(prompts)")
    assert (cell.status, cell.displays, cell.stdout, cell.stderr, cell.result) == ("ok", [], "", "", None)
    result = kernel.run("await agent.map(prompts)").result
    assert "2 runs" in result["text/plain"]
    assert kernel.run("runs").result == result


def test_somebody_watching_sees_a_line_of_text(kernel, server):
    server.plan(reply(Say("One.")), reply(Hold(), Say("Two.")))
    before = len(server.requests)
    message = kernel.start("runs = await real.map(prompts, concurrency=1)", stdin=True)
    kernel.until(message, lambda cell: re.search(r"50%.* 1/2 \[.*1 running", cell.stdout))
    # A job counts as running before its request has arrived.
    wait_for(lambda: len(server.requests) == before + 2)
    server.let_go(server.requests[-1])
    cell = kernel.finish(message)
    assert (cell.status, cell.displays, cell.stderr) == ("ok", [], "")
    assert re.search(r"100%.* 2/2 \[[^\r]*\n$", cell.stdout)


def test_drawing_is_rare(kernel):
    cell = kernel.run("many = await agent.map([f'A page {n}' for n in range(30)])", stdin=True)
    assert cell.status == "ok", cell.errors
    events = int(kernel.value("sum(len(run.events) for run in many)"))
    assert cell.stdout.count("\r") < events / 20


def test_tqdm_disable_switches_it_off(kernel):
    kernel.run("import os; os.environ['TQDM_DISABLE'] = '1'")
    cell = kernel.run("runs = await agent.map(prompts)", stdin=True)
    kernel.run("del os.environ['TQDM_DISABLE']")
    assert (cell.status, cell.stdout, cell.stderr) == ("ok", "", "")


INTERRUPTED = """
telling = Agent("openai:gpt-6.1-sol")
telling.on_event(lambda event: print(event.text, flush=True) if event.type == "text_delta" else None)
work = telling.map(prompts, concurrency=1)
await work
"""


@pytest.mark.parametrize("watched", [True, False])
def test_an_interrupt_says_how_many_are_done(kernel, server, watched):
    server.plan(reply(Say("One.")), reply(Say("Half"), Hold()))
    message = kernel.start(INTERRUPTED, stdin=watched)
    kernel.until(message, lambda cell: "Half" in cell.stdout)
    kernel.interrupt()
    cell = kernel.finish(message)
    assert cell.status == "error"
    assert "1 of 2 done. Not all runs finished." in cell.stdout
    assert ("1/2 [" in cell.stdout) == watched
    assert kernel.value("[run.text for run in work.result]") == "['One.', 'Half']"
    wait_for(lambda: server.requests[-1].closed.is_set())


def test_an_error_leaves_no_bar(kernel):
    cell = kernel.run("await agent.map(prompts, models='gemini:gemini-4-argon', save='other')", stdin=True)
    assert "GOOGLE_API_KEY" in cell.errors
    assert cell.stdout.endswith("\r")


def test_unloaded_nobody_looks(kernel):
    kernel.run("%unload_ext agent_nb")
    cell = kernel.run("runs = await agent.map(prompts)", stdin=True)
    assert (cell.status, cell.displays, cell.updates, cell.stdout) == ("ok", [], [], "")
    kernel.run("%load_ext agent_nb")
