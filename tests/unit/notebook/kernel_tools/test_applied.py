"""Apply: the code of a run in a branch, run in the session; when it is refused, and what is left if it stops."""

import pickle
import signal
from dataclasses import replace

import numpy
import pandas
import pytest

from agent_nb import Agent, ConfigError, Run, kernel_tools, load
from agent_nb.core.errors import ToolError
from agent_nb.core.events import ToolFinished
from agent_nb.engine.approval import Answer
from agent_nb.notebook.kernel_tools import in_place
from agent_nb.notebook.kernel_tools.applied import BranchedKernel, fingerprints
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


class Thing:
    pass


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
    with pytest.raises(ConfigError, match="`rows` has changed since the branch of `look` was made"):
        run.apply()
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


@pytest.mark.parametrize(
    ("value", "code", "change", "has_changed"),
    [
        ("5", "y = x", "x = 5", False),
        ("'some text'", "y = x", "x = ''.join(['some', ' text'])", False),
        ("-1", "y = x", "x = -2", True),
        ("1", "y = x", "x = True", True),
        ("bytearray(b'a')", "y = x[0]", "x[0] = 2", True),
        ("[1.5]", "y = x[0]", "x[0] = 2.5", True),
        ("[1.5]", "y = x[0]", "x = [1.5]", True),
        ("{'a': 1}", "y = x", "x['b'] = 2", True),
        ("[{'a': [1]}]", "y = x[0]", "x[0]['a'].append(2)", True),
        ("{'a': pd.DataFrame({'a': [1]})}", "y = x", "x['a'].loc[0, 'a'] = 9", True),
        ("{'a': pd.DataFrame({'a': [1]}), 'b': [1]}", "y = x", "x['a'].a.sum(); other = 3", False),
        ("np.zeros(3)", "y = x.sum()", "x[1] = 1", True),
        ("pd.DataFrame({'a': [1, 2]})", "y = x.a.sum()", "x['b'] = 1", True),
        ("pd.DataFrame({'a': ['p', None]})", "y = len(x)", "x.head(); other = 3", False),
        ("Thing()", "y = x", "x = Thing(); x = Thing(); x = Thing()", True),
        ("len", "y = x('ab')", "x = max", True),
        ("7", "y = x", "del x", True),
        ("7", "x = 8", "x = 9", False),
        ("7", "def f(): return x\ny = f()", "x = 9", True),
    ],
)
def test_a_change_of_a_name_that_the_code_reads_is_found(shell, value, code, change, has_changed):
    shell.names |= {"Thing": Thing, "np": numpy, "pd": pandas}
    shell.run(f"x = {value}")
    session = BranchedKernel(shell.ipython)
    session.copied()
    session.remember(code)
    shell.run(change)
    assert session.changed([code]) == ["x"] * has_changed


def test_it_is_refused_if_a_name_that_the_code_reads_has_changed(shell):
    shell.names["table"] = pandas.DataFrame({"a": [1, 2]})
    run = ran("total = table.a.sum()")
    shell.run("table.loc[0, 'a'] = 9")
    with pytest.raises(ConfigError, match="`table` has changed since the branch of `look` was made"):
        run.apply()
    assert "total" not in shell.names
    shell.run("table.loc[0, 'a'] = 1")
    run.apply()
    assert shell.names["total"] == 3


def test_a_fingerprint_is_small(shell):
    table = pandas.DataFrame({"a": range(100_000), "b": ["text"] * 100_000})
    assert len(pickle.dumps(fingerprints({"table": table, "rows": list(range(90_000))}))) < 1000


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


def ends(run: Run) -> list[ToolFinished]:
    return [*run.events.of(ToolFinished)]


def test_the_second_question_finds_the_variables_of_the_first(shell, tmp_path):
    shell.names["rows"] = [1]
    base = ran("rows.append(2)\ntotal = sum(rows)", "1/0", "more = total * 2")
    second = ran("last = more + total", base=base, branch=False)
    assert (second.settings["branch"], second.tool_uses[0].ok, shell.names["rows"]) == (True, True, [1])
    first, _ = ends(second)
    assert (first.call_id, first.ok, first.summary) == ("base_code", True, "2 calls ran again")
    assert "not there" not in repr(second.messages)
    assert [cell.source for cell in second.to_cells() if cell.kind == "code"] == ["last = more + total"]
    for form in (second.to_markdown(), second.to_html(), load(second.save(tmp_path / "s.jsonl")).to_html()):
        assert "run the code of `look` again (in a branch)" in form.replace("<code>", "`").replace(
            "</code>", "`"
        )
    third = ran("rows.append(last)", base=second)
    assert "3 calls ran again" in ends(third)[0].summary
    third.apply()
    assert (shell.names["rows"], shell.names["last"]) == ([1, 2, 9], 9)


def test_the_code_of_an_applied_run_is_not_run_again(shell):
    shell.names["rows"] = [1]
    base = ran("rows.append(2)")
    base.apply()
    second = ran("rows.append(3)", base=base)
    assert [end.call_id for end in ends(second)] == ["c0"]
    second.apply()
    assert shell.names["rows"] == [1, 2, 3]


def test_code_that_was_applied_with_a_later_run_is_not_run_again_for_its_own(shell):
    shell.names["rows"] = [1]
    base = ran("rows.append(2)")
    second = replace(ran("more = sum(rows)", base=base), name="second")
    second.apply()
    third = ran("print(rows)", base=base)
    printed = third.tool_uses[0].result.text.splitlines()[
        0
    ]  # a note may follow, about what other tests have loaded
    assert ([end.call_id for end in ends(third)], printed) == (["c0"], "[1, 2]")
    with pytest.raises(ConfigError, match="applied already"):
        base.apply()
    with pytest.raises(
        ConfigError, match=r"was applied with `second`: `second.unapply\(\)` puts the names back"
    ):
        base.unapply()
    second.unapply()
    with pytest.raises(ConfigError, match="has not been applied"):
        base.unapply()
    base.apply(anyway=True)
    assert shell.names["rows"] == [1, 2, 2]


def test_a_base_whose_code_ran_only_in_part_was_not_applied(shell):
    shell.run("open('once.txt', 'w').close()")
    base = ran("x = 1", "import os; os.remove('once.txt')")
    second = ran("y = x", base=base)
    second.apply()
    with pytest.raises(ConfigError, match="has not been applied"):
        base.unapply()


def test_what_can_no_longer_be_undone_stays_applied(shell):
    run = ran("x = 1")
    run.apply()
    for _ in range(MOST_CALLS):
        undo_store.add(changes_between({}, {"a": 1}, {}))
    with pytest.raises(ConfigError, match="no longer has the earlier objects"):
        run.unapply()
    with pytest.raises(ConfigError, match="applied already"):
        run.apply()


@pytest.mark.parametrize("rule", ["deny", "ask", "function"])
def test_the_rule_of_the_run_decides_about_all_code_of_its_base_at_once(shell, rule):
    asked = []
    refuse = {"function": lambda call, args: bool(asked.append(args["code"]))}
    second = ran(base=ran("x = 1", "y = 2"), approve={"run_python": refuse.get(rule, rule)})
    (end,) = ends(second)
    assert (end.ok, end.code) == (False, "DENIED")
    assert (
        "it was not run in the branch of this run, because that was not allowed." in second.messages[-2].text
    )
    assert asked == (["# Call 1 of 2\nx = 1\n\n# Call 2 of 2\ny = 2"] if rule == "function" else [])


def test_a_failed_call_of_the_base_is_named_and_the_run_goes_on(shell):
    shell.run("open('once.txt', 'w').close()")
    base = ran("x = 1", "import os; os.remove('once.txt')", "z = 3")
    second = ran("print(x)", "print(z)", base=base)
    assert [end.ok for end in ends(second)] == [False, True, False]
    assert "Call 2 of 3: FileNotFoundError" in ends(second)[0].summary
    assert "it was not run in the branch of this run from call 2 of 3 on, which failed." in repr(
        second.messages
    )
    assert second.reason == "end_turn"


def test_the_code_of_a_loaded_base_is_not_run(shell, tmp_path):
    base = load(ran("x = 1").save(tmp_path / "base.run.jsonl"))
    second = ran("print(x)", base=base)
    assert [end.call_id for end in ends(second)] == ["c0"]
    assert "Variables that your earlier code set are not there" in repr(second.messages)
    assert "NameError" in second.tool_uses[0].result.text


def test_without_values_the_model_learns_that_the_code_of_a_loaded_base_was_not_run(shell, tmp_path):
    settings = {**ran("x = 1").settings, "data": "schema"}
    base = load(replace(ran("x = 1"), settings=settings).save(tmp_path / "base.run.jsonl"))
    model = ScriptedProvider([[text("Done.")]])
    Agent(model, tools=kernel_tools(), branch=True).run_sync("go", base=base)
    assert "Variables that your earlier code set are not there" in repr(model.requests[0].messages)


def test_code_of_the_base_that_a_function_changes_runs_as_changed(shell):
    base = ran("x = 1", "y = 2")
    rule = {"run_python": lambda call, args: Answer(True, args={"code": args["code"].replace("= 2", "= 5")})}
    assert "5" in ran("print(y)", base=base, approve=rule).tool_uses[0].result.text
