"""Tables read well as text, and as HTML without styles or trust."""

import re

import pytest

from agent_nb._base.table import Table

TABLE = Table(
    ("name", "cost"), [("hero", "$0.12"), ("a & <b>", "$12.00")], "None.", "Two runs.", numbers=("cost",)
)


def test_text_lines_up_its_columns():
    assert repr(TABLE).splitlines() == ["name       cost", "hero      $0.12", "a & <b>  $12.00", "Two runs."]


WIDE = Table(
    ("name", "note", "cost"),
    [("apple", "a fruit that is round", "1.00"), ("", "", "0.50")],
    "",
    "Two.",
    ("cost",),
)


def test_in_a_terminal_cells_wrap_between_words():
    assert WIDE.to_text(21).splitlines() == [
        "name   note      cost",
        "apple  a fruit   1.00",
        "       that is",
        "       round",
        "                 0.50",
        "Two.",
    ]


@pytest.mark.parametrize("width", [0, 1, 9, 12, 20, 33, 200])
def test_no_row_is_wider_than_the_terminal(width):
    least = 3 + 2 * 2  # a character of each column and the gaps
    rows = WIDE.to_text(width).splitlines()[:-1]
    assert max(map(len, rows)) <= max(width, least)
    assert sorted("".join(rows).replace(" ", "")) == sorted(
        re.sub(r"\s", "", WIDE.to_text().removesuffix("Two."))
    )


def test_html_escapes_every_cell():
    html = TABLE._repr_html_()
    assert ">a &amp; &lt;b&gt;</td>" in html
    assert set(re.findall(r"<(\w+)", html)) == {"table", "thead", "tbody", "tr", "th", "td", "p"}


def test_html_sets_no_colour_of_its_own():
    styles = ";".join(re.findall(r'style="([^"]*)"', TABLE._repr_html_())).split(";")
    assert set(styles) == {"text-align:left", "text-align:right", "white-space:nowrap"}


def test_dollar_signs_are_no_formulas():
    outer = re.findall(r"<(?:table|p)[^>]*>", TABLE._repr_html_())
    assert len(outer) == 2
    assert all('class="mathjax_ignore"' in tag for tag in outer)


def test_no_rows_say_so():
    empty = Table(("name",), [], "No runs <yet>.", "A note.")
    assert repr(empty) == "No runs <yet>."
    assert empty._repr_html_() == "<p>No runs &lt;yet&gt;.</p>"


def test_cells_are_masked():
    key = "sk-ant-api03-abcdefghijklmnopqrstuvwx"
    table = Table(("tool",), [(f"opens with {key}",)], "")
    assert "abcdef" not in repr(table) + table._repr_html_()
