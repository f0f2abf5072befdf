"""Twelve questions with one right answer each about three small tables, and their grading. `try_data` asks them."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SETUP = """\
import pandas as pd

customers = pd.DataFrame(
    [
        {"customer": f"C{n}", "city": ("Lyon", "Graz", "Porto", "Lyon", "Ghent")[n % 5],
         "since": pd.Timestamp("2023-02-11") + pd.Timedelta(days=97 * n)}
        for n in range(9)
    ]
)
orders = pd.DataFrame(
    [
        {"order": 1000 + n, "day": pd.Timestamp("2026-05-04") + pd.Timedelta(days=n * 7 % 83),
         "customer": f"C{n * 5 % 9}", "product": ("bread", "cake", "roll", "tart")[n * 13 % 11 % 4],
         "pieces": n * 11 % 8 + n % 3 + 1, "price": (3.2, 4.5, 0.9, 5.8)[n * 13 % 11 % 4],
         "rating": None if n % 6 == 4 else float(n * 3 % 5 + 1)}
        for n in range(90)
    ]
)
visits = pd.DataFrame(
    [
        {"day": pd.Timestamp("2026-06-01") + pd.Timedelta(days=n), "celsius": round(15 + n * 17 % 23 * 0.6, 1),
         "rain": None if n % 13 == 8 else max(0, n * 7 % 11 - 5) * 1.5,
         "visitors": 120 + n * 17 % 23 * 4 + n * 5 % 7 * 6 + (70 if n % 7 > 4 else 0)}
        for n in range(50)
    ]
)
"""
"""Makes the tables, in a cell as in a program."""
MOST_NUMBERS = 4
"""An answer with more numbers than this lists values instead of answering."""
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:[,\u202f]\d{3})*(?:\.\d+)?(?!\w)")


@dataclass(frozen=True)
class Question:
    name: str
    tables: tuple[str, ...]
    text: str
    answer: Callable[[Any], tuple[str | float, ...]]
    """Gets the tables as attributes. Computes the number, after its name if the question asks for one."""
    setup: str = SETUP
    """Code that makes the tables."""


QUESTIONS = (
    Question(
        "sum", ("orders",), "How many pieces were ordered in all?", lambda t: (int(t.orders.pieces.sum()),)
    ),
    Question(
        "filter",
        ("orders",),
        "How many orders have more than 5 pieces?",
        lambda t: (int((t.orders.pieces > 5).sum()),),
    ),
    Question(
        "two filters",
        ("orders",),
        "How many pieces of bread did the customer C7 order?",
        lambda t: (
            int(t.orders.pieces[(t.orders["product"] == "bread") & (t.orders.customer == "C7")].sum()),
        ),
    ),
    Question(
        "product of columns",
        ("orders",),
        "The revenue of an order is pieces times price. What is the revenue of all orders together?",
        lambda t: (float((t.orders.pieces * t.orders.price).sum()),),
    ),
    Question(
        "group",
        ("orders",),
        "Which product was ordered with the most pieces in all, and how many pieces?",
        lambda t: _best(t.orders.groupby("product").pieces.sum()),
    ),
    Question(
        "missing values",
        ("orders",),
        "How many orders have no rating?",
        lambda t: (int(t.orders.rating.isna().sum()),),
    ),
    Question(
        "mean with missing values",
        ("orders",),
        "What is the mean rating of the orders of tart?",
        lambda t: (float(t.orders.rating[t.orders["product"] == "tart"].mean()),),
    ),
    Question(
        "month",
        ("orders",),
        "How many pieces were ordered in June 2026?",
        lambda t: (int(t.orders.pieces[t.orders.day.dt.month == 6].sum()),),
    ),
    Question(
        "weekend",
        ("visits",),
        "What is the mean number of visitors on Saturdays and Sundays?",
        lambda t: (float(t.visits.visitors[t.visits.day.dt.day_of_week > 4].mean()),),
    ),
    Question(
        "correlation",
        ("visits",),
        "What is the correlation between celsius and visitors?",
        lambda t: (float(t.visits.celsius.corr(t.visits.visitors)),),
    ),
    Question(
        "join",
        ("orders", "customers"),
        "How many pieces did customers from Lyon order?",
        lambda t: (int(_joined(t).query("city == 'Lyon'").pieces.sum()),),
    ),
    Question(
        "join and group",
        ("orders", "customers"),
        "The revenue of an order is pieces times price. Which city has the highest revenue, and how high is it?",
        lambda t: _best(_joined(t).eval("revenue = pieces * price").groupby("city").revenue.sum()),
    ),
)


def _joined(tables: Any) -> Any:
    return tables.orders.merge(tables.customers, on="customer")


def _best(sums: Any) -> tuple[str, float]:
    return str(sums.idxmax()), float(sums.max())


def is_right(text: str, answer: tuple[str | float, ...], question: str = "") -> bool:
    """Whether a text gives the answer: its name and its number, rounded at the digits shown, among few others.

    Numbers of the question are ignored. A whole number must be exact, another one is shown with two digits or more.
    """
    ignored = set(_NUMBER.findall(question))
    numbers = dict.fromkeys(number for number in _NUMBER.findall(text) if number not in ignored)
    *names, value = answer
    return (
        len(numbers) <= MOST_NUMBERS
        and all(re.search(rf"\b{name}\b", text, re.IGNORECASE) for name in names)
        and any(_rounds_to(number, float(value)) for number in numbers)
    )


def _rounds_to(number: str, value: float) -> bool:
    digits = re.sub(r"[,\u202f]", "", number).replace("−", "-")
    decimals = len(digits.partition(".")[2])
    if value.is_integer():
        return float(digits) == value
    enough = len(digits.lstrip("-0.").replace(".", "")) >= 2
    return enough and math.isclose(float(digits), value, rel_tol=1e-9, abs_tol=0.5000001 * 10.0**-decimals)
