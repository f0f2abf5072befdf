"""The answers of variants: agreement, numbers, the strip plot, and every form of a run that has them."""

import xml.etree.ElementTree as ET

import pytest

from agent_nb import Agent, Run, load, tool
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render import HTML, MARKDOWN, TEXT
from agent_nb.render.answers import strip_plot

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
    assert "slope: median 0.5, middle half 0.5 to 0.6." in repr(run.answers)
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
