"""The demo model makes a page for the names that it is bound to."""

import json
import re

import pytest

from agent_nb.demo.conversation import split_prompt
from tests.support.demo_kit import Page

DATA = """
from typing import Literal
reviews = [{"id": 17, "text": "Warm bread"}, {"id": 18, "text": "A long wait"}]
def score(text: str, level: float = 0.5, kind: Literal["a, b", "c"] = "c", *, loud: bool = False) -> float:
    "Scores a text (roughly)."
    return len(text) * level
def power(base: int, exponents: list[int] = [1, 2], note: str = "x") -> int:
    return base
"""


def make(shell, line, prompt="Label the reviews good, bad or unclear."):
    assert shell.run(DATA).ok
    cell = shell.run(f"%%agent labeler -m demo: --pace 0 {line}\n{prompt}")
    assert cell.ok, cell.error
    html = shell.names["labeler"].files["index.html"]
    assert Page(html).text
    return html, json.loads(re.search(r"const bound = (\{.*\});", html)[1])


def test_each_name_has_its_place_in_the_page(shell):
    html, spec = make(shell, "--bind reviews,labels,score")
    assert "<h1>Label reviews</h1>" in html
    assert spec["values"] == ["reviews"]
    assert spec["filled"] == ["labels"]
    assert spec["labels"] == ["good", "bad", "unclear"]
    [score] = spec["functions"]
    assert [(field["name"], field["kind"], field["value"]) for field in score["fields"]] == [
        ("text", "text", None),
        ("level", "range", 0.5),
        ("kind", "select", "c"),
        ("loud", "checkbox", False),
    ]
    assert score["fields"][2]["options"] == ["a, b", "c"]
    assert "Warm bread" not in html, "the page reads the values from the notebook"
    assert '"check_preview"' not in str(shell.names["labeler"].tool_uses)


@pytest.mark.parametrize(
    ("prompt", "labels"),
    [
        ("Keys 1, 2, 3 label it spam, news, or other. Show how many are left.", ["spam", "news", "other"]),
        ("Show one review at a time.", ["good", "bad", "unclear"]),
    ],
)
def test_labels_come_from_the_prompt(shell, prompt, labels):
    assert make(shell, "--bind reviews,labels", prompt)[1]["labels"] == labels


def test_a_function_has_a_field_for_each_parameter(shell):
    html, spec = make(shell, "--bind power", "Try it out.")
    assert "<h1>Try power</h1>" in html
    base, exponents, note = spec["functions"][0]["fields"]
    assert (base["kind"], base["min"], base["max"], base["step"]) == ("range", 0, 10, 1)
    assert (exponents["kind"], exponents["value"]) == ("json", [1, 2])
    assert (note["kind"], note["required"]) == ("text", False)


def test_types_are_enough_for_the_fields(shell):
    _, spec = make(shell, "--bind reviews,score --data schema")
    assert [field["kind"] for field in spec["functions"][0]["fields"]] == [
        "text",
        "range",
        "text",
        "checkbox",
    ]


def test_a_bound_page_can_be_changed(shell):
    html, _ = make(shell, "--bind reviews,labels")
    assert shell.run("%%agent second --from labeler -m demo: --pace 0\nMake it blue.").ok
    changed = shell.names["second"].files["index.html"]
    assert changed != html
    assert changed.count("notebook.on") == html.count("notebook.on")


@pytest.mark.parametrize("default", ["<object object at 0x7f>", "')'", "(1, (2))"])
def test_a_signature_that_python_cannot_read_has_no_fields(default):
    listed = "Try.\n\nThe page is bound to these names of the notebook:"
    prompt, bound = split_prompt(f"{listed}\n- `f(a: str = {default}) -> int`, a function to call")
    assert prompt == "Try."
    assert [function["name"] for function in bound.functions] == ["f"]
    assert len(bound.functions[0]["fields"]) == (0 if "object" in default else 1)
