"""What outputs leave on the page when they are closed."""

from benchmarks.soak.mounts import counts_around


def test_closed_outputs_leave_no_nodes_and_no_listeners(stage, server):
    before, after = counts_around(stage.page, server, 10)
    kept = {name: after[name] - before[name] for name in ("nodes", "listeners", "documents", "frames")}
    # One output has about a thousand nodes and 30 listeners; a few of the last one may not be collected yet.
    assert kept["nodes"] < 1000
    assert kept["listeners"] < 30
    assert kept["documents"] <= 1
    assert kept["frames"] <= 1
