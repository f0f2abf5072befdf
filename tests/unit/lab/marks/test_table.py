"""The table: one line per student that no spreadsheet runs as a formula."""

import csv
import io

import pytest

from agent_nb.lab.marks.row import Row
from agent_nb.lab.marks.table import COLUMNS, to_csv


def table(*rows: Row) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(rows).decode("utf-8-sig"), newline="")))


def test_numbers_names_and_notes():
    row = Row(
        student="Zoë, 三 محمد",
        checks_passed=2,
        checks_total=3,
        cost=0.05,
        same_page_as=tuple(f"s{number}" for number in range(25)),
        notes=("One.", "Two."),
    )
    (found,) = table(row)
    assert tuple(found) == COLUMNS
    assert (found["student"], found["checks_passed"], found["cost"]) == ("Zoë, 三 محمد", "2", "0.05")
    assert found["same_page_as"].endswith("s19, and 5 more")
    assert found["notes"] == "One. Two."
    assert to_csv([]).startswith("\ufeffstudent,".encode())


def test_a_submission_that_was_not_read_has_no_numbers():
    (found,) = table(Row(student="a", error="The zip file is damaged."))
    assert [found[name] for name in COLUMNS[1:-1]] == [""] * 10
    assert found["error"] == "The zip file is damaged."


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r\n=", " =", "\u202e=", "＝"])
def test_formulas_are_text(start):
    (found,) = table(Row(student=f"{start}HYPERLINK(1)", notes=(f"{start}1",), same_page_as=(f"{start}x",)))
    for name in ("student", "notes", "same_page_as"):
        assert found[name][:2] in ("'=", "'+", "'-", "'@", "'＝")


@pytest.mark.parametrize("text", ["a;=1+1;", 'a;"=1+1";', "a; -1;@x", "a\t=1"])
def test_no_cell_is_a_formula_where_another_character_separates(text):
    data = to_csv([Row(student=text, notes=(text,), same_page_as=(text,))]).decode("utf-8-sig")
    for line in data.splitlines():
        assert ";" not in line
        assert "\t" not in line
