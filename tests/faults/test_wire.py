"""Every kind of fault at every event of a run with tools, for every protocol."""

import logging

import pytest

from tests.support.fault_table import TABLE
from tests.support.faults import WIRES, Runs, Wire, is_another_answer, places
from tests.support.wire.cases import KEY
from tests.support.wire.faults import KINDS


@pytest.mark.faults
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wire", WIRES, ids=str)
async def test_a_fault_at_every_event(wire: Wire, kind: str, tmp_path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "agent_nb")
    violations = {}
    async with Runs(wire, tmp_path) as runs:
        for place in places(wire):
            outcome = await runs.run(kind, *place)
            result = outcome.name
            if result == "violations" and outcome.only_files_differ and is_another_answer(wire, kind, *place):
                result = "other_answer"
            elif outcome.violations:
                violations[place] = outcome.violations
            TABLE.add(wire.name, kind, result)
        left = await runs.left_behind()
    assert not violations
    assert not left
    assert KEY not in caplog.text


@pytest.mark.faults
@pytest.mark.parametrize("kind", ["cut", "garbage", "stall", "error"])
@pytest.mark.parametrize("wire", WIRES, ids=str)
async def test_a_fault_that_stays(wire: Wire, kind: str, tmp_path):
    """Every attempt of the turn fails at the same event, at a few events of each turn."""
    violations = {}
    async with Runs(wire, tmp_path) as runs:
        for place in places(wire)[:: 5 if kind == "stall" else 2]:
            outcome = await runs.run(kind, *place, always=True)
            if outcome.violations:
                violations[place] = outcome.violations
            TABLE.add(wire.name, f"{kind}, always", outcome.name)
        left = await runs.left_behind()
    assert not violations
    assert not left


@pytest.mark.parametrize("wire", WIRES, ids=str)
async def test_a_sample_of_faults(wire: Wire, tmp_path):
    """Every second kind of fault, each at another event of the run. `make test-faults` takes them all."""
    every = places(wire)
    kinds = list(KINDS)[WIRES.index(wire) % 2 :: 2]
    async with Runs(wire, tmp_path) as runs:
        for number, kind in enumerate(kinds):
            place = every[number * (len(every) - 1) // len(kinds)]
            outcome = await runs.run(kind, *place)
            assert not outcome.violations or is_another_answer(wire, kind, *place), (kind, place)
        assert not await runs.left_behind()
