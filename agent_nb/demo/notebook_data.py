"""Inspects the data of a notebook, if the prompt asks for it and the tools are available."""

import csv
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from agent_nb.demo.brief import Brief, Data, name_in
from agent_nb.demo.conversation import DESCRIBE, LIST, RUN, Action, Conversation, DemoCall, Say, Use
from agent_nb.demo.dashboard import number
from agent_nb.demo.own_tools import failure
from agent_nb.demo.texts import table

_LISTED = re.compile(r"^- (\w+): (?:(\w+)\.)?\w+, ([\d,]+) rows? x [\d,]+ columns?;", re.MULTILINE)
_FACTS = re.compile(r"^- (.{1,200}): (\w[^,\n]{0,200}), [\d,]{1,20} nulls?(.*)$", re.MULTILINE)
_NUMERIC = re.compile(r"u?int|float|decimal|double", re.I)
_DISTINCT = re.compile(r", ([\d,]+) distinct")
_COMMON = re.compile(r"(?:most common: |, )(.{1,200}?) \(([\d,]+)\)")
_MOST_GROUPS = 50
_LABELS = re.compile(r"(?:^|_| )(?:id|year|month|day|zip|postcode|lat|lon|index|number|no)$", re.I)
"""Names of numeric columns that are not amounts."""
_RATES = re.compile(
    r"price|rate|ratio|share|percent|score|rating|temperature|\bage\b|speed|length|width|height|mass", re.I
)
"""Names of numeric columns whose sum is meaningless."""
_AVERAGE = re.compile(r"\b(?:average|mean|typical)", re.I)


@dataclass(frozen=True, slots=True)
class Frame:
    name: str
    library: str
    rows: str


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    dtype: str
    facts: str

    @property
    def is_number(self) -> bool:
        return _NUMERIC.match(self.dtype) is not None

    @property
    def is_category(self) -> bool:
        """Whether the column has a small number of distinct, unmasked values."""
        match = _DISTINCT.search(self.facts)
        return match is not None and 2 <= _integer(match[1]) <= _MOST_GROUPS and "•••" not in self.facts

    @property
    def common(self) -> list[tuple[str, int]]:
        _, _, values = self.facts.partition("; ")
        return [(value, _integer(count)) for value, count in _COMMON.findall(values)]


@dataclass(frozen=True, slots=True)
class Question:
    """Total or average of `number` by `category`."""

    frame: Frame
    category: Column
    number: Column
    measure: str

    @property
    def title(self) -> str:
        text = f"{'average ' if self.measure == 'average' else ''}{self.number.name} by {self.category.name}"
        return text[:1].upper() + text[1:]


def find_frame(listing: str, prompt: str, earlier: str = "") -> Frame | None:
    """The table named in the prompt or an earlier one, else the newest; None if no table has rows."""
    frames = [Frame(*fields) for fields in _LISTED.findall(listing) if fields[2] != "0"]
    named = (frame for text in (prompt, earlier) for frame in frames if re.search(rf"\b{frame.name}\b", text))
    return next(named, frames[0] if frames else None)


def find_question(frame: Frame, description: str, prompt: str, earlier: str = "") -> Question | None:
    """The question to compute; None if the table has no category or no numeric column."""
    columns = [Column(*fields) for fields in _FACTS.findall(description)]
    categories = [column for column in columns if column.is_category]
    by_name = [column for column in categories if _mentions(prompt, column.name)]
    by_value = [
        column for column in categories if any(_mentions(prompt, value) for value, _ in column.common)
    ]
    prompts = (prompt, earlier)
    category = _choose_column(by_name or by_value or categories, prompts, table("columns")["categories"])
    numbers = [column for column in columns if column.is_number]
    amounts = [column for column in numbers if not _LABELS.search(column.name)]
    number = _choose_column(amounts or numbers, prompts, table("columns")["amounts"])
    if category is None or number is None:
        return None
    is_average = _AVERAGE.search(prompt) or _RATES.search(number.name)
    return Question(frame, category, number, "average" if is_average else "total")


def _choose_column(columns: list[Column], prompts: Sequence[str], names: Sequence[str]) -> Column | None:
    """The column named in a prompt, else the first with one of `names`, else the first."""
    mentioned = (column for prompt in prompts for column in columns if _mentions(prompt, column.name))
    common = (column for name in names for column in columns if name in _words(column.name))
    return next(mentioned, next(common, columns[0] if columns else None))


def _words(name: str) -> list[str]:
    return re.split(r"[\W_]+", name.lower())


def _mentions(prompt: str, word: str) -> bool:
    """Whether the prompt contains this word, in the singular or the plural."""
    return re.search(rf"\b{re.escape(word)}(?:e?s)?\b", prompt, re.I) is not None


def _integer(text: str) -> int:
    return int(text.replace(",", ""))


MOST_ROWS = 12
_HEADER = ("total", "average", "rows")
_DATA = re.compile(
    r"\b(?:df|data|data ?frames?|data ?sets?|variables?|columns?|tables?|charts?|plots?|graphs?|draw|dashboards?"
    r"|reports?|numbers|best|worst|most|least|top|highest|lowest|largest|smallest|averages?|totals?|sells?|sold|sales"
    r"|compare|comput\w+|calculat\w+|analy\w+|than|fewer|how many|median)\b",
    re.I,
)
_PAGE = re.compile(r"\b(?:dashboards?|(?:web ?)?(?:page|site)|reports?)\b", re.I)
NO_TABLE = "Among the notebook's variables there is no table with rows, such as a data frame."
NO_QUESTION = (
    "`{frame}` lacks a column of groups or a column of numbers, so there is nothing that I can compare."
)
NOT_PRINTED = "The output of `{run}` does not have the numbers that my code prints."
NOT_OFFERED = "I have no tool to run code."


def code_for(question: Question) -> str:
    table = (
        f"{question.frame.name}{'.to_pandas()' if question.frame.library in ('polars', 'pyarrow') else ''}"
    )
    category = repr(question.category.name)
    # pandas 2 warns without `observed`.
    groups = f"{category}, observed=True" if question.category.dtype == "category" else category
    lines = (
        f"groups = {table}.groupby({groups})[{question.number.name!r}]",
        "totals = groups.agg(total='sum', average='mean', rows='count').round(2)",
        f"totals = totals.sort_values({question.measure!r}, ascending=False).head({MOST_ROWS})",
        "print(totals.to_csv())",
        "to_file('data.json', totals)",
        f"totals[{question.measure!r}][::-1].plot.barh(title={question.title!r}, figsize=(6, 3.5));",
    )
    return "\n".join(lines)


def read_totals(question: Question, output: str) -> Data | None:
    """The numbers printed by the code; None if missing, for example because the user edited the code."""
    rows = list(csv.reader(output.splitlines()))
    header = [question.category.name, *_HEADER]
    if header not in rows:
        return None
    entries: list[tuple[str, list[float]]] = []
    for row in rows[rows.index(header) + 1 :]:
        try:
            entries.append((row[0], [float(cell) for cell in row[1:]]))
        except (IndexError, ValueError):  # the end of the numbers
            break
    entries = [(label, values) for label, values in entries if len(values) == len(_HEADER)]
    if not entries:
        return None
    number = question.number.name
    names = {"total": f"Total {number}", "average": f"Average {number}", "rows": "Rows"}
    order = sorted(_HEADER, key=lambda name: name != question.measure)  # the requested measure first
    return Data(
        axis=question.category.name,
        labels=tuple(label for label, _ in entries),
        columns=tuple(
            (names[name], tuple(values[_HEADER.index(name)] for _, values in entries)) for name in order
        ),
        is_real=True,
        source=f"`{question.frame.name}`",
    )


def read_counts(question: Question) -> Data | None:
    """The value counts in the description; None for fewer than two values."""
    common = question.category.common
    if len(common) < 2:
        return None
    return Data(
        axis=question.category.name,
        labels=tuple(value for value, _ in common),
        columns=(("Rows", tuple(float(count) for _, count in common)),),
        is_real=True,
        source=f"the description of `{question.frame.name}`",
    )


@dataclass(frozen=True, slots=True)
class Findings:
    frame: Frame | None = None
    question: Question | None = None
    data: Data | None = None
    problem: str = ""
    """A sentence about a failure; empty without one."""


def is_about_data(talk: Conversation) -> bool:
    """Whether to inspect the notebook: the tools are available, and the prompt mentions data."""
    return talk.sees_notebook and _DATA.search(talk.prompt) is not None


def wants_page(talk: Conversation) -> bool:
    return _PAGE.search(talk.prompt) is not None


def explore(talk: Conversation, tools: Collection[str]) -> list[Action]:
    findings = read_findings(talk)
    if findings.problem:
        return []
    if not talk.called(LIST):
        call, sentence = DemoCall(LIST, {}), "First I look at what the notebook holds."
    elif (frame := findings.frame) and not talk.called(DESCRIBE):
        call = DemoCall(DESCRIBE, {"name": frame.name})
        sentence = f"`{frame.name}` is a table with {frame.rows} rows. I look at its columns."
    elif (question := findings.question) and RUN in tools and not talk.called(RUN):
        verb = "take the average of" if question.measure == "average" else "add up"
        call = DemoCall(RUN, {"code": code_for(question)})
        sentence = f"I {verb} `{question.number.name}` for each `{question.category.name}` and draw it."
        sentence += " The code needs your approval before it runs." if RUN in talk.asking_tools else ""
    else:
        return []
    return [Say(f"{sentence}\n"), call] if call.name in tools else []


def read_findings(talk: Conversation) -> Findings:
    listing, description = _result(talk, LIST), _result(talk, DESCRIBE)
    if listing is None:
        return Findings()
    if not listing.ok:
        return Findings(problem=failure(listing))
    frame = find_frame(_text(listing), talk.prompt, talk.earlier_prompts)
    if frame is None:
        return Findings(problem=NO_TABLE)
    if description is None:
        return Findings(frame)
    if not description.ok:
        return Findings(frame, problem=failure(description))
    question = find_question(frame, _text(description), talk.prompt, talk.earlier_prompts)
    if question is None:
        return Findings(frame, problem=NO_QUESTION.format(frame=frame.name))
    return _with_data(Findings(frame, question), question, _result(talk, RUN))


def _with_data(findings: Findings, question: Question, run: Use | None) -> Findings:
    """The findings with the numbers printed by the code, or else those of the description."""
    if run is None:
        return findings
    data = read_totals(question, _text(run)) if run.ok else None
    if data is not None:
        return replace(findings, data=data)
    problem = NOT_PRINTED.format(run=RUN) if run.ok else failure(run)
    return replace(findings, data=read_counts(question), problem=problem)


def final_findings(talk: Conversation) -> Findings:
    findings = read_findings(talk)
    if findings.question is None or findings.data is not None or findings.problem:
        return findings
    return replace(findings, data=read_counts(findings.question), problem=NOT_OFFERED)


def brief_for(brief: Brief, findings: Findings) -> Brief:
    """A brief for a dashboard of the numbers, or the same brief without numbers."""
    if findings.data is None or findings.question is None:
        return brief
    title = findings.question.title if not findings.problem else f"Rows by {findings.question.category.name}"
    return replace(brief, kind="dashboard", name=name_in(brief.prompt) or title, data=findings.data)


def sentences(findings: Findings, prompt: str, *, on_page: bool) -> tuple[str, ...]:
    problem = [findings.problem] if findings.problem else []
    if findings.data is None:
        sample = ["So the numbers on the page are a sample, made up from the words of the prompt."]
        return (*problem, *(sample if on_page else []))
    if findings.problem:
        less = "So I only know how often the most common values occur, from the description of the table."
        return (*problem, less, _leader(findings.data), *_numbers_in_prompt(findings.data, prompt))
    chart = f"Its chart is with the call of `{RUN}`, and `data.json` has the numbers."
    return (_leader(findings.data), *_numbers_in_prompt(findings.data, prompt), chart)


def _leader(data: Data) -> str:
    """A sentence about the category with the largest number, which answers “what sells best?”."""
    measure, values = data.columns[0]
    name = measure[:1].lower() + measure[1:]
    if min(values) == max(values):
        return (
            f"All {len(values)} {data.axis} values are equal by {name} in {data.source}: {number(values[0])}."
        )
    share = ""
    if not measure.startswith("Average") and sum(values) > 0 and len(values) < MOST_ROWS and min(values) >= 0:
        # Deliberately not computed by code, to show how `run.unsupported` and the page mark such a number.
        share = f", {values[0] / sum(values):.0%} of all"
    return f"**{data.labels[0]}** leads by {name} in {data.source}: {number(values[0])}{share}."


def _numbers_in_prompt(data: Data, prompt: str) -> list[str]:
    """The numbers of the groups named in the prompt."""
    measure, values = data.columns[0]
    groups = [
        f"{label} {number(value)}"
        for label, value in zip(data.labels, values, strict=True)
        if _mentions(prompt, label)
    ]
    return [f"{measure}: {', '.join(groups)}."] if groups else []


def _result(talk: Conversation, name: str) -> Use | None:
    return next((use for use in talk.called(name) if use.result is not None), None)


def _text(use: Use) -> str:
    return use.result.text if use.result else ""
