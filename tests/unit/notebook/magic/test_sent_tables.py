"""What a cell says about the tables in its prompt."""

import pandas as pd
import pytest


@pytest.fixture
def sales(shell):
    shell.names["sales"] = pd.DataFrame({"sold": range(24)})
    return shell


def test_a_line_says_what_was_sent(sales):
    shown = sales.run("%%agent page -m demo: --pace 0\nA dashboard of {{sales}}")
    assert "The model sees `sales` (24 of 24 rows)." in shown.stdout
    assert "All rows:" in sales.names["page"].prompt


def test_the_demo_says_on_its_page_how_many_rows_it_saw(sales):
    sales.names["towns"] = pd.DataFrame({"town": [f"T{n}" for n in range(2_000)], "sold": range(2_000)})
    sales.run("%%agent page -m demo: --pace 0\nA dashboard of {{towns}}")
    assert "From the numbers you gave: 5 of 2,000 rows." in sales.names["page"].html
