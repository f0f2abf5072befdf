"""The hub by itself: what a page's commands do to the runs they are about."""

import asyncio
import json
import sys

import numpy as np
import PIL.Image
import pytest

from agent_nb import Agent, model, tool
from agent_nb._base import secrets
from agent_nb.core.events import ApprovalRequested, ApprovalResolved
from agent_nb.notebook.live.hub import BUNDLE
from agent_nb.providers.scripted import ScriptedProvider, call, stall, text
from tests.support.scripts import of, run_script, write
from tests.unit.notebook.live.conftest import open_question, questions


@tool(approval="ask")
def harmless() -> str:
    """Does nothing."""
    return "nothing"


@tool(approval="ask")
def dangerous() -> str:
    """Does much."""
    return "much"


async def test_always_is_for_the_tool_that_was_asked_about(desk):
    first = ScriptedProvider([[call("harmless", id="call_0")], [text("Done.")]], name="scripted:first")
    second = ScriptedProvider(
        [[call("dangerous", id="call_0")], [call("dangerous", id="call_1")], [text("Done.")]],
        name="scripted:second",
    )
    race = Agent(first, tools=[harmless, dangerous]).start_variants("Do it.", models=[first, second])
    shown = desk.show(race, "hero-1")
    await questions(shown, 2)
    assert desk.command("approve", key="hero-1", variant=0, call_id="call_0", scope="always")["ok"]
    assert desk.command("deny", key="hero-1", variant=1, call_id="call_0")["ok"]
    await questions(shown, 1)
    assert desk.command("deny", key="hero-1", variant=1, call_id="call_1")["ok"]
    run = await race
    assert [use.result.code for use in run.variants[1].tool_uses] == ["DENIED", "DENIED"]


@tool(approval="ask", identical_only=True)
def python(code: str, lines: int = 1) -> str:
    """Runs code."""
    return f"ran {code}"


async def test_an_edited_call_is_checked_at_the_field_and_then_run(desk):
    handle, shown, asked = await desk.ask([call("python", {"code": "a = 1"})], tools=[python])
    assert (asked.schema, asked.identical_only) == (python.spec.schema, True)
    about = {"key": "hero-1", "call_id": asked.call_id}
    refused = desk.command("approve", **about, args={"code": 3, "lines": "x", "more": 1})
    assert refused["ok"] is False
    assert refused["fields"] == {
        "code": "It must be string, not an integer.",
        "lines": "It must be integer, not a string.",
        "more": "There is no such argument.",
    }
    assert refused["error"] == "`code`: It must be string, not an integer."
    unread = desk.command("approve", **about, args="a = 2")
    assert unread["error"] == "That message is not a command: `args` is 'a = 2', not an object."
    assert len(shown.questions.open) == 1
    assert desk.command("approve", **about, args={"code": "a = 2"}, note="Two is better.")["ok"]
    run = await handle
    (use,) = run.tool_uses
    assert use.call.arguments == '{"code": "a = 1"}', "the vendor gets what its model wrote"
    assert use.result.text == (
        'ran a = 2\n\nThe user changed `code` from "a = 1" to "a = 2"; do not repeat the original call.'
        "\nThe user approved this and says: Two is better."
    )
    (resolved,) = of(run, ApprovalResolved)
    assert resolved.by == "person"
    assert (resolved.proposed, resolved.executed) == ({"code": "a = 1"}, {"code": "a = 2"})


async def test_an_edit_keeps_the_secrets_that_the_page_does_not_see(desk, monkeypatch):
    secret = "My-0wn-service-key"
    monkeypatch.setattr(secrets, "registered", set())
    monkeypatch.setattr(secrets, "_cores", set())
    secrets.register(secret)
    args = {"code": f"connect('{secret}')", "lines": 1}
    handle, _, asked = await desk.ask([call("python", args)], tools=[python])
    about = {"key": "hero-1", "call_id": asked.call_id}
    desk.command("hello", key="hero-1")
    (seen, *_) = [
        event["args"]
        for message in desk.sent
        for event in message.get("events", ())
        if event["type"] == "approval_requested"
    ]
    assert secret not in seen["code"]
    half = desk.command("approve", **about, args={**seen, "code": seen["code"] + "\nstart()"})
    assert half["fields"] == {"code": "A masked value cannot be edited."}
    assert desk.command("approve", **about, args={**seen, "lines": 2})["ok"]
    await handle
    (resolved,) = of(handle, ApprovalResolved)
    assert resolved.executed == {**args, "lines": 2}


async def test_always_for_code_covers_the_same_code_alone(desk):
    turns = [[call("python", {"code": code})] for code in ("a", "a", "b")]
    handle, shown, first = await desk.ask(*turns, tools=[python])
    together = desk.command("approve", key="hero-1", call_id=first.call_id, scope="together")
    assert together["error"] == "Calls of `python` are approved one at a time."
    desk.command("approve", key="hero-1", call_id=first.call_id, scope="always")
    await asyncio.sleep(0)
    other = await open_question(shown, handle)
    assert other.args == {"code": "b"}
    desk.command("deny", key="hero-1", call_id=other.call_id)
    run = await handle
    decided = [(event.by, event.approved) for event in of(run, ApprovalResolved)]
    assert decided == [("person", True), ("always", True), ("person", False)]


async def test_eight_variants_ask_at_once(desk):
    """The same call of all can be approved together; "always" then covers what the others ask later."""
    models = [
        ScriptedProvider(
            [[call("add", {"n": n % 2}, id="c")], [call("add", {"n": 9}, id="d")], [text("Done.")]]
        )
        for n in range(8)
    ]

    @tool(approval="ask")
    def add(n: int) -> str:
        """Adds."""
        return f"added {n}"

    race = Agent(models[0], tools=[add]).start_variants("Do it.", models=models)
    shown = desk.show(race, "hero-1")
    await questions(shown, 8)
    about = {"key": "hero-1", "call_id": "c"}
    assert desk.command("approve", **about, variant=2, scope="together", args={"n": 5})["ok"]
    for _ in range(30_000):
        if len(of(race, ApprovalRequested)) == 12:
            break
        await asyncio.sleep(0.01)
    assert desk.command("deny", **about, variant=1)["ok"]
    assert desk.command("approve", **about, variant=3, scope="always")["ok"]
    run = await race
    first = [variant.tool_uses[0].result.text.partition("\n")[0] for variant in run.variants]
    assert first[0::2] == ["added 5"] * 4
    assert first[3::2] == ["added 1"] * 3
    assert run.variants[1].tool_uses[0].result.code == "DENIED"
    assert {variant.reason for variant in run.variants} == {"end_turn"}
    assert {variant.tool_uses[1].result.text for variant in run.variants} == {"added 9"}


async def test_a_run_that_has_not_begun_answers_hello(desk):
    picture = PIL.Image.fromarray(np.zeros((900, 900, 3), dtype="uint8"))
    handle = Agent(ScriptedProvider([[text("Done.")]])).start("Look.", images=[picture])
    desk.show(handle, "hero-1")
    assert not handle.events
    answer = desk.command("hello", key="hero-1")
    assert answer["ok"]
    assert answer["run_id"] == handle.id
    assert not [message for message in desk.sent if message is not answer], "there is nothing to tell yet"
    await handle


async def test_a_window_that_was_loaded_again_gets_its_runs_under_way(desk):
    handle = Agent(ScriptedProvider([[stall()]])).start("go")
    desk.show(handle, "k").cell_id = "cell-1"
    (lost,) = desk.command("under_way")["runs"]
    assert (lost["run_id"], lost["cell_id"]) == (handle.id, "cell-1")
    assert f'data-anb-id="{handle.id}"' in lost["data"]["text/html"]
    assert desk.command("under_way", client="second")["runs"] == []
    handle.stop()
    await handle
    assert desk.command("under_way")["runs"] == []


async def test_the_first_answer_of_any_window_wins(desk):
    handle, _, _ = await desk.ask([call("dangerous", id="c")], tools=[dangerous])
    about = {"key": "hero-1", "variant": 0, "call_id": "c"}
    assert desk.command("approve", **about, client="window-2")["ok"]
    assert "no longer open" in desk.command("deny", **about)["error"]
    done = await handle
    assert done.tool_uses[0].result.text == "much"
    assert "window-2" not in json.dumps(desk.sent), "windows do not learn each other's word"


async def test_one_window_writes_the_result_into_the_notebook(desk):
    run = desk.show(Agent(ScriptedProvider([[text("Done.")]])).start("Go."), "k")
    run.announce_ready(await run.handle, None)
    assert desk.command("result", key="k")["ok"]
    assert "Another window" in desk.command("result", key="k", client="second")["error"]
    assert desk.command("result", key="k")["ok"], "it may have been loaded again"


async def test_what_a_page_logs_has_numbers_that_hold_in_the_variable(desk):
    handle = Agent(ScriptedProvider([[text("Done.")]])).start("Go")
    desk.show(handle, "hero-1")
    run = await handle
    entries = [{"level": "log", "text": "hello"}, "nonsense", {"level": "error", "text": "boom", "line": 3}]
    about = {"key": "hero-1", "variant": 0}
    assert desk.command("preview_report", **about, entries=entries)["numbers"] == [1, 2]
    assert desk.command("preview_report", **about, entries=entries[2:])["numbers"] == [2]
    assert desk.command("preview_report", **about, entries="nonsense")["numbers"] == []
    assert run.console[2].text == "boom"


@pytest.mark.skipif(not BUNDLE.exists(), reason="needs the built page: `make build`")
async def test_the_page_loads_the_code_that_looks_at_pages(desk):
    handle = Agent(ScriptedProvider([[text("Done.")]])).start("A page")
    desk.show(handle, "hero-1")
    assert "export{" in desk.command("check_code", key="hero-1")["code"]
    await handle


async def test_the_page_gets_the_suggestions_that_the_demo_model_makes_in_its_answers(desk):
    run = await Agent(model("demo:", pace=0)).start_variants("A page", variants=2)
    suggested = desk.command("hello", key=desk.hub.adopt(run))["meta"]["suggestions"]
    assert [len(prompts) for prompts in suggested] == [3, 3]
    for variant, prompts in zip(run.variants, suggested, strict=True):
        assert [prompt for prompt in prompts if f"“{prompt}”" in variant.text] == prompts
    board = await Agent(model("demo:", pace=0)).run("A dashboard of savings")
    [prompts] = desk.command("hello", key=desk.hub.adopt(board))["meta"]["suggestions"]
    assert all(f"“{prompt}”" in board.text and "add" not in prompt for prompt in prompts)
    other = await run_script([text("Continue with “more”.")])
    assert desk.command("hello", key=desk.hub.adopt(other))["meta"]["suggestions"] == []


async def test_notes_are_sent_when_a_run_is_displayed_with_them(desk):
    run = await run_script([write("index.html")], [text("Done.")])
    key = desk.hub.adopt(run)
    assert desk.command("hello", key=key)["meta"]["annotations"] == []
    noted = run.annotate("turn 2", "Look: sk-ant-api03-" + "x9-Y" * 8)
    assert desk.hub.adopt(noted) == key
    (note,) = desk.sent[-1]["meta"]["annotations"]
    assert (note["at"], note["text"]) == ("turn 2", "Look: •••")
    sent = len(desk.sent)
    desk.hub.adopt(noted)
    assert len(desk.sent) == sent


async def test_an_element_is_found_in_the_page_of_a_finished_run(desk):
    page = write(content="<main>\n<h2>One</h2>\n<h2>Two</h2></main>")
    handle = Agent(ScriptedProvider([[page], [text("Done.")]])).start("Go.")
    live = desk.show(handle, "k")
    asked = {"run_id": live.id, "path": "html > body > main > h2:nth-of-type(2)", "variant": 0}
    assert (await desk.answer("element", **asked))["error"] == "The run has not ended."
    live.announce_ready(await handle, None)
    in_loop = set()
    sys.setprofile(lambda frame, event, argument: in_loop.add(frame.f_code.co_name))
    answer = await desk.answer("element", **asked)
    sys.setprofile(None)
    assert "_answer_later" in in_loop
    assert "find_element" not in in_loop, "a page may be long"
    assert answer["ok"]
    assert (answer["path"], answer["line"], answer["place"]) == ("h2:nth-of-type(2)", 3, "2 of 2")
    assert (answer["file"], answer["turn"]) == ("index.html", 1)
    assert "index.html" in answer["edit"]
    refused = await desk.answer("element", **asked, file="no.html")
    assert (refused["ok"], "no page 'no.html'" in refused["error"]) == (False, True)
