"""What a cell says about the tables in its prompt, and cassettes recorded with tables as they were sent before."""

import pandas as pd
import pytest

FORMER = "DataFrame with 24 rows and 1 columns\n- sold: int64\nFirst rows:\nsold\n0\n1\n2\n3\n4\n"


@pytest.fixture
def sales(shell):
    shell.names["sales"] = pd.DataFrame({"sold": range(24)})
    return shell


def test_a_line_says_what_was_sent(sales):
    shown = sales.run("%%agent page -m demo: --pace 0\nA dashboard of {{sales}}")
    assert "The model sees `sales` (24 of 24 rows)." in shown.stdout
    assert "All rows:" in sales.names["page"].prompt


def test_a_cassette_with_the_former_text_plays(sales):
    """Its prompt, which is the same apart from the table, is sent as it was recorded."""
    assert sales.run(f"%%agent page -m demo: --pace 0 --record\nA dashboard of {FORMER}please").ok
    recorded = sales.names["page"]
    shown = sales.run("%%agent page --pace 0\nA dashboard of {{sales}}please")
    assert "The model sees `sales` (5 of 24 rows)." in shown.stdout
    replayed = sales.names["page"]
    assert replayed.settings["replayed"] == "cassettes/page.jsonl"
    assert (replayed.prompt, replayed.key) == (recorded.prompt, recorded.key)


def test_a_cassette_of_another_table_does_not_play(sales):
    text = FORMER.replace("24", "25")
    assert sales.run(f"%%agent page -m demo: --pace 0 --record\nA dashboard of {text}please").ok
    shown = sales.run("%%agent page\nA dashboard of {{sales}}please")
    assert "was recorded with another prompt" in f"{shown.error}"


def test_the_demo_says_on_its_page_how_many_rows_it_saw(sales):
    sales.names["towns"] = pd.DataFrame({"town": [f"T{n}" for n in range(2_000)], "sold": range(2_000)})
    sales.run("%%agent page -m demo: --pace 0\nA dashboard of {{towns}}")
    assert "From the numbers you gave: 5 of 2,000 rows." in sales.names["page"].html
