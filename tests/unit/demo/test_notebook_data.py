"""The demo model and the data of a notebook: it looks, computes, and uses the numbers, or says why it cannot."""

import matplotlib as mpl
import pytest

from agent_nb import Run, kernel_tools
from agent_nb.notebook.kernel_tools import variables
from agent_nb.tools import Toolbox
from tests.support.demo_kit import BAKERY, Page, agent, called, spoken
from tests.support.shells import start_shell

PROMPT = "What sells best in df? Draw it and build a dashboard"
LOOKS = ["list_variables", "describe_variable"]
DATA = {
    "day": list(range(1, 7)) * 2,
    "shop": ["Lyon", "Paris"] * 6,
    "product": ["espresso", "tea", "croissant, plain", "espresso", "cake", "tea"] * 2,
    "units": [5, 3, 8, 6, 1, 2] * 2,
    "price": [2.5, 3.0, 1.9, 2.5, 4.5, 3.0] * 2,
}
MAKERS = {
    "pandas": "import pandas as pd\ndf = pd.DataFrame(data)",
    "polars": "import polars as pl\ndf = pl.DataFrame(data)",
    "pyarrow": "import pyarrow as pa\ndf = pa.table(data)",
    "category": "import pandas as pd\ndf = pd.DataFrame(data).astype({'product': 'category'})",
}


@pytest.fixture
def shell(tmp_path, monkeypatch):
    mpl.use("agg")
    for limit in ("SECONDS", "SECONDS_IN_ALL"):  # a busy machine is not the subject here
        monkeypatch.setattr(variables, limit, 60.0)
    with start_shell(tmp_path) as shell:
        shell.names["data"] = DATA
        shell.run(MAKERS["pandas"])
        yield shell


async def ask(shell, prompt: str = PROMPT, *, approve: str = "auto", python: bool = True) -> Run:
    kernel = [each for each in kernel_tools() if python or each.name in LOOKS]
    return await agent(tools=[*Toolbox.default(), *kernel], approve=approve).run(prompt)


async def test_without_values_it_gives_the_true_reason(shell):
    run = (
        await agent(tools=[*Toolbox.default(), *kernel_tools()], approve="auto")
        .with_data("schema")
        .run(PROMPT)
    )
    assert "I compare groups by their values, and this run sends none" in run.text
    assert "there is no table" not in run.text


async def test_it_makes_up_no_code_if_it_cannot_look(shell):
    python = [each for each in kernel_tools() if each.name == "run_python"]
    run = await agent(tools=[*Toolbox.default(), *python], approve="auto").run(PROMPT)
    assert "run_python" not in called(run)


@pytest.mark.parametrize("library", MAKERS)
async def test_a_dashboard_has_the_numbers_of_the_table(shell, library):
    assert shell.run(MAKERS[library]).error is None
    run = await ask(shell)
    assert called(run) == [*LOOKS, "run_python", "create_file", "edit_file"]
    assert set(run.files) == {"index.html", "data.json"}
    text = " ".join(Page(run.html or "").text.split())
    assert "4 product values, largest first. Computed from df." in text
    assert "espresso stands out. Total units: 22, 76% above the average." in text
    assert "espresso225.54 croissant, plain1682 tea102.54 cake212" in text  # the rows of the table
    assert "Sample" not in text
    assert "**espresso** leads by total units in `df`: 22, 44% of all." in run.text
    assert run.unsupported == ("44",)


async def test_without_approval_it_goes_on_and_says_so(shell):
    run = await ask(shell, approve="deny")
    assert called(run) == [*LOOKS, "run_python", "create_file", "edit_file"]
    assert "`run_python` was not approved, so it did not run" in spoken(run)
    assert "**espresso** leads by rows in the description of `df`: 4, 33% of all." in run.text
    text = Page(run.html or "").text
    assert "Rows by product" in text
    assert "22" not in text


async def test_without_a_tool_for_code_it_uses_what_the_description_says(shell):
    shell.run(MAKERS["polars"])
    run = await ask(shell, python=False)
    assert called(run) == [*LOOKS, "create_file", "edit_file"]
    assert "I have no tool to run code." in run.text
    assert "Rows by product" in Page(run.html or "").text


async def test_code_that_fails_is_reported(shell):
    shell.run("import pandas as pd\nclass Frame(pd.DataFrame):\n    groupby = None\ndf = Frame(data)")
    run = await ask(shell)
    assert "`run_python` failed (TypeError: " in run.text
    assert "Rows by product" in Page(run.html or "").text


async def test_equal_numbers_have_no_leader(shell):
    shell.run("import pandas as pd\ndf = pd.DataFrame({'kind': ['a', 'b'] * 2, 'units': [3] * 4})")
    run = await ask(shell)
    assert "All 2 kind values are equal by total units in `df`: 6." in run.text
    assert "All 2 are equal. Total units: 6 each." in Page(run.html or "").text


async def test_a_question_is_answered_without_a_page(shell):
    run = await ask(shell, "What is the average price for each shop in df?")
    assert called(run) == [*LOOKS, "run_python"]
    assert "**Lyon** leads by average price in `df`: 3.0." in run.text
    assert "index.html" not in run.files


@pytest.mark.parametrize(
    ("code", "sentence", "calls"),
    [
        ("number = 3", "there is no table with rows", LOOKS[:1]),
        ("import pandas as pd\nempty = pd.DataFrame({'a': []})", "there is no table with rows", LOOKS[:1]),
        ("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})", "`df` lacks a column of groups", LOOKS),
        ("import pandas as pd\ndf = pd.DataFrame({'a': ['x', 'y']})", "`df` lacks a column of groups", LOOKS),
    ],
)
async def test_where_there_is_nothing_to_compare_it_says_so(shell, code, sentence, calls):
    shell.run(f"del df\n{code}")
    run = await ask(shell)
    assert called(run) == [*calls, "create_file", "edit_file"]
    assert sentence in spoken(run)
    assert "the numbers on the page are a sample" in run.text
    assert "Sample numbers" in Page(run.html or "").text
    answer = await ask(shell, "What sells best in df?")
    assert sentence in answer.text
    assert called(answer) == calls


async def test_other_prompts_leave_the_notebook_alone(shell):
    assert called(await ask(shell, BAKERY)) == ["create_file", "edit_file"]


async def test_a_comparison_of_groups_has_their_numbers(shell):
    run = await ask(shell, "Is tea sold more often than cake?")
    assert "Total units: tea 10, cake 2." in run.text
    run = await ask(shell, "Is Paris busier than Lyon in df?")
    assert "Total units: Lyon 28, Paris 22." in run.text


async def test_a_question_that_it_cannot_answer_names_one_that_it_can(shell):
    run = await ask(shell, "Why do people drink espresso?")
    assert called(run) == []
    assert "It can compare the groups of a table" in run.text
    assert "The files are unchanged." not in run.text


async def test_a_second_question_is_about_the_table_and_the_columns_of_the_first(shell):
    tools = [*Toolbox.default(), *kernel_tools()]
    first = await agent(tools=tools, approve="auto").run("Which shop has the most units in df?")
    assert "**Lyon** leads by total units in `df`" in first.text
    second = await agent(tools=tools, approve="auto").run("And on average?", base=first)
    assert "**Lyon** leads by average units in `df`: 4.7." in second.text
