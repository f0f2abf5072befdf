"""An answer with a type as a small table, which all forms of a run show."""

import json
from collections.abc import Mapping
from typing import Any

from agent_nb._base.secrets import mask
from agent_nb._base.table import Table
from agent_nb._base.text import shortened
from agent_nb._base.wire import Json
from agent_nb.render.finished_run import FinishedRun
from agent_nb.render.safe_markdown import as_text

MOST_ROWS = 50
MOST_COLUMNS = 8
MAX_ENTRY = 400
"""Maximum characters of a value in a table."""


def entry_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # Masked before it is cut, because half a key would not be recognised.
    return shortened(" ".join(mask(text).split()), MAX_ENTRY)


def answer_fields(answer: Any) -> Json:
    """The answer by field name; empty without an answer."""
    return {**answer} if isinstance(answer, Mapping) else {} if answer is None else {"answer": answer}


def answer_table(answer: Any) -> Table:
    """A row for each field, or for each item of a list."""
    rows: list[Any] = [*answer_fields(answer).items()]
    columns: list[str] = ["field", "value"]
    if isinstance(answer, list):
        rows = [*enumerate(answer, 1)]
        columns[0] = ""
        names = list(dict.fromkeys(name for item in answer if isinstance(item, dict) for name in item))
        if answer and len(names) <= MOST_COLUMNS and all(isinstance(item, dict) for item in answer):
            columns = ["", *names]
            rows = [(number, *(item.get(name) for name in names)) for number, item in rows]
    entries = [[entry_text(value) for value in row] for row in rows[:MOST_ROWS]]
    omitted = f"{len(rows) - MOST_ROWS:,} more rows are in `answer`." if len(rows) > MOST_ROWS else ""
    return Table(columns, entries, "The answer is empty.", note=omitted)


def shown_answer(run: FinishedRun) -> Table | None:
    return None if run.plain_answer is None else answer_table(run.plain_answer)


def table_markdown(table: Table) -> str:
    if not table.rows:
        return table.empty
    rows = [table.columns, ["---"] * len(table.columns), *table.rows]
    cells = [
        [text if place == 1 else as_text(text, in_table=True) for text in row]
        for place, row in enumerate(rows)
    ]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in cells)
    return "\n\n".join(filter(None, (lines, as_text(table.note))))
