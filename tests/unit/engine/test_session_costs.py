"""What the runs of a process cost: sums by model that outlive the runs."""

from dataclasses import replace
from threading import Thread

from agent_nb.core.messages import Usage
from agent_nb.engine.cost import ModelCosts, SessionCosts
from tests.support.shells import quick_run


def test_runs_add_up_by_model():
    run, costs = replace(quick_run(), usage=Usage(input=10, output=2), cost=0.5), SessionCosts()
    for model, cost in (("a:", 0.5), ("b:", 0.25), ("a:", None)):
        costs.add(replace(run, model=model, cost=cost))
    assert costs.by_model() == {
        "a:": ModelCosts(runs=2, usage=Usage(input=20, output=4), cost=0.5, unpriced=1),
        "b:": ModelCosts(runs=1, usage=Usage(input=10, output=2), cost=0.25),
    }


def test_a_replay_is_free_and_remembered():
    run, costs = quick_run(), SessionCosts()
    costs.add(replace(run, cost=0.5, settings={"replayed": "a.jsonl"}))
    assert costs.by_model() == {run.model: ModelCosts(replays=1, recorded_cost=0.5)}


def test_threads_lose_no_run():
    run, costs = quick_run(), SessionCosts()
    threads = [Thread(target=lambda: [costs.add(run) for _ in range(500)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert costs.by_model()[run.model].runs == 4000
