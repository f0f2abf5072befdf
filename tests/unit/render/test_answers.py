"""The answers of variants: agreement, numbers, the strip plot, and every form of a run that has them."""

import xml.etree.ElementTree as ET

import pytest

from agent_nb import Agent, Run, load, tool
from agent_nb.providers import model
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render import HTML, MARKDOWN, TEXT
from agent_nb.render.answers import strip_plot
from agent_nb.render.shown import addition

CODE = "import math\nfit(x)\n"


@tool
def run_python(code: str) -> str:
    """Runs code."""
    if "boom" in code:
        raise ValueError("boom")
    return "done"


async def analysts(answers: list[object], kind: str = "slope: float") -> Run:
    """A variant for each answer; None for one that gives none."""
    models = []
    for answer in answers:
        last = [text("No.")] * 3 if answer is None else [call("final_answer", answer)]
        turns = [[call("run_python", {"code": CODE})], [call("run_python", {"code": "boom"})]]
        turns += [[step] for step in last]
        models.append(ScriptedProvider(turns))
    agent = Agent(models[0], tools=[run_python], answer=kind)
    return await agent.start_variants("Fit a line.", models=models)


async def test_rows_have_the_value_the_code_and_how_many_agree(tmp_path):
    run = await analysts([{"slope": 0.5}, None, {"slope": 0.500001}, {"slope": 0.7}])
    rows = run.answers.rows()
    assert [(row["variant"], row.get("slope"), row["code"], row["agree"]) for row in rows] == [
        (1, 0.5, "fit(x)", 2),
        (2, None, "fit(x)", 0),
        (3, 0.500001, "fit(x)", 2),
        (4, 0.7, "fit(x)", 1),
    ]
    assert run.answers.numbers() == {"slope": [0.5, 0.500001, 0.7]}
    assert "slope: median 0.5, middle half 0.5 to 0.6; hollow: not computed." in repr(run.answers)
    loaded = load(run.save(tmp_path / "fit.run.jsonl"))
    assert loaded.answers.rows() == rows
    assert repr(loaded.answers) in TEXT.render(loaded)


async def test_zeros_of_both_signs_agree():
    run = await analysts([{"slope": 0.0}, {"slope": -0.0}, {"slope": 0}])
    assert [row["agree"] for row in run.answers.rows()] == [3, 3, 3]


async def test_saved_exported_and_markdown_forms_have_the_table_and_the_plot():
    run = await analysts(
        [{"slope": 0.5, "kind": "<b>"}, {"slope": 1, "kind": "|`"}], "slope: float, kind: str"
    )
    for form, plot in (
        (HTML, '<img alt="strip plot" src="data:image/svg+xml;base64,'),
        (MARKDOWN, "![strip plot](data:"),
    ):
        shown = form.render(run)
        assert plot in shown
        assert "last line of code" in shown
        assert "<b>" not in shown
    assert "median 0.75" in run._repr_mimebundle_()["text/markdown"]
    assert "strip plot" not in run._repr_mimebundle_()["text/markdown"], "a cell's Markdown has no images"


@pytest.mark.parametrize(
    ("kind", "answers", "numbers"),
    [
        ("float", [{"value": 1}, {"value": 2}], ["answer"]),
        ("model: float, agree: float", [{"model": 1, "agree": 2}] * 2, ["model", "agree"]),
        ("list[float]", [{"value": [1]}] * 2, []),
        ("n: int", [{"n": 10**400}] * 2, []),
        ("sure: bool", [{"sure": True}] * 2, []),
        ("slope: float | None", [{"slope": None}, {"slope": 1}], []),
        ("slope: float", [{"slope": 1}, None], []),
        ("slope: float", [None, None], []),
    ],
)
async def test_only_fields_that_are_numbers_everywhere_are_drawn(kind, answers, numbers):
    answers_of_run = (await analysts(answers, kind)).answers
    assert [*answers_of_run.numbers()] == [*answers_of_run.table().plots] == numbers
    assert len(answers_of_run.rows()) == 2
    assert answers_of_run._repr_html_()


@pytest.mark.parametrize(
    "values", [[1, 1], [-1e299, 1e299], [0, 0, 0, 1], [5e-324, 1], [0.1 * n for n in range(8)]]
)
def test_a_strip_plot_has_a_dot_inside_it_for_each_value(values):
    root = ET.fromstring(strip_plot(values))
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    dots = [
        (float(dot.get("cx")), float(dot.get("cy")))
        for dot in root.iter("{http://www.w3.org/2000/svg}circle")
    ]
    assert len({*dots}) == len(values), "no dot hides another"
    assert all(left < x < left + width and top < y < top + height for x, y in dots)


async def test_every_form_says_which_value_of_which_variant_nothing_computed():
    run = await analysts(
        [{"slope": 8, "note": "of 41.5"}, {"slope": 0.7, "note": "-"}], "slope: float, note: str"
    )
    noted = ["| 1 | test | 8 | of 41.5 (not computed: 41.5) |", "| 2 | test | 0.7 (not computed) |"]
    for line in (*noted, "Not computed: 41.5\n\n| variant |", "hollow: not computed"):
        assert line in MARKDOWN.render(run)
    for form in (HTML, MARKDOWN, TEXT):
        assert form.render(run).count("Not computed: 41.5") == 2
        assert form.render(run).count("Not computed: 0.7") == 1
    assert "0.7 (not computed)" in repr(run.compare())
    assert 'fill="none"' in strip_plot([1, 2], [False, True])


async def test_numbers_of_lists_and_of_texts_in_them_have_their_place():
    items = [{"a/b": 12.5, "c": ["41.5 of 7", None, True]}, {"a/b": 13.5, "c": []}]
    run = await analysts([{"value": items}], "list[dict]")
    found = [(number.path, number.start, number.text) for number in run.answer_numbers]
    assert found == [("/0/a~1b", 0, "12.5"), ("/0/c/0", 0, "41.5"), ("/1/a~1b", 0, "13.5")]
    (table, line) = addition(run).below
    assert table.rows[0] == ["1", "12.5 (not computed)", '["41.5 of 7", null, true] (not computed: 41.5)']
    assert line == "Not computed: 12.5, 41.5, 13.5"


async def test_numbers_that_the_demo_made_up_are_not_computed():
    run = await Agent(model("demo:", pace=0), answer="ratio: float").run("How many times?")
    (number,) = run.answer_numbers
    assert (number.path, number.call_id, run.unsupported) == ("/ratio", "", (str(run.plain_answer["ratio"]),))
