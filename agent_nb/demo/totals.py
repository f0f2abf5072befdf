"""The code that answers a question about a table, and the numbers that it printed."""

import csv

from agent_nb.demo.brief import Data
from agent_nb.demo.frame import Question

MOST_ROWS = 12
_HEADER = ("total", "average", "rows")


def code_for(question: Question) -> str:
    """Python that computes and prints the numbers, hands them to the page and draws them."""
    lines = _polars_code if question.frame.library == "polars" else _pandas_code
    return "\n".join(lines(question))


def _pandas_code(question: Question) -> list[str]:
    table = f"{question.frame.name}{'.to_pandas()' if question.frame.library == 'pyarrow' else ''}"
    category = repr(question.category.name)
    # pandas 2 warns without it.
    groups = f"{category}, observed=True" if question.category.dtype == "category" else category
    return [
        f"groups = {table}.groupby({groups})[{question.number.name!r}]",
        "totals = groups.agg(total='sum', average='mean', rows='count').round(2)",
        f"totals = totals.sort_values({question.measure!r}, ascending=False).head({MOST_ROWS})",
        "print(totals.to_csv())",
        "to_file('data.json', totals)",
        f"totals[{question.measure!r}][::-1].plot.barh(title={question.title!r}, figsize=(6, 3.5));",
    ]


def _polars_code(question: Question) -> list[str]:
    category, measure = repr(question.category.name), repr(question.measure)
    return [
        "import matplotlib.pyplot as plt",
        "import polars as pl",
        "",
        f"number = pl.col({question.number.name!r})",
        f"groups = {question.frame.name}.drop_nulls({category}).group_by({category})",
        "totals = groups.agg(total=number.sum(), average=number.mean().round(2), rows=number.count())",
        f"totals = totals.sort({measure}, {category}, descending=[True, False]).head({MOST_ROWS})",
        "print(totals.write_csv())",
        "to_file('data.json', totals.to_dicts())",
        "plt.figure(figsize=(6, 3.5))",
        f"plt.barh(totals[{category}].cast(pl.String)[::-1], totals[{measure}][::-1])",
        f"plt.title({question.title!r});",
    ]


def read_totals(question: Question, printed: str) -> Data | None:
    """The numbers that the code printed; None if they are not there, as when the user has changed the code."""
    rows = list(csv.reader(printed.splitlines()))
    header = [question.category.name, *_HEADER]
    if header not in rows:
        return None
    read: list[tuple[str, list[float]]] = []
    for row in rows[rows.index(header) + 1 :]:
        try:
            read.append((row[0], [float(cell) for cell in row[1:]]))
        except (IndexError, ValueError):  # the end of the numbers
            break
    read = [(label, values) for label, values in read if len(values) == len(_HEADER)]
    if not read:
        return None
    number = question.number.name
    names = {"total": f"Total {number}", "average": f"Average {number}", "rows": "Rows"}
    order = sorted(_HEADER, key=lambda name: name != question.measure)  # what was asked for comes first
    return Data(
        axis=question.category.name,
        labels=tuple(label for label, _ in read),
        columns=tuple(
            (names[name], tuple(values[_HEADER.index(name)] for _, values in read)) for name in order
        ),
        given=True,
        source=f"`{question.frame.name}`",
    )


def read_counts(question: Question) -> Data | None:
    """How often each value occurs, as the description says; None if it does not say so of two values."""
    common = question.category.common
    if len(common) < 2:
        return None
    return Data(
        axis=question.category.name,
        labels=tuple(value for value, _ in common),
        columns=(("Rows", tuple(float(count) for _, count in common)),),
        given=True,
        source=f"the description of `{question.frame.name}`",
    )
