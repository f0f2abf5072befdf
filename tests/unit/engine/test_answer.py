"""Runs whose answer has a type: they end with a checked value, or say what was wrong with it."""

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from agent_nb import Agent, Limits, Run, load, model, tool
from agent_nb.core.errors import CassetteError, ConfigError
from agent_nb.core.events import RunFinished
from agent_nb.features.answer.run import ANSWER_TRIES
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render import FORMS
from agent_nb.tools.answer import MAX_ANSWER
from tests.support.cassettes import play, record
from tests.support.scripts import run_script, write
from tests.support.wire import Call, Say, WireServer, reply
from tests.support.wire.cases import CASE, CASES, Case

FIT = "slope: float, p: float"
VALUE = {"slope": 0.42, "p": 0.01}


@dataclass
class Fit:
    slope: float
    p: float

    def __post_init__(self) -> None:
        if self.p > 1:
            raise ValueError("p is a probability")


def answer(value: object = None, **options):
    return call("final_answer", VALUE if value is None else value, **options)


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_every_vendor_is_given_the_tool_and_its_call_ends_the_run(server: WireServer, case: Case):
    server.plan(reply(Say("I fit a line."), Call("final_answer", VALUE)))
    run = await Agent(case.provider(server), answer=Fit).run("Fit a line.")
    assert (run.reason, run.answer, run.text) == ("end_turn", Fit(0.42, 0.01), "I fit a line.")
    assert "final_answer" in json.dumps(server.requests[0].body)
    server.plan(reply(Say("Yes.")))
    again = await Agent(case.provider(server)).run("Are you sure?", base=run)
    assert (again.reason, again.text, again.answer) == ("end_turn", "Yes.", None)


@pytest.mark.parametrize(
    "words",
    [
        'The slope:\n```json\n{"slope": 0.42, "p": 0.01}\n```',
        '```\n{"slope": 9}\n```\nNo:\n```json\n{"slope": 0.42, "p": 0.01}\n```\nThat is all.',
        '{"slope": 0.42, "p": 0.01}',
        '{"name": "final_answer", "arguments": {"slope": 0.42, "p": 0.01}}',
    ],
)
async def test_an_answer_written_as_json_is_one(server: WireServer, words: str):
    server.plan(reply(Say(words), fragment=5))
    run = await Agent(CASE["chat"].provider(server), answer=FIT).run("Fit. It prints 0.42 and 0.01.")
    assert (run.reason, run.answer) == ("end_turn", VALUE)


async def test_json_in_text_is_no_call_of_a_tool_of_that_name(server: WireServer):
    @tool
    def final_answer(slope: float, p: float) -> str:
        """The user's own."""
        raise AssertionError("it was called")

    server.plan(reply(Say('```json\n{"slope": 0.42, "p": 0.01}\n```')))
    run = await Agent(CASE["chat"].provider(server), tools=[final_answer]).run("Fit.")
    assert (run.reason, run.answer, run.tool_uses) == ("end_turn", None, ())


WRONG = [
    ({"slope": "steep"}, "`p`"),
    ({"slope": "steep", "p": 0.01}, "`slope` must be number"),
    ({"slope": 1, "p": 3}, "p is a probability"),
    ('{"slope": NaN, "p": 0.01}', "NaN is not a JSON value"),
    ('{"slope": 1e999, "p": 0.01}', "1e999 is not a JSON value"),
    ("{" * 20_000, "not valid JSON"),
]


@pytest.mark.parametrize(("value", "why"), WRONG)
async def test_a_wrong_answer_goes_back_twice_with_what_was_wrong(value, why):
    run = await run_script([answer(value)], [answer(value)], [answer()], answer=Fit)
    assert (run.reason, run.answer) == ("end_turn", Fit(0.42, 0.01))
    assert [why in use.result.text for use in run.tool_uses] == [True, True, False]
    failed = await run_script(*[[answer(value)]] * (ANSWER_TRIES + 1), answer=Fit)
    assert (failed.reason, failed.answer) == ("failed", None)
    assert failed.error.startswith("There is no answer of the type `slope: number, p: number`: ")
    assert why in failed.error


async def test_a_huge_answer_is_refused():
    huge = {"value": ["x" * 1_000] * 900}
    run = await run_script([answer(huge)], [answer({"value": ["a"]})], answer=list[str])
    assert run.answer == ["a"]
    assert f"at most {MAX_ANSWER:,}" in run.tool_uses[0].result.text


async def test_a_model_that_ends_without_an_answer_is_asked_for_it():
    run = await run_script([text("0.42")], [text("I said so.")], [answer()], answer=FIT)
    assert (run.reason, run.answer) == ("end_turn", VALUE)
    failed = await run_script(*[[text("0.42")]] * 3, answer=FIT)
    assert (failed.reason, failed.text) == ("failed", "0.42")
    assert failed.error.endswith("the model ended without one.")


@pytest.mark.parametrize(
    ("steps", "turns", "reason", "value"),
    [
        (1, [[answer()]], "end_turn", VALUE),
        (1, [[text("0.42")]], "max_steps", None),
        (2, [[write()], [answer()]], "end_turn", VALUE),
        (2, [[write()], [answer({"slope": 1})]], "max_steps", None),
        (2, [[text("0.42")], [answer()]], "end_turn", VALUE),
    ],
)
async def test_the_last_turn_can_give_the_answer(steps, turns, reason, value):
    run = await run_script(*turns, answer=FIT, limits=Limits(steps=steps))
    assert (run.reason, run.answer) == (reason, value)


async def test_a_saved_and_a_replayed_answer_is_plain_json(tmp_path):
    path = tmp_path / "fit.run.jsonl"
    run = await record(path, [answer()], answer=Fit)
    assert run.answer == Fit(0.42, 0.01)
    replayed = await play(path, answer=Fit)
    for again in (load(path), replayed):
        assert again.answer == again.manifest["answer"] == VALUE
    with pytest.raises(CassetteError, match=r"another answer .`slope: number, p: number` then, `text` now"):
        await play(path)
    text = path.read_text().replace('"type":"end"', '"type":"end","answer_type":{"kind":{"slope":"boom"}}')
    path.write_text(text)
    assert load(path).answer == VALUE


async def test_every_form_of_a_run_and_the_statement_show_the_answer():
    run = await run_script(
        [text("A line."), answer({"value": [{"city": "A<b>|c", "n": 1}] * 60})],
        answer="list[dict[str, str | int]]",
    )
    assert isinstance(run, Run)
    for form in FORMS:
        shown = form.render(run)
        assert "10 more rows" in shown
        assert "city" in shown
        assert "A<b>" not in shown or form.suffix == ".txt"
    assert run.certificate.typed == run.plain_answer
    assert run.manifest["settings"]["answer"]["type"] == "array"
    assert [event.answer for event in run.events.of(RunFinished)] == [run.answer]


async def test_fields_are_columns_of_a_batch():
    turns = [[answer({"slope": 1, "model": "a"})], [answer({"slope": 2, "model": "b"})]]
    with ScriptedProvider(turns) as provider:
        runs = await Agent(provider, answer="slope: float, model: str").map(["A", "B"], concurrency=1)
    assert [(row["slope"], row["answer_model"], row["prompt"]) for row in runs.rows()] == [
        (1, "a", "A"),
        (2, "b", "B"),
    ]
    assert "slope" in repr(runs)


async def test_a_worker_gives_back_a_value_of_the_type():
    with ThreadPoolExecutor(1) as threads:
        (run,) = await Agent(model("demo:", pace=0), answer=Fit).map(["A form"], executor=threads)
    assert isinstance(run.answer, Fit)
    assert isinstance(pickle.loads(pickle.dumps(run)).answer, dict)


async def test_numbers_that_nothing_computed_are_told():
    @tool
    def run_python(code: str) -> str:
        """Runs code."""
        return "0.42"

    run = await run_script([call("run_python", {"code": "1"})], [answer()], tools=[run_python], answer=FIT)
    assert run.unsupported == ("0.01",)


async def test_a_tool_of_that_name_and_an_answer_exclude_each_other():
    def final_answer(x: int) -> str:
        return ""

    with pytest.raises(ConfigError, match="Two tools are named 'final_answer'"):
        await run_script([], tools=[final_answer], answer=FIT)


@pytest.mark.parametrize("variants", [1, 3])
async def test_the_demo_gives_a_value_of_the_type(variants):
    kind = "slope: float, kind: Literal['a', 'b'], places: list[str], sure: bool"
    agent = Agent(model("demo:", pace=0), answer=kind)
    run = await agent.start_variants("Which slope do the data have?", variants=variants)
    values = [variant.answer["slope"] for variant in run.variants or (run,)]
    assert (run.reason, len({*values})) == ("end_turn", variants)
    assert (run.answer["kind"], run.answer["sure"]) == ("a", True)


def test_choices_of_the_type_are_not_sent_with_data_schema():
    agent = Agent("demo:", answer="city: Literal['Lyon', 'Paris']")
    assert "Lyon" in str(agent.prepare("Which?").tools)
    assert "Lyon" not in str(agent.with_data("schema").prepare("Which?").tools)
