"""Inspects the data of a notebook, if the prompt asks for it and the tools are available."""

import csv
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from agent_nb.core.messages import Text
from agent_nb.demo.brief import Brief, Data, capital, name_in
from agent_nb.demo.conversation import DESCRIBE, LIST, RUN, Action, Conversation, DemoCall
from agent_nb.demo.dashboard import number
from agent_nb.demo.own_tools import failure
from agent_nb.demo.templates import table

MAX_GROUPS = 50
MAX_ROWS = 12
_LISTED = re.compile(r"^- (\w+): (?:(\w+)\.)?\w+, ([\d,]+) rows? x [\d,]+ columns?;", re.MULTILINE)
_COLUMN = re.compile(r"^- (.{1,200}): (\w[^,\n]{0,200}), [\d,]{1,20} nulls?(.*)$", re.MULTILINE)
_NUMERIC = re.compile(r"u?int|float|decimal|double", re.I)
_DISTINCT = re.compile(r", ([\d,]+) distinct")
_COMMON = re.compile(r"(?:most common: |, )(.{1,200}?) \(([\d,]+)\)")
_LABELS = re.compile(r"(?:^|_| )(?:id|year|month|day|zip|postcode|lat|lon|index|number|no)$", re.I)
"""Names of numeric columns that are not amounts."""
_RATES = re.compile(
    r"price|rate|ratio|share|percent|score|rating|temperature|\bage\b|speed|length|width|height|mass", re.I
)
"""Names of numeric columns whose sum is meaningless."""
_AVERAGE = re.compile(r"\b(?:average|mean|typical)", re.I)
_DATA = re.compile(
    r"\b(?:df|data|data ?frames?|data ?sets?|variables?|columns?|tables?|charts?|plots?|graphs?|draw|dashboards?"
    r"|reports?|numbers|best|worst|most|least|top|highest|lowest|largest|smallest|averages?|totals?|sells?|sold|sales"
    r"|compare|comput\w+|calculat\w+|analy\w+|than|fewer|how many|median)\b",
    re.I,
)
PAGE = re.compile(r"\b(?:dashboards?|(?:web ?)?(?:page|site)|reports?)\b", re.I)
_NOTHING_TO_COMPARE = (
    "lacks a column of groups or a column of numbers, so there is nothing that I can compare."
)
_HEADER = ("total", "average", "rows")


class Frame(NamedTuple):
    name: str
    library: str
    rows: str


class Column(NamedTuple):
    name: str
    dtype: str
    facts: str

    @property
    def is_category(self) -> bool:
        """Whether the column has a small number of distinct, unmasked values."""
        match = _DISTINCT.search(self.facts)
        return match is not None and 2 <= _integer(match[1]) <= MAX_GROUPS and "•••" not in self.facts

    @property
    def common(self) -> list[tuple[str, int]]:
        values = self.facts.partition("; ")[2]
        return [(value, _integer(count)) for value, count in _COMMON.findall(values)]


class Question(NamedTuple):
    """Total or average of `number` by `category`."""

    frame: Frame
    category: Column
    number: Column
    measure: str

    @property
    def title(self) -> str:
        average = "average " if self.measure == "average" else ""
        return capital(f"{average}{self.number.name} by {self.category.name}")

    @property
    def plan(self) -> str:
        verb = "take the average of" if self.measure == "average" else "add up"
        return f"I {verb} `{self.number.name}` for each `{self.category.name}` and draw it."


def is_about_data(talk: Conversation) -> bool:
    """Whether to inspect the notebook: the tools are available, and the prompt mentions data."""
    return talk.sees_notebook and _DATA.search(talk.prompt) is not None


def explore(talk: Conversation, tools: Collection[str], brief: Brief) -> list[Action] | Brief:
    """The next call to inspect the data; if none is left, the brief with what is known of it."""
    listing, description, run = (next(iter(talk.results_of(name)), None) for name in (LIST, DESCRIBE, RUN))
    prompts = (talk.prompt, talk.earlier_prompts)
    call, sentence, problem = DemoCall("", {}), "", ""
    frame = question = data = None
    if listing is None:
        call, sentence = DemoCall(LIST, {}), "First I look at what the notebook holds."
    elif not listing.ok:
        problem = failure(listing)
    elif not talk.sends_values:
        problem = "I compare groups by their values, and this run sends none (`--data schema`)."
    elif (frame := _find_frame(listing.text, prompts)) is None:
        problem = "Among the notebook's variables there is no table with rows, such as a data frame."
    elif description is None:
        call = DemoCall(DESCRIBE, {"name": frame.name})
        sentence = f"`{frame.name}` is a table with {frame.rows} rows. I look at its columns."
    elif not description.ok:
        problem = failure(description)
    elif (question := _find_question(frame, description.text, prompts)) is None:
        problem = f"`{frame.name}` {_NOTHING_TO_COMPARE}"
    elif run is None:
        call, sentence = DemoCall(RUN, {"code": _code_for(question)}), question.plan
        sentence += " The code needs your approval before it runs." if RUN in talk.facts.asking_tools else ""
        problem = "I have no tool to run code."
    elif not run.ok:
        problem = failure(run)
    elif (data := _totals(question, run.text)) is None:
        problem = f"The output of `{RUN}` does not have the numbers that my code prints."
    if call.name in tools:
        return [Text(f"{sentence}\n"), call]
    return _with_findings(brief, question, data, problem)


def _with_findings(brief: Brief, question: Question | None, data: Data | None, problem: str) -> Brief:
    """A brief for a dashboard of the numbers, or of the counts in the description if there is a problem."""
    sentences = [problem] if problem else []
    data = data or (_counts(question) if question else None)
    if question is None or data is None:
        if PAGE.search(brief.prompt):
            sentences.append("So the numbers on the page are a sample, made up from the words of the prompt.")
        return replace(brief, findings=tuple(sentences))
    chart = f"Its chart is with the call of `{RUN}`, and `data.json` has the numbers."
    if problem:
        less = "So I only know how often the most common values occur, from the description of the table."
        sentences += [less, *_answers(data, brief.prompt)]
    else:
        sentences += [*_answers(data, brief.prompt), chart]
    name = name_in(brief.prompt) or (f"Rows by {data.axis}" if problem else question.title)
    return replace(brief, kind="dashboard", name=name, data=data, findings=tuple(sentences))


def _find_frame(listing: str, prompts: Sequence[str]) -> Frame | None:
    """The table named in a prompt, else the newest; None if no table has rows."""
    frames = [Frame(*fields) for fields in _LISTED.findall(listing) if fields[2] != "0"]
    named = [frame for text in prompts for frame in frames if re.search(rf"\b{frame.name}\b", text)]
    return next(iter([*named, *frames]), None)


def _find_question(frame: Frame, description: str, prompts: Sequence[str]) -> Question | None:
    """The question to compute; None if the table has no category or no numeric column."""
    columns = [Column(*fields) for fields in _COLUMN.findall(description)]
    categories = [column for column in columns if column.is_category]
    by_name = [column for column in categories if _mentions(prompts[0], column.name)]
    by_value = [
        column for column in categories if any(_mentions(prompts[0], value) for value, _ in column.common)
    ]
    category = _choose_column(by_name or by_value or categories, prompts, table("columns")["categories"])
    numbers = [column for column in columns if _NUMERIC.match(column.dtype)]
    amounts = [column for column in numbers if not _LABELS.search(column.name)]
    number = _choose_column(amounts or numbers, prompts, table("columns")["amounts"])
    if category is None or number is None:
        return None
    is_average = _AVERAGE.search(prompts[0]) or _RATES.search(number.name)
    return Question(frame, category, number, "average" if is_average else "total")


def _choose_column(columns: list[Column], prompts: Sequence[str], names: Sequence[str]) -> Column | None:
    """The column named in a prompt, else the first with one of `names`, else the first."""
    mentioned = (column for prompt in prompts for column in columns if _mentions(prompt, column.name))
    words = {column: re.split(r"[\W_]+", column.name.lower()) for column in columns}
    common = (column for name in names for column in columns if name in words[column])
    return next((column for candidates in (mentioned, common, columns) for column in candidates), None)


def _mentions(prompt: str, word: str) -> bool:
    """Whether the prompt contains this word, in the singular or the plural."""
    return re.search(rf"\b{re.escape(word)}(?:e?s)?\b", prompt, re.I) is not None


def _integer(text: str) -> int:
    return int(text.replace(",", ""))


def _code_for(question: Question) -> str:
    frame, category, column, measure = question
    table = f"{frame.name}{'.to_pandas()' if frame.library in ('polars', 'pyarrow') else ''}"
    # pandas 2 warns without `observed`.
    groups = f"{category.name!r}{', observed=True' if category.dtype == 'category' else ''}"
    return "\n".join(
        (
            f"groups = {table}.groupby({groups})[{column.name!r}]",
            "totals = groups.agg(total='sum', average='mean', rows='count').round(2)",
            f"totals = totals.sort_values({measure!r}, ascending=False).head({MAX_ROWS})",
            "print(totals.to_csv())",
            "to_file('data.json', totals)",
            f"totals[{measure!r}][::-1].plot.barh(title={question.title!r}, figsize=(6, 3.5));",
        )
    )


def _totals(question: Question, output: str) -> Data | None:
    """The numbers printed by the code; None if missing, for example because the user edited the code."""
    rows = list(csv.reader(output.splitlines()))
    header = [question.category.name, *_HEADER]
    entries: list[tuple[str, dict[str, float]]] = []
    for row in rows[rows.index(header) + 1 :] if header in rows else []:
        try:
            entries.append((row[0], dict(zip(_HEADER, map(float, row[1:]), strict=True))))
        except (IndexError, ValueError):  # the end of the numbers
            break
    name = question.number.name
    titles = {"total": f"Total {name}", "average": f"Average {name}", "rows": "Rows"}
    order = sorted(_HEADER, key=lambda name: name != question.measure)  # the requested measure first
    columns = tuple((titles[name], tuple(values[name] for _, values in entries)) for name in order)
    labels = tuple(label for label, _ in entries)
    source = f"`{question.frame.name}`"
    data = Data(axis=question.category.name, labels=labels, columns=columns, is_real=True, source=source)
    return data if entries else None


def _counts(question: Question) -> Data | None:
    """The value counts in the description; None for fewer than two values."""
    labels = tuple(value for value, _ in question.category.common)
    columns = (("Rows", tuple(float(count) for _, count in question.category.common)),)
    source = f"the description of `{question.frame.name}`"
    data = Data(axis=question.category.name, labels=labels, columns=columns, is_real=True, source=source)
    return data if len(labels) > 1 else None


def _answers(data: Data, prompt: str) -> list[str]:
    """A sentence about the largest number, which answers “what sells best?”, and one about those in the prompt."""
    measure, values = data.columns[0]
    name = measure[:1].lower() + measure[1:]
    leader, is_average = number(values[0]), measure.startswith("Average")
    if min(values) == max(values):
        sentence = f"All {len(values)} {data.axis} values are equal by {name} in {data.source}: {leader}."
    else:
        if not is_average and sum(values) > 0 and len(values) < MAX_ROWS and min(values) >= 0:
            # Deliberately not computed by code, to show how `run.unsupported` and the page mark such a number.
            leader += f", {values[0] / sum(values):.0%} of all"
        sentence = f"**{data.labels[0]}** leads by {name} in {data.source}: {leader}."
    pairs = zip(data.labels, values, strict=True)
    groups = [f"{label} {number(value)}" for label, value in pairs if _mentions(prompt, label)]
    return [sentence, *([f"{measure}: {', '.join(groups)}."] if groups else [])]
