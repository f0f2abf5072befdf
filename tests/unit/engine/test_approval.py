"""Who approves a call: functions, rules by name, people with their own time, and hosts that are asked about."""

import asyncio
import json
import re
from dataclasses import replace

import pytest

from agent_nb import Agent, Answer, ConfigError, Limits, Run, ToolError, tool
from agent_nb.core.events import ApprovalRequested, ApprovalResolved, ToolFinished, ToolRunning
from agent_nb.core.messages import Image
from agent_nb.engine.approval import ApprovalRules
from agent_nb.engine.start import VariantsHandle, start_variants
from agent_nb.providers.base import RealClock
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.drawings import png
from tests.support.scripts import of, run_script, write

THINKING = 100.0
LIMIT = 0.05


YES = Answer(True)
FETCHED = "is a private address"
"""The answer once a fetch was tried."""


@tool(approval="ask")
def shell(command: str) -> str:
    """Runs a command."""
    return f"ran {command}"


LIST = call("shell", {"command": "ls"})


async def run_with(approve):
    run = await Agent(ScriptedProvider([[LIST], [text("ok")]]), tools=[shell], approve=approve).run("go")
    (requested,), (resolved,) = of(run, ApprovalRequested), of(run, ApprovalResolved)
    assert requested.seq + 1 == resolved.seq, "nobody else could answer it"
    return run, resolved


async def test_a_function_may_change_the_call_and_add_a_note():
    async def change(asked, args):
        args["command"] = "rm"  # a copy: it changes nothing
        return Answer(True, "Slower.", {"command": "ls -l"})

    run, resolved = await run_with(change)
    assert run.tool_uses[0].result.text == (
        'ran ls -l\n\nAn approval function changed `command` from "ls" to "ls -l"; do not repeat the original call.'
        "\nAn approval function approved this and says: Slower."
    )
    assert (resolved.by, resolved.proposed, resolved.executed) == (
        "function",
        {"command": "ls"},
        {"command": "ls -l"},
    )


async def test_a_changed_call_that_fails_keeps_its_outputs():
    @tool(approval="ask")
    def draw(size: int) -> str:
        """Draws."""
        raise ToolError("Too large.", outputs=({"text/plain": "half of it"},))

    provider = ScriptedProvider([[call("draw", {"size": 1})], [text("ok")]])
    run = await Agent(provider, tools=[draw], approve=lambda *_: Answer(True, args={"size": 2})).run("go")
    (finished,) = of(run, ToolFinished)
    assert finished.outputs == ({"text/plain": "half of it"},)
    assert finished.hint == "", "what is meant for the model is not shown to the user"
    assert "do not repeat the original call" in run.tool_uses[0].result.text


async def test_a_function_may_deny_with_a_note():
    run, resolved = await run_with(lambda asked, args: Answer(False, "Use Python."))
    assert json.loads(run.tool_uses[0].result.text) == {
        "error": "It was not approved.",
        "code": "DENIED",
        "hint": "Use Python.",
    }
    assert (resolved.by, resolved.executed) == ("function", None)


def leave(*_: object) -> None:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("approve", "summary"),
    [
        (lambda asked, args: None, "The approval function returned a NoneType, not True, False or an Answer"),
        (lambda asked, args: "yes", "The approval function returned a str, not True, False or an Answer"),
        (lambda asked, args: Answer("yes"), "`approved` of an Answer cannot be a str."),
        (lambda asked, args: Answer(True, args={"command": 3}), "`command` must be string, not an integer."),
        (leave, "The approval function tried to exit with 3."),
        (lambda asked, args: args["nothing"], "The approval function failed: KeyError: 'nothing'"),
    ],
)
async def test_nonsense_denies_the_call_and_says_so(approve, summary):
    run, resolved = await run_with(approve)
    assert (run.reason, resolved.approved, resolved.by) == ("end_turn", False, "function")
    assert summary in of(run, ToolFinished)[0].summary
    assert summary in json.loads(run.tool_uses[0].result.text)["error"]
    assert not of(run, ToolRunning)


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


async def test_an_interrupt_in_a_function_denies_the_call_and_ends_the_run():
    run, resolved = await run_with(interrupt)
    assert run.reason == "interrupted"
    assert (resolved.approved, resolved.by) == (False, "stopped")
    assert [use.result.code for use in run.tool_uses] == ["STOPPED"]


async def run_hooked(place, hook):
    agent = Agent(ScriptedProvider([[write()], [text("ok")]]))
    getattr(agent, place)(hook)
    return await agent.run("go")


@pytest.mark.parametrize("place", ["before_tool", "after_tool", "on_event"])
async def test_hooks_that_exit_or_interrupt_end_no_loop(place):
    assert (await run_hooked(place, leave)).reason == "end_turn"
    assert (await run_hooked(place, interrupt)).reason == "interrupted"


async def test_an_interrupted_hook_keeps_the_result_of_its_call():
    run = await run_hooked("after_tool", interrupt)
    assert run.tool_uses[0].ok
    assert list(run.files) == ["index.html"]


def test_an_answer_checks_itself():
    for wrong in ({"note": None}, {"args": [1]}):
        with pytest.raises(ConfigError, match="of an Answer cannot be"):
            Answer(True, **wrong)


@pytest.mark.parametrize(("value", "ran"), [(True, True), (False, False), ("yes", False), (None, False)])
async def test_whoever_is_asked_may_give_back_plain_truth_but_no_nonsense(value, ran):
    async def ask(request):
        return value

    handle = Agent(ScriptedProvider([[LIST], [text("ok")]]), tools=[shell]).start("go")
    handle.approve_with(ask)
    run = await handle
    assert (run.reason, run.tool_uses[0].ok) == ("end_turn", ran)
    assert [event.approved for event in of(run, ApprovalResolved)] == [ran]


async def test_without_a_person_the_run_says_that_nobody_answered():
    assert [(await run_with(approve))[1].by for approve in ("ask", "deny")] == ["nobody", "policy"]


@tool
def get_weather(place: str) -> str:
    """Looks."""
    return f"sunny in {place}"


@tool(approval="ask")
def get_money(euros: int) -> str:
    """Takes."""
    return f"{euros} euros"


SERVED = replace(get_money, origin="mcp:bank/get_money")


TOOLS = [get_weather, get_money]


@pytest.mark.parametrize(
    ("rules", "weather", "money"),
    [
        ({}, None, "ask"),
        ({"get_weather": "ask"}, "ask", "ask"),
        ({"get_*": "auto"}, "auto", "auto"),
        ({"get_*": "deny", "get_m*": "ask", "get_money": "auto"}, "deny", "auto"),
        ({"get_money": "auto", "get_m*": "ask", "*": "deny"}, "deny", "auto"),
        ({"mcp:*": "deny"}, None, "ask"),
    ],
)
def test_the_most_specific_name_wins(rules, weather, money):
    found = ApprovalRules(by_name=rules)
    assert found.rule_by_name(get_weather) == weather
    assert found.covers(get_weather) is (weather is not None)
    assert found.rule(get_money) == money


@pytest.mark.parametrize("name", ["mcp:*", "mcp:bank", "mcp:bank/*", "mcp:b?nk/get_money"])
def test_tools_of_a_server_go_by_their_server(name):
    rules = ApprovalRules(by_name={name: "deny"})
    assert rules.rule(SERVED) == "deny"
    assert rules.rule_by_name(get_money) is None


@pytest.mark.parametrize(
    ("approve", "message"),
    [
        (
            {"get_wether": "ask"},
            "`approve` names 'get_wether', which matches no tool of this agent. Its tools: get_weather, get_money.",
        ),
        (
            {"get_money": "maybe"},
            "`approve['get_money']` is 'ask', 'auto', 'deny' or a function, not 'maybe'.",
        ),
        ("maybe", "`approve` is 'ask', 'auto', 'deny' or a function, not 'maybe'."),
        (None, "'ask', 'auto', 'deny' or a function"),
        (True, "'ask', 'auto', 'deny' or a function"),
        ({3: "ask"}, "`approve` names 3, which matches no tool"),
    ],
)
def test_a_mistake_in_the_rules_names_the_remedy(approve, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        Agent(ScriptedProvider([]), tools=TOOLS, approve=approve)


async def test_a_rule_holds_for_a_tool_that_would_not_ask():
    turn = [call("get_weather", {"place": "Lyon"}), call("get_money", {"euros": 3})]
    approve = {
        "get_weather": lambda asked, args: args["place"] != "Lyon",
        "get_money": "auto",
        "mcp:*": "ask",
    }
    run = await run_script(turn, [text("ok")], tools=TOOLS, approve=approve)
    assert [use.result.code for use in run.tool_uses] == ["DENIED", None]
    assert [event.name for event in of(run, ApprovalRequested)] == ["get_weather"]
    assert run.settings["approve"] == "get_weather=function, get_money=auto, mcp:*=ask"


class SteppedClock(RealClock):
    """A wall clock that only a test moves on. The engine sets its real timer as for any wall clock."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:  # type: ignore[override]
        return self.time


def shell_tool(clock: SteppedClock, seconds: float = 0.0):
    @tool(approval="ask")
    async def shell(command: str) -> str:
        """Runs a command."""
        clock.time += seconds
        return f"ran {command}"

    return shell


async def run_asking(clock: SteppedClock, agent: Agent) -> Run:
    # So long that a timer that does not stop would end the run. All answers come in the same step of the loop: no
    # call runs while the question about another one is open.
    thinking = asyncio.create_task(asyncio.sleep(2 * LIMIT))

    async def think_it_over(request: ApprovalRequested) -> Answer:
        clock.time += THINKING
        await asyncio.shield(thinking)
        return Answer(True)

    handle = agent.start("go")
    handle.approve_with(think_it_over)
    return await handle


def script(clock: SteppedClock, *turns) -> ScriptedProvider:
    return ScriptedProvider(list(turns), clock=clock)


async def test_a_run_does_not_time_out_while_a_person_thinks():
    clock = SteppedClock()
    provider = script(
        clock, [call("shell", {"command": "ls"}), call("shell", {"command": "pwd"})], [text("Done.")]
    )
    agent = Agent(provider, tools=[shell_tool(clock, 0.01)], limits=Limits(seconds=LIMIT))
    run = await run_asking(clock, agent)
    assert (run.reason, run.seconds) == ("end_turn", 0.02)
    assert {event.at for event in of(run, ApprovalRequested, ApprovalResolved)} == {0.0}
    assert max(event.seconds for event in of(run, ToolFinished)) <= 0.02


async def test_the_work_after_the_answer_counts():
    clock = SteppedClock()
    provider = script(clock, [call("shell", {"command": "ls"})], [text("Never sent.")])
    agent = Agent(provider, tools=[shell_tool(clock, 2 * LIMIT)], limits=Limits(seconds=LIMIT))
    run = await run_asking(clock, agent)
    assert run.reason == "max_seconds"
    assert [event.approved for event in of(run, ApprovalResolved)] == [True]


class Desk:
    """Eight variants that ask, and the questions that are open."""

    def __init__(self) -> None:
        self.open: dict[int, asyncio.Future[Answer]] = {}
        self.all_open = asyncio.Event()
        clock = SteppedClock()
        models = [script(clock, [call("shell", {"command": f"ls {n}"})], [text("Done.")]) for n in range(8)]
        self.race = Agent(models[0], tools=[shell_tool(clock)]).start_variants("go", models=models)
        self.race.approve_with(self.ask)

    async def ask(self, request: ApprovalRequested) -> Answer:
        self.open[request.variant] = asyncio.get_running_loop().create_future()
        if len(self.open) == 8:
            self.all_open.set()
        return await self.open[request.variant]


@pytest.mark.parametrize("reason", ["stopped", "interrupted"])
async def test_the_end_of_the_run_denies_every_open_question_and_says_so(reason):
    desk = Desk()
    await desk.all_open.wait()
    desk.race.stop(reason)
    run = await desk.race
    for variant in run.variants:
        (resolved,) = of(variant, ApprovalResolved)
        assert (variant.reason, resolved.approved, resolved.by) == (reason, False, "stopped")
        assert resolved.executed is None
        assert [event.summary for event in of(variant, ToolFinished)] == ["Stopped before it was answered."]
        assert variant.tool_uses[0].result.text == "Stopped before it was answered."


def save(*sources: str):
    return call(
        "save_assets", {"assets": [{"source": one, "path": f"{at}.png"} for at, one in enumerate(sources)]}
    )


async def run_saving(*turns, answer=YES, approve="ask") -> Run:
    async def ask(request: ApprovalRequested) -> Answer:
        await asyncio.sleep(0)
        return answer

    with ScriptedProvider([*map(list, turns), [text("ok")]]) as provider:
        handle = Agent(provider, approve=approve).start("go", images=[Image(png())])
        if answer is not None:
            handle.approve_with(ask)
        return await handle


def ends(run: Run) -> list[str]:
    return [event.summary for event in of(run, ToolFinished)]


def questions(run: Run) -> list[str]:
    return [event.title for event in of(run, ApprovalRequested)]


async def test_the_question_names_host_and_count():
    run = await run_saving(
        [save("https://127.0.0.1/a?secret", "https://127.0.0.1/b", "https://10.0.0.1:8443/c", "input:1")]
    )
    assert questions(run) == ["fetch 3 images: 2 from 127.0.0.1, 1 from 10.0.0.1:8443"]
    assert of(run, ApprovalRequested)[0].name == "save_assets from 127.0.0.1, 10.0.0.1:8443"
    assert list(run.files) == ["3.png"]


async def test_a_host_is_asked_about_once_in_a_run():
    one = save("https://127.0.0.1/a")
    run = await run_saving([one, one], [one], [save("https://10.0.0.1/a")])
    assert questions(run) == ["fetch an image from 127.0.0.1", "fetch an image from 10.0.0.1"]
    assert all(FETCHED in end for end in ends(run))
    assert len(ends(run)) == 4


@pytest.mark.parametrize(
    ("answer", "approve", "reason"),
    [
        (Answer(False), "ask", "You said no."),
        (None, "ask", "nobody is there to ask"),
        (Answer(True), "deny", "switched off"),
        (Answer(True), lambda asked, args: False, "It was not approved."),
    ],
)
async def test_without_a_yes_nothing_is_fetched(answer, approve, reason):
    run = await run_saving([save("https://127.0.0.1/a", "input:1")], answer=answer, approve=approve)
    end = of(run, ToolFinished)[0]
    assert end.code == "DENIED"
    assert end.summary.startswith("Nothing was fetched from 127.0.0.1: ")
    assert reason in end.summary
    assert "images that the user gave" in end.hint
    assert not run.files


async def test_the_word_of_the_person_is_the_hint():
    run = await run_saving([save("https://127.0.0.1/a")], answer=Answer(False, "draw one"))
    assert of(run, ToolFinished)[0].hint.startswith("draw one")


@pytest.mark.parametrize(("approve", "by"), [("auto", []), (lambda asked, args: True, ["function"])])
async def test_whoever_approves_everything_is_not_asked(approve, by):
    run = await run_saving([save("https://127.0.0.1/a")], answer=None, approve=approve)
    assert [event.by for event in run.events if isinstance(event, ApprovalResolved)] == by
    assert FETCHED in ends(run)[0]


async def test_what_is_here_needs_no_question():
    run = await run_saving([save("input:1", "data:image/png;base64,xx", "http://127.0.0.1/a")])
    assert questions(run) == []
    assert "0.png" in run.files


async def test_a_host_is_asked_about_once_for_all_variants():
    asked: list[ApprovalRequested] = []

    async def ask(request: ApprovalRequested) -> Answer:
        asked.append(request)
        await asyncio.sleep(0.01)  # so that the other variant gets there too
        return YES

    turns = [[save("https://127.0.0.1/a")], [text("ok")]]
    with ScriptedProvider(turns) as one, ScriptedProvider(turns) as other:
        prepared = [Agent(provider).prepare("go") for provider in (one, other)]
        race = VariantsHandle(start_variants(prepared))
        race.approve_with(ask)
        run = await race
    assert [request.title for request in asked] == ["fetch an image from 127.0.0.1"]
    assert all(FETCHED in end for variant in run.variants for end in ends(variant))
