"""Solutions through the real engine: nothing of them is in any event, message, file or recording."""

from dataclasses import replace

import pytest

from agent_nb import Agent, replay, tool
from agent_nb.errors import ProviderError
from agent_nb.events import ThinkingDelta, ToolStarted
from agent_nb.lab.hints.hints import Hints
from agent_nb.lab.hints.ladder import Ladder
from agent_nb.lab.reading import read_lab
from agent_nb.providers.scripted import ScriptedProvider, call, fail, stall, text, think
from agent_nb.run import Run
from agent_nb.run.record import saved_form
from tests.support.wire import Call, End, Say, Tokens, WireServer, reply
from tests.support.wire.cases import CASE, CASES
from tests.unit.lab.hints.hostile import GIVEAWAYS, HOSTILE, SOLUTION, Answer

PROMPT = "Write a function for the factorial."


@pytest.fixture(scope="module")
def server():
    with WireServer.in_thread() as server:
        yield server


def hints_at(step: str, folder, avoid: tuple[str, ...] = ()) -> Hints:
    text = f'[lab]\nmode = "hints"\nhints = ["{step}"]\navoid = {list(avoid)}'
    rules = read_lab(folder / "lab.toml", text.encode())
    ladder = Ladder(folder / "hints.json", lab=rules.path, notebook="", steps=rules.hints)
    return Hints.of(rules, ladder, "hero", inputs=[], tries=[])


async def run_of(
    answer: Answer, server: WireServer, hints: Hints, *, case=CASE["anthropic_messages"], fragment=40
) -> Run:
    replies = iter([reply(*steps, Tokens(), fragment=fragment) for steps in answer.turns])
    server.otherwise = lambda request: next(replies)
    agent = Agent(case.provider(server))
    run = await hints.apply(agent.prepare(PROMPT)).start()
    await agent.close()
    assert run.reason == "end_turn", run.error
    return run


def squeezed(text: str) -> str:
    """Without spaces and escapes, so that a giveaway is found however it is written."""
    return "".join(text.replace("\\n", "\n").replace("\\r", "\n").replace('\\"', '"').split())


def given_away(run: Run, giveaways: tuple[str, ...]) -> list[str]:
    saved = saved_form(run).decode()
    texts = (saved, "".join(run.text.split()), *(str(content) for content in run.files.values()))
    return [each for each in giveaways if any(squeezed(each) in squeezed(text) for text in texts)]


@pytest.mark.parametrize("name", HOSTILE)
async def test_nothing_of_a_solution_arrives(name, server, tmp_path):
    answer, hints = HOSTILE[name], hints_at("question", tmp_path)
    run = await run_of(answer, server, hints)
    assert not given_away(run, answer.giveaways)
    assert hints.allowance.held or "thinking" in name
    for sentence in hints.allowance.held:
        assert sentence.endswith("(`mode` in lab.toml)")
        assert sentence in saved_form(run).decode().replace('\\"', '"')


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_every_vendor_is_filtered_and_goes_on_after_a_refused_call(case, server, tmp_path):
    names = ("calls over several turns", "edits", "thinking", "a fence")
    thought = HOSTILE["thinking"].turns[0][0]
    turns = [
        (thought, *steps) for name in names for steps in HOSTILE[name].turns if isinstance(steps[-1], Call)
    ]
    turns.append(tuple(step for name in names[2:] for steps in HOSTILE[name].turns for step in steps))
    run = await run_of(Answer(tuple(turns)), server, hints_at("question", tmp_path), case=case)
    assert not given_away(run, GIVEAWAYS)
    assert not run.files
    assert len(run.tool_uses) == len(turns) - 1


@pytest.mark.parametrize("name", ["text over several turns", "calls over several turns", "edits", "a table"])
async def test_the_last_step_gives_three_lines_at_most(name, server, tmp_path):
    answer, hints = HOSTILE[name], hints_at("partial", tmp_path)
    run = await run_of(answer, server, hints)
    assert len(given_away(run, GIVEAWAYS)) < len(GIVEAWAYS)
    assert len(hints.allowance.given) <= 3


async def test_a_refused_call_tells_the_model_and_the_person(server, tmp_path):
    run = await run_of(HOSTILE["create_file"], server, hints_at("partial", tmp_path))
    sentence = "A file write was held back: this lab gives hints, not solutions. (`mode` in lab.toml)"
    (tool,) = run.tool_uses
    assert (tool.ok, tool.summary, tool.result.code) == (False, sentence, "DENIED")
    assert sentence in str(server.requests[-1].body["messages"][-1])


async def test_a_tool_that_runs_code_is_denied_and_one_that_reads_is_not(tmp_path):
    ran = []

    @tool
    def shell(command: str) -> str:
        """Runs a command."""
        ran.append(command)
        return "ran"

    @tool
    def look_up(word: str) -> str:
        """Looks up a word."""
        ran.append(word)
        return "found"

    turns = [[call("shell", {"command": "x"}), call("look_up", {"word": "y"})], [text("So?")]]
    agent = Agent(ScriptedProvider(turns), tools=[replace(shell, identical_only=True), look_up])
    run = await hints_at("partial", tmp_path).apply(agent.prepare(PROMPT)).start()
    assert [use.result.code for use in run.tool_uses] == ["DENIED", None]
    assert ran == ["y"]


async def test_a_cassette_records_what_the_person_saw_and_an_open_one_is_filtered(server, tmp_path):
    for name in ("a fence", "create_file", "edits", "thinking"):
        answer = HOSTILE[name]
        for hinted in (True, False):
            path = tmp_path / f"{name}-{hinted}.jsonl"
            replies = iter([reply(*steps, Tokens()) for steps in answer.turns])
            server.otherwise = lambda request, replies=replies: next(replies)
            agent = Agent(CASE["anthropic_messages"].provider(server)).recording(path)
            prepared = agent.prepare(PROMPT)
            recorded = await (hints_at("question", tmp_path).apply(prepared) if hinted else prepared).start()
            await agent.close()
            assert bool(given_away(recorded, answer.giveaways)) is not hinted
            assert (
                any(squeezed(each) in squeezed(path.read_text()) for each in answer.giveaways) is not hinted
            )
            played = Agent(replay(path)).prepare(PROMPT)
            again = await hints_at("question", tmp_path).apply(played).start()
            assert not given_away(again, answer.giveaways)
            assert again.reason == "end_turn"
            assert again.settings["replayed"]


async def test_thinking_is_replaced_by_one_sentence(server, tmp_path):
    run = await run_of(HOSTILE["thinking"], server, hints_at("partial", tmp_path))
    assert [event.text for event in run.events if isinstance(event, ThinkingDelta)] == [
        "The model's thinking is not shown: this lab gives hints, not solutions. (`mode` in lab.toml)"
    ]


async def test_nothing_arrives_of_turns_that_break_off(tmp_path):
    half = f"Look at the loop once more. Here:\n\n```\n{SOLUTION}"
    broken = ProviderError("Cut.", retryable=True, retry_after=0)
    call_half = call("create_file", '{"path": "a.py", "content": "' + SOLUTION.replace("\n", "\\n"))
    agent = Agent(ScriptedProvider([[text(half), fail(broken)], [text(half), call_half, stall()]]))
    handle = hints_at("question", tmp_path).apply(agent.prepare(PROMPT)).start()
    async for event in handle:
        if isinstance(event, ToolStarted):
            break
    handle.stop()
    run = await handle
    assert run.reason == "stopped"
    assert run.text.startswith("Look at the loop once more. ")
    assert not run.files
    assert not given_away(run, GIVEAWAYS)


async def test_the_explanation_of_a_refusal_is_filtered(server, tmp_path):
    server.otherwise = lambda request: reply(End("refusal", f"```\n{SOLUTION}```\n"), Tokens())
    agent = Agent(CASE["anthropic_messages"].provider(server))
    run = await hints_at("question", tmp_path).apply(agent.prepare(PROMPT)).start()
    await agent.close()
    assert run.reason == "refusal"
    assert "held back" in run.error
    assert not given_away(run, GIVEAWAYS)


async def test_what_is_held_back_is_charged_in_a_run_that_is_stopped(tmp_path):
    script = [think("All of it. " * 4_000, fragment=100), stall()]
    agent = Agent(ScriptedProvider([script]))
    handle = hints_at("question", tmp_path).apply(agent.prepare(PROMPT)).start()
    async for event in handle:
        if isinstance(event, ThinkingDelta):
            break
    handle.stop()
    run = await handle
    assert run.usage.output > 10_000


async def test_prose_and_vendor_data_pass_unchanged(server, tmp_path):
    text = "What is the smallest input?\n\nLook at `range()` and think. Then run it again.\n"
    run = await run_of(Answer(((Say(text),),)), server, hints_at("question", tmp_path))
    assert run.text == text
    assert run.messages[-1].vendor["anthropic"]


async def test_a_word_of_the_avoid_list_holds_back_its_sentence(server, tmp_path):
    hints = hints_at("partial", tmp_path, avoid=("recursion",))
    answer = Answer(((Say("Look at it again. You could use recursion here. What is small?"),),))
    run = await run_of(answer, server, hints)
    assert "recursion" not in saved_form(run).decode().split('"tools"')[0].replace(run.system, "")
    assert run.text.startswith("Look at it again. ")
    assert run.text.endswith("What is small?")
    assert "gives away what this lab asks for. (`avoid` in lab.toml)" in run.text
    call = Call("create_file", {"path": "useRecursion.py", "content": "x = 1"})
    refused = await run_of(Answer(((call,), (Say("So?"),))), server, hints)
    assert not refused.files
    assert "useRecursion" not in str(list(refused.events))
