"""Apply from the page: only what a card has shown of a run of this kernel runs, and once."""

from dataclasses import replace

import pytest

from agent_nb import Agent, kernel_tools, load
from agent_nb.notebook.kernel_tools import in_place
from agent_nb.providers.scripted import ScriptedProvider, call, text


@pytest.fixture
async def branched(desk, shell, monkeypatch):
    """Runs code in a branch and shows the run; returns it, and what the page shows of the branch."""
    for name in ("SECONDS", "COMPARE_SECONDS"):
        monkeypatch.setattr(in_place, name, 30)

    async def branched(*codes):
        turns = [[call("run_python", {"code": code}, id=f"c{n}")] for n, code in enumerate(codes)]
        model = ScriptedProvider([*turns, [text("Done.")]])
        handle = Agent(model, tools=kernel_tools(), approve="auto", branch=True).start("go")
        shown = desk.show(handle, "look")
        run = replace(await handle, name="look")
        shown.announce_ready(run, None)
        return run, desk.sent[-1]["features"].get("branch", {})

    return branched


async def test_what_the_card_shows_runs_once_and_is_undone(desk, shell, branched):
    shell.run("rows = [1]")
    assert [(await branched(*codes))[1] for codes in ((), ("print(rows)",))] == [{0: {"applies": False}}] * 2
    _, applies = await branched("rows.append(2)\ntotal = sum(rows)", "1/0", "more = total")
    card = desk.command("apply", key="look")
    code = "# Call 1 of 2\nrows.append(2)\ntotal = sum(rows)\n\n# Call 2 of 2\nmore = total"
    assert (applies, card["code"], card["problem"], card["applied"]) == (
        {0: {"applies": True}},
        code,
        "",
        False,
    )
    assert shell.names["rows"] == [1]
    done = await desk.answer("apply", key="look", question=card["question"])
    assert done["text"].startswith("Applied `look`: 2 calls ran in this session. Set total, more. rows: ")
    assert (shell.names["rows"], shell.names["more"]) == ([1, 2], 3)
    assert desk.command("apply", key="look", question=card["question"])["ok"] is False
    again = desk.command("apply", key="look")
    assert (again["applied"], "applied already" in again["problem"]) == (True, True)
    assert "Removed: total, more." in desk.command("unapply", key="look")["text"]
    question = desk.command("apply", key="look")["question"]
    assert (await desk.answer("apply", key="look", question=question))["ok"]
    assert shell.names["rows"] == [1, 2, 2]


async def test_code_that_stops_says_what_ran_and_can_be_undone(desk, shell, branched):
    shell.run("here = False")
    await branched("first = 1", "if here: raise KeyboardInterrupt", "last = 3")
    shell.run("here = True")
    question = desk.command("apply", key="look")["question"]
    done = await desk.answer("apply", key="look", question=question)
    assert "Call 2 of 3 of `look` failed: KeyboardInterrupt" in done["text"]
    assert "The later ones did not run. Set first." in done["text"]
    assert "Removed: first." in desk.command("unapply", key="look")["text"]


async def test_no_message_applies_what_was_not_shown_or_did_not_run_here(desk, shell, branched, tmp_path):
    shell.run("rows = []")
    run, _ = await branched("rows.append(1)")
    stale = desk.command("apply", key="look")["question"]
    for question in ("0" * 32, stale):
        desk.command("apply", key="look")  # another window asks
        assert "no longer what was shown" in desk.command("apply", key="look", question=question)["error"]
    question = desk.command("apply", key="look")["question"]
    run.apply()  # the card has not said so
    assert "no longer what was shown" in desk.command("apply", key="look", question=question)["error"]
    loaded = replace(load(run.save(tmp_path / "look.run.jsonl")), id="loaded")
    key = desk.hub.adopt(loaded)
    assert desk.hub._runs[key].stream.meta.features == {}
    for question in ("", desk.command("apply", key="look")["question"]):
        assert "was loaded or replayed" in desk.command("apply", key=key, question=question)["error"]
    assert (shell.names["rows"], desk.hub._answering) == ([1], set())
