"""Pickles and saved runs of earlier releases still load."""

import pickle

from agent_nb import Limits, Run, load
from agent_nb.run.compare import Comparison
from tests.support import ROOT

DATA = ROOT / "tests" / "unit" / "run" / "data"


def test_a_pickle_of_an_earlier_release_loads():
    values = pickle.loads((DATA / "run-0.1.0.pickle").read_bytes())
    assert isinstance(values["run"], Run)
    assert values["run"].files["index.html"] == "<h1>Hi</h1>"
    assert values["run"].files.versions("notes.txt")
    assert values["limits"] == Limits(steps=7)
    assert isinstance(values["comparison"], Comparison)
    assert {use.result.versions.get("index.html") for use in values["run"].tool_uses} == {None}


def test_a_saved_run_of_an_earlier_release_loads():
    run = load(DATA / "run-0.1.0.run.json")
    assert run.html == "<h1>Hi</h1>"
    assert run.thinking == "Plan."
