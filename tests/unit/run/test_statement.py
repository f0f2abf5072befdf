"""The statement on the use of models: what runs know, and a blank for each thing they do not."""

import hashlib
import re
from dataclasses import replace

from agent_nb import Agent, Answer, Run, tool
from agent_nb.providers import model
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.run.manifest import statement_of

KEY = "sk-ant-api03-" + "a" * 40
DATES = "2026-11-16T10:00:00+00:00", "2026-11-16T10:00:07+00:00"


async def paid() -> Run:
    @tool(approval="ask")
    def pay(amount: int) -> str:
        return "paid"

    turns = [[call("pay", {"amount": 1}), call("pay", {"amount": 9})], [text("Done | `for you`.")]]
    provider = ScriptedProvider(turns)

    def decide(name, args):
        return Answer(args["amount"] < 5, args={"amount": 2} if args["amount"] < 5 else None)

    agent = Agent(provider, tools=[pay], approve=decide)
    run = await agent.run(f"Pay with {KEY}", files={"a.txt": "a", "b.txt": "b"})
    return replace(
        run, name="bill", settings={**run.settings, "started": DATES[0], "effort": "low"}, ended_at=DATES[1]
    )


async def test_it_says_what_the_run_knows() -> None:
    run = (await paid()).with_files({"a.txt": "b", "b.txt": None})
    facts = run.manifest
    assert (facts["prompt"], facts["edited_by_hand"]) == ("Pay with •••", ["a.txt", "b.txt"])
    assert (facts["started"], facts["ended"]) == DATES
    assert [(one["approved"], one["edited"]) for one in facts["approvals"]] == [(True, True), (False, False)]
    said = run.statement()
    row = next(line for line in said.splitlines() if line.startswith("| bill |"))
    assert row.split(" | ")[1:] == [
        run.model,
        run.manifest["model_returned"],
        "2026-11-16 10:00:00",
        "2026-11-16 10:00:07",
        "end_turn",
        "effort low |",
    ]
    assert f"- File `a.txt`, SHA-256 `{hashlib.sha256(b'b').hexdigest()}`." in said
    assert "- Edited by hand after the run: `a.txt`, `b.txt`." in said
    assert "- Tool calls approved: 1, 1 of them edited; denied: 1 (decided by: " in said
    assert "Done | `for you`." in said


async def test_it_names_the_blanks_and_holds_no_secret() -> None:
    said = replace(await paid(), settings={}, ended_at="").statement()
    assert KEY not in said
    assert re.findall(r"\[Write: ([^\]]*)\]", said) == [
        "who used the models, for what, and who answers for the content.",
        "the run has no date",
        "the run has no date",
        "what it is used for.",
        "how a person checked it.",
    ]


async def test_it_says_that_code_ran_unasked_and_which_numbers_nothing_computed() -> None:
    for rule, said in (
        ("never", "Code that ran without asking: 2 calls."),
        ("ask", "Tool calls approved: 2"),
    ):

        @tool(approval=rule)
        def run_code(code: str) -> str:
            return "nothing"

        calls = [call("run_code", {"code": "f()"}), call("run_code", {"code": "g()"})]
        agent = Agent(
            ScriptedProvider([calls, [text("It is 47.1.")]]), tools=[run_code], approve=lambda *_: True
        )
        run = await agent.run("How many?")
        run = replace(run, settings={**run.settings, "has_data": True})
        assert (f"- {said}" in run.statement(), "without asking" in run.statement()) == (
            True,
            rule == "never",
        )
        assert "- Not computed: 47.1." in run.statement()
        assert run.manifest["not_computed"] == ["47.1"]


async def test_variants_are_told_one_by_one_and_the_demo_is_no_language_model() -> None:
    race = await Agent(model("demo:", pace=0)).start_variants("A form", variants=2)
    said = statement_of([replace(race, name="form")])
    for number in (1, 2):
        assert f"| form, variant {number} | demo:" in said
    assert said.count("no language model") == 2
    assert "has no date" not in said
