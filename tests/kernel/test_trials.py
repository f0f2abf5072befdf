"""Try it on a real kernel: code runs in a copy before it is approved, for the user alone."""

import pytest

from tests.support.processes import ended
from tests.support.waiting import wait_for

pytestmark = pytest.mark.usefixtures("patient")
MODEL = "-m openai:gpt-6.1-sol -t kernel"
NAMES = "application/vnd.agent-nb.names+json"
CODE = (
    "import matplotlib.pyplot as plt\nrows.append(len(rows))\nplt.plot(rows)\n"
    "to_file('a.txt', 'in the copy')\nprint('tried', sorted(agent_files), rows)"
)
FORGED = [
    {"call_id": "c1"},
    {"variant": 1},
    {"args": {"code": 3}},
    {"args": {"code": "1", "more": 1}},
    {"args": ["1"]},
    {"args": {"code": "1 +"}},
    {"stop": "yes"},
]


@pytest.fixture
def ask(page, start_codes):
    """Starts a run that asks about one code after the other; returns its cell and the first question."""

    def ask(*codes: str, options: str = "") -> tuple[str, dict]:
        return start_codes(f"%%agent ran {MODEL} {options}\nCompute", *codes), page.question()

    return ask


@pytest.fixture
def endless(page, ask, tmp_path):
    """Asks about code that never ends and tries it; returns the cell, the trial's id and its process."""

    def begin() -> tuple[str, str, int]:
        pid = tmp_path / "pid"
        code = f"import os, time\nprint('begun')\nopen({str(pid)!r}, 'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(1e6)"
        cell, _ = ask(code)
        trial = page.send("try", call_id="c0")
        wait_for(lambda: pid.exists() and pid.read_text().endswith("\n"))
        return cell, trial, int(pid.read_text())

    return begin


def texts(answer: dict) -> str:
    return "".join(bundle.get("text/plain", "") for bundle in answer["outputs"] if NAMES not in bundle)


def test_code_is_tried_in_a_copy_of_the_session_and_only_the_user_sees_it(page, ask, server):
    page.kernel.run("rows = [5]")
    cell, question = ask(CODE)
    assert question["can_try"]
    before = len(page.events())
    for _ in range(2):
        answer = page.command("try", call_id="c0")
        assert (answer["ok"], answer["problem"]) == (True, ""), answer
        assert texts(answer).startswith("tried [] [5, 1]")
        assert any("image/png" in bundle for bundle in answer["outputs"])
        (names,) = [bundle[NAMES] for bundle in answer["outputs"] if NAMES in bundle]
        assert (names["bound"], names["in_place"]) == (["plt"], {"rows": "1 item → 2 items"})
        assert "undo" not in names
    edited = page.command("try", call_id="c0", args={"code": "1 / 0"})
    assert "ZeroDivisionError" in edited["problem"]
    assert "line 1" in texts(edited)
    for forged in FORGED:
        assert not page.command("try", **{"call_id": "c0", **forged})["ok"]
    assert len(page.events()) == before
    assert page.command("deny", call_id="c0", note="")["ok"]
    page.finish(cell)
    assert page.kernel.value("rows, 'plt' in globals(), dict(ran.files)") == "([5], False, {})"
    recorded = page.kernel.value("str(ran.messages) + str(list(ran.events))")
    assert "in the copy" in recorded  # in the code
    for text in ("tried []", "1 item", "ZeroDivision"):
        assert text not in recorded
        assert all(text not in str(request.body) for request in server.requests)
    assert "no longer open" in page.command("try", call_id="c0")["error"]


def test_in_a_branch_the_copy_is_one_of_the_branch(page, ask):
    page.kernel.run("rows = [5]")
    cell, _ = ask("rows.append(6)\nto_file('a.txt', 'x')", CODE, options="--branch")
    assert page.command("approve", call_id="c0")["ok"]
    page.pump(lambda: len(page.of("approval_requested")) == 2)
    assert texts(page.command("try", call_id="c1")).startswith("tried ['a.txt'] [5, 6, 2]")
    assert page.command("approve", call_id="c1")["ok"]
    page.finish(cell)
    assert "tried ['a.txt'] [5, 6, 2]" in page.kernel.value("ran.tool_uses[1].result.text")
    assert page.kernel.value("rows, ran.branch['rows'], ran.branch['plt']") == "([5], 'changed', 'set')"


@pytest.mark.parametrize(
    ("command", "fields"),
    [("try", {"call_id": "c0", "stop": True}), ("stop", {}), ("deny", {"call_id": "c0", "note": ""})],
)
def test_a_second_press_and_the_end_of_the_question_end_a_trial_at_once(page, endless, command, fields):
    cell, trial, pid = endless()
    assert "being tried already" in page.command("try", call_id="c0", client="page-2")["error"]
    assert page.command(command, **fields)["ok"]
    answer = page.answer_to(trial)
    assert answer["problem"] == "The code was stopped."
    assert texts(answer) == "begun\n"
    wait_for(lambda: ended(pid))
    if command == "try":
        assert page.command("try", call_id="c0", args={"code": "print(7)"})["ok"]
        assert page.command("deny", call_id="c0", note="")["ok"]
    page.finish(cell)


@pytest.mark.parametrize("options", ["--approve deny", "--approve auto"])
def test_a_call_about_which_nobody_is_asked_cannot_be_tried(page, run_codes, options, tmp_path):
    marker = tmp_path / "marker"
    code = f"import os; os.path.exists({str(marker)!r}) or print('not here')"
    run_codes(f"%%agent ran {MODEL} {options}\nCompute", code)
    page.command("hello")
    touch = {"code": f"open({str(marker)!r}, 'w')"}
    assert not page.command("try", call_id="c0", args=touch)["ok"]
    assert not marker.exists()
