"""`run_python` allowed for a run: what that covers, what it does not, and how it is taken back."""

import asyncio
import json
from dataclasses import replace

import pytest

from agent_nb import Agent, ConfigError, tool
from agent_nb.core.events import ApprovalRequested, ApprovalResolved
from agent_nb.engine.approval import ApprovalRules
from agent_nb.notebook.kernel_tools.python import run_python as real_run_python
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.scripts import of, run_script
from tests.support.shells import start_shell
from tests.support.wire import Say, WireServer, reply
from tests.support.wire.cases import CASE
from tests.unit.notebook.live.conftest import questions


@tool(approval="ask", identical_only=True)
def run_python(code: str) -> str:
    """Runs code."""
    return f"ran {code}"


PYTHON = replace(run_python, packaged=True, allows_whole_run=True)
"""Like the one of the notebook."""
CODE = [[call("run_python", {"code": f"step({number})"})] for number in range(4)]


def deciders(run) -> list[str]:
    return [event.by for event in of(run, ApprovalResolved)]


async def question_after(before, shown, handle):
    """The next open question."""
    for _ in range(30_000):
        asked = of(handle, ApprovalRequested)[-1]
        if asked.call_id != before.call_id and len(shown.questions.open) == 1:
            return asked
        await asyncio.sleep(0.01)
    pytest.fail("nothing was asked")


async def test_a_yes_for_the_run_covers_its_later_code_and_every_call_is_shown(desk):
    handle, shown, asked = await desk.ask(*CODE, tools=[PYTHON])
    assert asked.allows_whole_run
    assert desk.command("approve", key="hero-1", call_id=asked.call_id, scope="run")["ok"]
    assert shown.stream.meta.running_code == (0,)
    run = await handle
    assert deciders(run) == ["run"] * 4
    assert [event.args["code"] for event in of(run, ApprovalRequested)] == [f"step({n})" for n in range(4)]


async def test_one_press_takes_it_back(desk):
    @tool(approval="ask")
    def pause() -> str:
        """Waits for the user."""
        return "ok"

    turns = [*CODE[:2], [call("pause")], *CODE[2:]]
    handle, shown, asked = await desk.ask(*turns, tools=[PYTHON, pause])
    desk.command("approve", key="hero-1", call_id=asked.call_id, scope="run")
    paused = asked = await question_after(asked, shown, handle)
    assert paused.name == "pause", "another tool asks all the same"
    assert desk.command("ask_again", key="hero-1", variant=0)["ok"]
    assert shown.stream.meta.running_code == ()
    assert {"kind": "running_code", "run_id": handle.id, "variants": []} in desk.sent
    desk.command("approve", key="hero-1", call_id=paused.call_id)
    for _ in range(2):
        asked = await question_after(asked, shown, handle)
        assert asked.name == "run_python"
        desk.command("approve", key="hero-1", call_id=asked.call_id)
    assert deciders(await handle) == ["run", "run", "person", "person", "person"]


async def test_another_variant_asks(desk):
    models = [ScriptedProvider([*CODE[:2], [text("Done.")]], name=f"scripted:{name}") for name in "ab"]
    race = Agent(models[0], tools=[PYTHON]).start_variants("go", models=models)
    shown = desk.show(race, "hero-1")
    await questions(shown, 2)
    first = of(race, ApprovalRequested)[0]
    desk.command("approve", key="hero-1", variant=first.variant, call_id=first.call_id, scope="run")
    await questions(shown, 1)
    assert shown.stream.meta.running_code == (first.variant,)
    race.stop()
    await race


@pytest.mark.parametrize("asking", [run_python, replace(run_python, origin="mcp:box/run_python")])
async def test_no_other_tool_can_be_allowed_for_a_run(desk, asking):
    """Neither a tool of the user with that name, nor one of a server."""
    handle, _, asked = await desk.ask(CODE[0], tools=[asking])
    assert not asked.allows_whole_run
    answer = desk.command("approve", key="hero-1", call_id=asked.call_id, scope="run")
    assert answer["error"] == "`run_python` cannot be allowed for the whole run."
    desk.command("deny", key="hero-1", call_id=asked.call_id)
    await handle


async def test_a_stricter_rule_forbids_it(desk):
    rules = ApprovalRules().at_least("ask")
    handle, _, asked = await desk.ask(CODE[0], tools=[PYTHON], approve=rules)
    assert not asked.allows_whole_run
    handle.let_code_run(0, allowed=True)
    assert handle.running_code == (), "the engine holds the rule, whatever a page says"
    desk.command("deny", key="hero-1", call_id=asked.call_id)
    await handle


async def test_the_rule_run_asks_nobody_and_shows_every_call():
    run = await run_script(*CODE, [text("Done.")], tools=[PYTHON], approve={"run_python": "run"})
    assert [use.result.text for use in run.tool_uses] == [f"ran step({number})" for number in range(4)]
    assert deciders(run) == ["run"] * 4
    assert run.settings["approve"] == "run_python=run"


async def test_a_call_that_the_model_wrote_as_text_asks_under_the_rule_run():
    async with WireServer() as server:
        written = {"name": "run_python", "arguments": {"code": "step(0)"}}
        server.plan(reply(Say(json.dumps(written))), reply(Say("Done.")))
        run = await Agent(CASE["chat"].provider(server), tools=[PYTHON], approve={"run_python": "run"}).run(
            "go"
        )
    assert deciders(run) == ["nobody"]
    assert not any(event.allows_whole_run for event in of(run, ApprovalRequested))


@pytest.mark.parametrize("approve", ["run", {"run_*": "run"}, {"other": "run"}])
def test_the_rule_run_is_for_code_alone(approve):
    other = replace(run_python, spec=replace(run_python.spec, name="other"))
    with pytest.raises(
        ConfigError, match=r"'run' is only for tools that run code\. Use `run_python=run` or 'auto'"
    ):
        Agent(ScriptedProvider([]), tools=[PYTHON, other], approve=approve)


@pytest.mark.parametrize(
    ("rule", "mode", "stricter"), [("auto", "run", "run"), ("run", "ask", "ask"), ("run", "auto", "run")]
)
def test_run_is_stricter_than_auto_and_looser_than_ask(rule, mode, stricter):
    assert ApprovalRules(by_name={"run_python": rule}).at_least(mode).by_name == {"run_python": stricter}


async def test_edited_code_that_does_not_compile_stays_on_the_card(desk, tmp_path):
    with start_shell(tmp_path) as shell:
        python = real_run_python(shell.ipython)
        handle, shown, asked = await desk.ask(CODE[0], tools=[python])
        about = {"key": "hero-1", "call_id": asked.call_id}
        refused = desk.command("approve", **about, args={"code": "a = 1\nif a\n    b = 2"})
        assert refused["fields"] == {"code": "Line 2: expected ':'."}
        assert len(shown.questions.open) == 1
        for code in ("await x()", "%time 1", "!ls", "%%bash\nif then", "a = 1"):
            assert python.problems({"code": code}) == {}
        assert python.problems({"code": "a\0b"})["code"]
        desk.command("deny", **about)
        await handle


async def test_the_code_of_a_finished_run_is_given_as_cells(desk):
    @tool
    def run_python(code: str) -> str:
        """Runs code."""
        return "2"

    script = [[text("I add."), call("run_python", {"code": "1 + 1\n"})], [text("Two.")]]
    handle = Agent(ScriptedProvider(script), tools=[run_python]).start("Go.")
    live = desk.show(handle, "k")
    assert desk.command("cells", run_id=live.id)["error"] == "The run has not ended."
    live.announce_ready(await handle, None)
    answer = desk.command("cells", run_id=live.id)
    assert [(cell["kind"], cell["source"]) for cell in answer["cells"]] == [
        ("markdown", "I add."),
        ("code", "1 + 1"),
        ("markdown", "Two."),
    ]


async def test_a_run_whose_code_never_ran_says_so(desk):
    script = [[call("run_python", {"code": "1 + 1"})], [text("Two.")]]
    handle = Agent(ScriptedProvider(script), tools=[PYTHON], approve="deny").start("Go.")
    live = desk.show(handle, "hero")
    live.announce_ready(await handle, None)
    for command in ("cells", "verify"):
        assert "has executed no code that could be kept" in desk.command(command, run_id=live.id)["error"]


async def test_a_command_that_fails_is_answered_whatever_was_raised(desk, tmp_path, caplog):
    with start_shell(tmp_path) as shell:
        (tmp_path / "hero.ipynb").write_text("mine")
        python = real_run_python(shell.ipython)
        script = ScriptedProvider([[call("run_python", {"code": "6 * 7"})], [text("Done.")]])
        handle = Agent(script, tools=[python], approve="auto").start("Go.")
        live = desk.show(handle, "k")
        live.announce_ready(await handle, None)
        kept = desk.command("keep", run_id=live.id)
        assert (kept["ok"], "hero.ipynb was not written: Its content" in kept["error"]) == (False, True)
    answer = await desk.answer("verify", run_id=live.id)  # there is no shell any more
    assert (answer["ok"], answer["error"]) == (
        False,
        "This failed in the kernel (AttributeError); its log has the details.",
    )
    assert "a command of the page failed" in caplog.text


async def test_a_yes_for_the_run_is_not_for_the_next_run_of_the_same_cell(desk):
    for number in (1, 2):
        handle, shown, asked = await desk.ask(*CODE[:2], tools=[PYTHON])
        assert shown.stream.meta.running_code == ()
        if number == 1:
            before = {"run_id": shown.id, "call_id": asked.call_id, "scope": "run"}
            assert desk.command("approve", **before)["ok"]
            await handle
    again = [
        desk.command("approve", **before),
        desk.command("approve", **{**before, "key": "hero-1", "call_id": "x"}),
    ]
    assert [answer["ok"] for answer in again] == [False, False]
    assert desk.command("deny", key="hero-1", call_id=asked.call_id)["ok"]
    asked = await question_after(asked, shown, handle)
    assert desk.command("deny", key="hero-1", call_id=asked.call_id)["ok"]
    assert deciders(await handle) == ["person", "person"]
