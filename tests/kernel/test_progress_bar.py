"""The progress of `agent.map` on a real kernel: a bar that ends as the table, or the table alone."""

import re
import time

import pytest

from tests.support.kernels import PATIENCE, Cell, start_kernel
from tests.support.wire import Hold, Say, Tokens, reply

SETUP = """
from agent_nb import Agent, model
agent = Agent(model("demo:", pace=0))
real = Agent("anthropic:claude-opus-5-5")
prompts = {"bakery": "A bakery page", "form": "A form"}
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory, vendor):
    with start_kernel(tmp_path_factory.mktemp("kernel"), **vendor) as kernel:
        assert kernel.run(SETUP).status == "ok"
        yield kernel


def text_of(bundle) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", bundle["text/html"]).split())


def wait_for(condition) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_with_nobody_watching_only_the_table_shows(kernel):
    cell = kernel.run("runs = await agent.map(prompts)")
    assert cell.status == "ok", cell.errors
    assert (len(cell.displays), cell.updates, cell.stdout, cell.result) == (1, [], "", None)
    assert set(cell.displays[0]) == {"text/html", "text/plain"}
    assert "runs[1] form demo: done 3" in text_of(cell.displays[0])
    assert kernel.run("runs = await agent.map(prompts)").displays == cell.displays


def test_the_table_is_not_shown_twice(kernel):
    cell = kernel.run("await agent.map(prompts)")
    assert (len(cell.displays), cell.result) == (1, None)
    assert "2 runs" in kernel.run("_").result["text/plain"]
    later = kernel.run("runs")
    assert later.displays == []
    assert later.result["text/html"] == cell.displays[0]["text/html"]


def test_two_tables_in_a_cell_are_two(kernel):
    cell = kernel.run("await agent.map(prompts)\nawait agent.map(['A game'])")
    assert len(cell.displays) == 2
    assert cell.result is None
    other = kernel.run("await agent.map(['A game'])\nruns")
    assert ["runs[1]" in text_of(bundle) for bundle in other.displays] == [False, True]


def test_somebody_watching_sees_a_bar_become_the_table(kernel, server):
    def half(cell: Cell) -> bool:
        return any(text_of(bundle).startswith("1 of 2 done, 1 running") for bundle in cell.updates)

    server.plan(reply(Say("One.")), reply(Hold(), Say("Two.")))
    before = len(server.requests)
    message = kernel.start("runs = await real.map(prompts, concurrency=1)", stdin=True)
    kernel.until(message, half)
    # A job counts as running before its request has arrived.
    wait_for(lambda: len(server.requests) == before + 2)
    server.let_go(server.requests[-1])
    cell = kernel.finish(message)
    assert cell.status == "ok", cell.errors
    assert [text_of(bundle) for bundle in cell.displays] == ["0 of 2 done"]
    assert "background:" in cell.updates[0]["text/html"]
    assert "runs[1] form anthropic:claude-opus-5-5 done" in text_of(cell.updates[-1])
    assert "background:" not in cell.updates[-1]["text/html"]


def test_drawing_is_rare(kernel):
    cell = kernel.run("many = await agent.map([f'A page {n}' for n in range(30)])", stdin=True)
    assert cell.status == "ok", cell.errors
    events = int(kernel.value("sum(len(run.events) for run in many)"))
    assert len(cell.updates) < events / 20
    assert "30 runs" in text_of(cell.updates[-1])


def test_what_was_brought_back_is_told(kernel):
    first = kernel.run("await agent.map(prompts, save='saved')", stdin=True)
    again = kernel.run("await agent.map(prompts, save='saved')", stdin=True)
    assert text_of(again.updates[-1]) == f"{text_of(first.updates[-1])} 2 of 2 loaded from earlier runs."
    unwatched = kernel.run("await agent.map(prompts, save='saved')")
    assert unwatched.displays[0]["text/html"] == first.updates[-1]["text/html"]


INTERRUPTED = """
telling = Agent("anthropic:claude-opus-5-5")
telling.on_event(lambda event: print(event.text, flush=True) if event.type == "text_delta" else None)
work = telling.map(prompts, concurrency=1)
await work
"""


@pytest.mark.parametrize("watched", [True, False])
def test_an_interrupt_shows_what_is_done(kernel, server, watched):
    server.plan(reply(Say("One.")), reply(Say("Half"), Hold()))
    message = kernel.start(INTERRUPTED, stdin=watched)
    kernel.until(message, lambda cell: "Half" in cell.stdout)
    kernel.interrupt()
    cell = kernel.finish(message)
    assert cell.status == "error"
    shown = text_of((cell.updates if watched else cell.displays)[-1])
    assert "bakery anthropic:claude-opus-5-5 done" in shown
    assert "form anthropic:claude-opus-5-5 interrupted" in shown
    assert "Not all runs finished." in cell.stdout
    assert kernel.value("[run.text for run in work.result]") == "['One.', 'Half']"
    wait_for(lambda: server.requests[-1].closed.is_set())


def test_the_cost_of_many_counts_once(kernel, server):
    server.plan(*[reply(Say("Done."), Tokens(input=100_000, output=10))] * 2)
    kernel.run("%reset -f")
    kernel.run(SETUP)
    kernel.run("from agent_nb.engine.session_costs import SESSION; SESSION.clear()")
    kernel.run("runs = await real.map(prompts); best = runs[0]; same = best; runs")
    shown = kernel.run("%agent cost").displays[0]["text/plain"]
    assert shown.splitlines()[1].split()[:3] == ["anthropic:claude-opus-5-5", "2", "200,000"]
    assert f"Total in this session: ${float(kernel.value('runs.cost')):.4f}." in shown


def test_an_error_leaves_no_bar(kernel):
    cell = kernel.run("await agent.map(prompts, models='gemini:gemini-4-argon', save='other')", stdin=True)
    assert "GOOGLE_API_KEY" in cell.errors
    assert text_of(cell.updates[-1]) == ""


def test_unloaded_nobody_looks(kernel):
    kernel.run("%unload_ext agent_nb")
    cell = kernel.run("runs = await agent.map(prompts)", stdin=True)
    assert (cell.status, cell.displays, cell.updates, cell.stdout) == ("ok", [], [], "")
    kernel.run("%load_ext agent_nb")
