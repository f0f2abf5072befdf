"""Apply: the code of a run in a branch, run in the session; when it is refused, and what is left if it stops."""

import pickle
import signal
from dataclasses import replace

import pytest

from agent_nb import Agent, ConfigError, Run, kernel_tools, load
from agent_nb.core.errors import ToolError
from agent_nb.notebook.kernel_tools import in_place
from agent_nb.notebook.kernel_tools.name_changes import MOST_CALLS, changes_between, undo_store
from agent_nb.providers.scripted import ScriptedProvider, call, text


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """What is not read in time is not compared, and this machine may be busy."""
    for name in ("SECONDS", "COMPARE_SECONDS"):
        monkeypatch.setattr(in_place, name, 30)


def ran(*codes: str, approve="auto", branch=True, **options) -> Run:
    """A finished run in a branch with a call for each code."""
    turns = [[call("run_python", {"code": code}, id=f"c{n}")] for n, code in enumerate(codes)]
    model = ScriptedProvider([*turns, [text("Done.")]])
    agent = Agent(model, tools=kernel_tools(), approve=approve, branch=branch)
    return replace(agent.run_sync("go", **options), name="look")


def test_the_calls_run_in_order_and_undo_puts_all_names_back(shell):
    shell.run("rows = [1]; total = 0")
    before = shell.names["total"]
    run = ran(
        "import math\nmath.nope", "rows.append(2)", "total = sum(rows) + math.pi; agent_files", "more = total"
    )
    assert shell.names["rows"] == [1]
    assert run.branch == {"math": "set", "rows": "changed", "total": "changed", "more": "set"}
    with pytest.raises(ConfigError, match=r"A call of `look` failed.*\n\n# From.*\nimport math$"):
        run.apply()
    assert repr(run.apply(anyway=True)) == (
        "Applied `look`: 4 calls ran in this session. Set math, more; changed total. rows: 1 item → 2 items."
        " `look.unapply()` puts the names back."
    )
    assert (shell.names["rows"], int(shell.names["more"])) == ([1, 2], 6)
    with pytest.raises(ConfigError, match=r"applied already. `look.unapply\(\)` puts the names back"):
        run.apply()
    assert "Put back: total. Removed: math, more." in run.unapply()
    assert (shell.names["total"], "more" in shell.names) == (before, False)
    with pytest.raises(ConfigError, match="has not been applied"):
        run.unapply()
    run.apply(anyway=True)
    assert shell.names["rows"] == [1, 2, 2]


async def test_a_remedy_names_the_variant(shell):
    shell.names["rows"] = [1]
    turns = [[call("run_python", {"code": "total = len(rows)"})], [text("Done.")]]
    models = [ScriptedProvider([*turns]) for _ in range(2)]
    run = await Agent(models[0], tools=kernel_tools(), approve="auto").start_variants("go", models=models)
    first, second = (replace(variant, name="look") for variant in run.variants)
    assert "`look.unapply()` puts" in repr(first.apply())
    assert "Applied `look.variants[1]`: 1 call" in repr(second.apply())
    with pytest.raises(ConfigError, match=r"`look.variants\[1\].apply\(anyway=True\)` runs"):
        second.apply()


@pytest.mark.parametrize("code", ["count = 5", "count += 1", "rows.append(count)"])
def test_what_was_applied_twice_is_all_put_back(shell, code):
    shell.run("rows = []; count = 1")
    run = ran(f"{code}\nnew = 0")
    run.apply()
    run.apply(anyway=True)
    run.unapply()
    assert (shell.names["count"], "new" in shell.names) == (1, False)


def test_only_a_run_that_ended_in_this_kernel_can_be_applied(shell, tmp_path):
    shell.names["rows"] = []
    run = ran("rows.append(1)")
    path = run.save(tmp_path / "look.run.jsonl")
    forged = tmp_path / "forged.run.jsonl"
    forged.write_text(path.read_text().replace('"name": "look"', '"branched_from": {}, "name": "look"'))
    for other in (load(path), load(forged), pickle.loads(pickle.dumps(run))):
        with pytest.raises(ConfigError, match=r"loaded or replayed.*`look.to_cells\(\)` has its code"):
            other.apply()
    with pytest.raises(ConfigError, match="did not work in a branch"):
        replace(run, branched_from=None, settings={}).apply()
    with pytest.raises(ConfigError, match="has executed no code"):
        ran().apply()
    assert shell.names["rows"] == []


@pytest.mark.parametrize(
    ("code", "error", "reason"),
    [
        ("if here: 1/0", ToolError, "failed: ZeroDivisionError: division by zero."),
        ("if here: signal.raise_signal(signal.SIGINT)", KeyboardInterrupt, "was interrupted."),
        ("if here: await asyncio.sleep(1000)", ToolError, "was stopped after 0.3 seconds."),
    ],
)
def test_what_ran_before_a_stop_is_said_and_undone(shell, code, error, reason):
    shell.run("import asyncio, signal; here = False")
    run = ran("first = 1", f"second = 2\n{code}", "third = 3")
    shell.run("here = True")
    shell.magics.python_seconds = 0.3 if "1000" in code else 60
    with pytest.raises(error) as caught:
        run.apply(anyway=True)
    assert f"Call 2 of 3 of `look` {reason} The later ones did not run. Set first, second." in str(
        caught.value
    )
    assert "third" not in shell.names
    assert "Removed: first, second" in run.unapply()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_code_of_a_run_cannot_apply_another(shell):
    shell.names |= {"earlier": ran("x = 1")}
    agent = Agent(
        ScriptedProvider([[call("run_python", {"code": "earlier.apply()"})], [text("Done.")]]),
        tools=kernel_tools(),
        approve="auto",
    )
    assert "Code of a run cannot apply another one" in agent.run_sync("go").tool_uses[0].result.text


def test_what_can_no_longer_be_undone_stays_applied(shell):
    run = ran("x = 1")
    run.apply()
    for _ in range(MOST_CALLS):
        undo_store.add(changes_between({}, {"a": 1}, {}))
    with pytest.raises(ConfigError, match="no longer has the earlier objects"):
        run.unapply()
    with pytest.raises(ConfigError, match="applied already"):
        run.apply()
