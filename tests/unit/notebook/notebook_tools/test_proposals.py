"""Changes that a run offers: nothing is written, the first decision counts, and every form of the run shows them."""

import itertools
import uuid
from dataclasses import replace

import pytest

from agent_nb import Agent, load, replay
from agent_nb._base.constants import CHANGE_TYPE
from agent_nb.core.event_list import EventList
from agent_nb.core.events import ToolFinished
from agent_nb.demo.provider import DemoProvider
from agent_nb.files.cell_changes import CellChange
from agent_nb.notebook.failures import FailedCell
from agent_nb.notebook.notebook_tools import tools
from agent_nb.notebook.notebook_tools.proposals import Proposals
from agent_nb.notebook.notebook_tools.tools import notebook_tools
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render.transcript import ToolRow, transcript
from agent_nb.run.run import Run
from tests.unit.notebook.notebook_tools.conftest import OWN, code, outputs_of

DIVIDE = ("change_cell", {"cell": "mean", "old": "/ rate", "new": "/ len(prices)"})
TITLE = ("insert_cell", {"after": "top", "kind": "markdown", "source": "# Report"})
DELETE = ("delete_cell", {"cell": "plot"})


def titles_of(shown):
    return [row.title for row in transcript(shown.result.events) if isinstance(row, ToolRow)]


async def test_the_proposal_is_in_the_order_of_the_notebook(page):
    shown = await page.run(DIVIDE, TITLE, DELETE)
    rows = [(change.title, change.before, change.after) for change in shown.result.changes]
    assert rows == [
        ("New Markdown cell at the top", "", "# Report"),
        ("Cell 3, deleted", "plot(prices)", ""),
        ("Cell 4", "sum(prices) / rate", "sum(prices) / len(prices)"),
    ]
    assert page.cells[3]["source"] == "sum(prices) / rate"


async def test_a_row_names_its_cell_as_the_proposal_does(page):
    page.cells[0]["id"] = "daa810e9-5a0f-4c5e-8f4e-0b0f5d1c3a77"
    long = page.cells[0]["id"]
    shown = await page.run(
        ("change_cell", {"cell": long, "old": "Sales", "new": "Sold"}),
        ("list_cells", {}),
        ("read_cells", {"cells": [long, "2-3"]}),
        ("change_cell", {"cell": long, "old": "Sold", "new": "Sales of"}),
        DELETE,
        TITLE,
        ("insert_cell", {"after": "load", "source": "a = 1"}),
        ("insert_cell", {"source": "b = 1"}),
    )
    assert titles_of(shown) == [
        "change cell daa810e9…",
        "list cells",
        "read cells 1, 2-3",
        "change cell 1",
        "delete cell 3",
        "insert Markdown cell at the top",
        "insert cell below cell 2",
        "insert cell below cell 5",
    ]


async def test_a_row_names_a_new_cell_by_its_place(page, monkeypatch):
    ids = itertools.count(1)
    monkeypatch.setattr(tools, "uuid4", lambda: uuid.UUID(f"{next(ids):032x}"[::-1]))
    insert = ("insert_cell", {"after": "load", "source": "a = 1"})
    shown = await page.run(insert, ("change_cell", {"cell": "agent-20000000", "old": "1", "new": "2"}))
    assert [change.after for change in shown.result.changes] == ["a = 2"]
    assert titles_of(shown)[1] == "change the new code cell below cell 2"


async def test_later_calls_revise_what_the_proposal_has(page):
    shown = await page.run(
        DIVIDE,
        ("change_cell", {"cell": "mean", "old": "sum", "new": "math.fsum"}),
        ("change_cell", {"cell": "load", "old": "[3, 5]", "new": "[3]"}),
        ("change_cell", {"cell": "load", "old": "[3]", "new": "[3, 5]"}),
        DELETE,
    )
    deleted, changed = shown.result.changes
    assert (changed.after, deleted.cell_id) == ("math.fsum(prices) / len(prices)", "plot")


async def test_new_cells_follow_each_other_below_the_nearest_that_is_left(page):
    calls = [("insert_cell", {"after": "load", "source": source}) for source in ("a = 1", "b = 2")]
    shown = await page.run(*calls)
    one, two = shown.result.changes
    assert f"Its id will be {one.cell_id}." in shown.result.tool_uses[0].result.text
    assert (one.after, two.after, one.number, two.number) == ("a = 1", "b = 2", 2, 2)
    written = page.decide("accepted", one, two)["changes"]
    assert written[0]["above"] == ["load", "intro"]
    assert written[1]["above"] == [one.cell_id, "load", "intro"]


async def test_cells_offered_in_one_turn_follow_each_other_as_listed(page):
    sources = [f"{name} = 1" for name in "abcd"]
    turn = [call("insert_cell", {"after": "top", "source": source}) for source in sources]
    turn += [call("change_cell", {"cell": "load", "old": old, "new": "7"}) for old in ("3", "5")]
    provider = ScriptedProvider([turn, [text("Done.")]])
    handle = Agent(provider, tools=notebook_tools(page.session)).start("Go on.")
    shown = page.show(handle, "hero-1")
    shown.announce_ready(await handle, None)
    *inserted, changed = shown.result.changes
    assert [(change.after, change.place) for change in inserted] == [*zip(sources, range(4), strict=True)]
    assert [len(row["above"]) for row in page.decide("accepted", *inserted)["changes"]] == [0, 1, 2, 3]
    assert changed.after.startswith("prices = [7, 7]")


@pytest.mark.parametrize(
    ("name", "args", "why"),
    [
        ("change_cell", {"cell": OWN, "old": "Fix", "new": "Break"}, "cell of this run"),
        ("delete_cell", {"cell": OWN}, "cell of this run"),
        ("change_cell", {"cell": "4", "old": "sum", "new": "max"}, "Cell 4 has the id mean."),
        ("change_cell", {"cell": "other-notebook", "old": "a", "new": "b"}, "no cell with the id"),
        (
            "change_cell",
            {"cell": "mean", "old": "min", "new": "max"},
            "The cell now:\\n```\\nsum(prices) / rate",
        ),
        ("change_cell", {"cell": "mean", "old": "sum", "new": "sum"}, "changes nothing"),
        ("change_cell", {"cell": "mean", "old": "", "new": "x"}, "nothing to replace"),
        ("change_cell", {"cell": "mean", "old": "sum", "new": "'•••'"}, "has a secret in it, or •••"),
        ("insert_cell", {"source": "api_key = 'sk-ant-api03-abcdefghij0123456789'"}, "has a secret in it"),
        ("insert_cell", {"source": "x" * 100_001}, "at most 100,000 are allowed"),
        ("insert_cell", {"after": "gone", "source": "1"}, "no cell with the id"),
        ("delete_cell", {"cell": ""}, "no cell with the id"),
    ],
)
async def test_a_change_that_must_not_be_offered_is_refused(page, name, args, why):
    page.cells += [{"cell_type": "code", "source": "without_id()", "outputs": []}]
    shown = await page.run((name, args))
    assert why in shown.result.tool_uses[0].result.text
    assert shown.result.changes == ()
    assert outputs_of(shown) == []


async def test_an_empty_cell_can_be_filled_and_one_that_the_page_cut_cannot_be_changed(page):
    page.cells += [code("empty", " \n"), {**code("long", "x = 1"), "cut": True}]
    shown = await page.run(
        ("change_cell", {"cell": "empty", "old": "", "new": "x = 2"}),
        ("change_cell", {"cell": "long", "old": "1", "new": "2"}),
    )
    (change,) = shown.result.changes
    assert (change.cell_id, change.after) == ("empty", "x = 2")
    assert "too long" in shown.result.tool_uses[1].result.text


async def test_a_secret_of_the_cell_is_masked_in_the_run_and_written_as_it_is(page, secret):
    page.cells.append(code("login", "login('tiger-lily-42')\nprint(1)"))
    shown = await page.run(("change_cell", {"cell": "login", "old": "print(1)", "new": "print(2)"}))
    (change,) = shown.result.changes
    assert change.after == "login('•••')\nprint(2)"
    assert secret not in repr([*shown.result.events]) + shown.result.to_markdown()
    answer = page.decide("accepted", change)
    assert answer["changes"][0]["after"] == "login('tiger-lily-42')\nprint(2)"
    assert answer["made"] == {"run": shown.id, "model": shown.result.model}


async def test_a_fix_is_offered_like_any_change_and_masked_for_the_review(page, secret):
    source = f"login('{secret}')\nprint(totl)"
    answer = "The name was misspelt.\n```python\nlogin(key)\nprint(total)\n```"
    failure = FailedCell(number=3, source=source, cell_id="mean", error="", message="", line=2)
    shown = await page.run(answer=answer, failure=failure)
    fix = page.sent[-1]["fix"]
    assert (fix["cell_id"], fix["before"]) == ("mean", "login('•••')\nprint(totl)")
    change = CellChange(**fix)
    assert change.title == "The failed cell"
    assert page.decide("refused", change)["ok"]
    shown.announce_ready(shown.result, None)
    assert "The failed cell has already been refused." in page.decide("accepted", change)["error"]
    assert page.decide("open", change)["ok"]
    written = page.decide("accepted", change)
    assert written["changes"][0]["before"] == source
    assert written["made"]["run"] == shown.id


@pytest.mark.parametrize(
    "answer",
    ["No code.", "```\nprint(totl)\n```", "```\nlogin('•••')\n```", "```js\nlet a\n```", "```\n\n```"],
)
async def test_an_answer_without_a_new_cell_offers_no_fix(page, answer):
    failure = FailedCell(number=3, source="print(totl)", cell_id="mean", error="", message="", line=1)
    await page.run(answer=answer, failure=failure)
    assert page.sent[-1]["fix"] is None


async def test_the_first_decision_of_any_window_counts_and_its_window_can_take_it_back(page):
    shown = await page.run(DIVIDE, DELETE)
    deleted, changed = shown.result.changes
    assert page.decide("refused", changed)["ok"]
    assert shown.stream.meta.decided[0].decision == "refused"
    assert page.sent[0]["meta"]["decided"] == [{"change": changed.id, "decision": "refused"}]
    assert (
        "Cell 4 has already been refused." in page.decide("accepted", deleted, changed, client="b")["error"]
    )
    assert "in another window" in page.decide("open", changed, client="b")["error"]
    assert page.decide("open", changed)["ok"]
    assert page.decide("accepted", deleted, changed, client="b")["ok"]
    assert [row.decision for row in shown.stream.meta.decided] == ["accepted", "accepted"]


async def test_a_loaded_run_shows_its_proposal_and_offers_nothing(page, tmp_path):
    shown = await page.run(DIVIDE)
    assert shown.stream.meta.reviewable
    loaded = load(shown.result.save(tmp_path / "hero.run.jsonl"))
    assert loaded.changes == shown.result.changes
    page.hub._runs.clear()
    key = page.hub.adopt(loaded)
    assert not page.hub._runs[key].stream.meta.reviewable
    page.hub._runs["hero-1"] = page.hub._runs.pop(key)
    page.hub._runs["hero-1"].stream.meta = replace(page.hub._runs["hero-1"].stream.meta, key="hero-1")
    assert "loaded or replayed" in page.decide("accepted", *loaded.changes)["error"]


async def test_every_form_of_the_run_shows_the_proposal(page):
    run = (await page.run(DIVIDE, TITLE)).result
    assert "New Markdown cell at the top\n\n```diff\n" in run.to_markdown()
    assert "+sum(prices) / len(prices)" in run.to_markdown()
    assert "<summary>Cell 4</summary>" in run.to_html()
    assert "No newline" not in run.to_html()
    bundle = run._repr_mimebundle_()
    assert "<summary>Cell 4</summary>" in bundle["text/html"]
    assert "  Cell 4" in bundle["text/plain"]


async def test_every_form_of_the_run_says_what_was_accepted_and_refused(page, tmp_path):
    shown = await page.run(DIVIDE, TITLE)
    title, changed = shown.result.changes
    page.decide("accepted", title)
    plain = shown.result._repr_mimebundle_()["text/plain"]
    assert "that it offers:\n  New Markdown cell at the top (accepted)\n  Cell 4" in plain
    for decision in ("refused", "open", "refused"):
        page.decide(decision, changed)
    path = shown.result.save(tmp_path / "hero.run.jsonl")
    replayed = await Agent(replay(path), tools=notebook_tools(page.session)).start("Do it.")
    for run in (shown.result, load(path), replayed):
        assert run.decided == {title.id: "accepted", changed.id: "refused"}
        assert "that it offered:\n\nNew Markdown cell at the top (accepted)\n\n```diff\n" in run.to_markdown()
        assert "<summary>Cell 4 (refused)</summary>" in run._repr_mimebundle_()["text/html"]
        assert [
            "New Markdown cell at the top (accepted)",
            "Cell 4 (refused)",
        ] in run.certificate.stated.values()
        file = run.to_replay(tmp_path / "hero.html", overwrite=True).read_text()
        assert f'{{"change": "{title.id}", "decision": "accepted"}}' in file
    page.hub._runs.clear()
    decided = page.hub._runs[page.hub.adopt(replayed)].stream.meta.decided
    assert [row.decision for row in decided] == ["accepted", "refused"]


@pytest.mark.parametrize(
    "wire", [None, [], "x", {}, {"id": 1}, {"id": "a", "action": "run", "cell_id": "b", "number": 1}]
)
async def test_a_damaged_change_in_a_file_is_not_one(page, wire):
    run: Run = (await page.run(DIVIDE)).result
    events = [
        replace(event, outputs=({CHANGE_TYPE: wire},)) if isinstance(event, ToolFinished) else event
        for event in run.events
    ]
    assert replace(run, events=EventList(events)).changes == ()


async def test_the_demo_offers_a_title_and_a_line_about_each_cell(page):
    page.cells[0] = {"id": "intro", "cell_type": "code", "source": "import math"}
    handle = Agent(DemoProvider(pace=0), tools=notebook_tools(page.session)).start("Explain each cell")
    page.show(handle, "hero-1")
    run = await handle
    assert [(change.number, change.after) for change in run.changes] == [
        (0, "# Overview"),
        (0, "Loads `math`."),
        (1, "Sets `prices`."),
        (2, "Calls `plot`."),
        (3, "Calls `sum`."),
    ]
    assert "I offer 5 new cells." in run.text


def test_an_old_change_can_no_longer_be_decided():
    with pytest.raises(Exception, match="no longer has that change"):
        Proposals().decide(["gone"], "accepted", "a")
