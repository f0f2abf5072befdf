"""How the demo model looks at the data of a notebook, if it has the tools for that and the prompt asks for it."""

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
"""Names of numbers that are not amounts."""
_RATES = re.compile(
    r"price|rate|ratio|share|percent|score|rating|temperature|\bage\b|speed|length|width|height|mass", re.I
)
"""Names of numbers whose sum says nothing."""
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
        """Whether it has a few different values, and they are not masked."""
        found = _DISTINCT.search(self.facts)
        return found is not None and 2 <= _integer(found[1]) <= _MOST_GROUPS and "•••" not in self.facts

    @property
    def common(self) -> list[tuple[str, int]]:
        _, _, values = self.facts.partition("; ")
        return [(value, _integer(count)) for value, count in _COMMON.findall(values)]


@dataclass(frozen=True, slots=True)
class Question:
    """How large is `number` for each value of `category`?"""

    frame: Frame
    category: Column
    number: Column
    measure: str

    @property
    def title(self) -> str:
        text = f"{'average ' if self.measure == 'average' else ''}{self.number.name} by {self.category.name}"
        return text[:1].upper() + text[1:]


def find_frame(listed: str, prompt: str, earlier: str = "") -> Frame | None:
    """The table that the prompt or an earlier one names, else the newest; None if there is no table with rows."""
    frames = [Frame(*found) for found in _LISTED.findall(listed) if found[2] != "0"]
    named = (frame for text in (prompt, earlier) for frame in frames if re.search(rf"\b{frame.name}\b", text))
    return next(named, frames[0] if frames else None)


def find_question(frame: Frame, described: str, prompt: str, earlier: str = "") -> Question | None:
    """What to compute; None if the table has no category or no number."""
    columns = [Column(*found) for found in _FACTS.findall(described)]
    categories = [column for column in columns if column.is_category]
    named = [column for column in categories if _names(prompt, column.name)]
    valued = [column for column in categories if any(_names(prompt, value) for value, _ in column.common)]
    both = (prompt, earlier)
    category = _chosen(named or valued or categories, both, table("columns")["categories"])
    numbers = [column for column in columns if column.is_number]
    amounts = [column for column in numbers if not _LABELS.search(column.name)]
    number = _chosen(amounts or numbers, both, table("columns")["amounts"])
    if category is None or number is None:
        return None
    is_average = _AVERAGE.search(prompt) or _RATES.search(number.name)
    return Question(frame, category, number, "average" if is_average else "total")


def _chosen(columns: list[Column], prompts: Sequence[str], usual: Sequence[str]) -> Column | None:
    """The column that a prompt names, or the one with the best of the usual names, or the first."""
    named = (each for prompt in prompts for each in columns if _names(prompt, each.name))
    known = (each for name in usual for each in columns if name in re.split(r"[\W_]+", each.name.lower()))
    return next(named, next(known, columns[0] if columns else None))


def _names(prompt: str, word: str) -> bool:
    """Whether the prompt has this word, in the singular or the plural."""
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
    # pandas 2 warns without it.
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


@dataclass(frozen=True, slots=True)
class Findings:
    frame: Frame | None = None
    question: Question | None = None
    data: Data | None = None
    problem: str = ""
    """A sentence about what could not be found or done; can be empty."""


def is_about_data(talk: Conversation) -> bool:
    """Whether to look at the notebook: there are tools for it, and the prompt has words for data."""
    return talk.sees_notebook and _DATA.search(talk.prompt) is not None


def wants_page(talk: Conversation) -> bool:
    return _PAGE.search(talk.prompt) is not None


def explore(talk: Conversation, tools: Collection[str]) -> list[Action]:
    known = read_findings(talk)
    if known.problem:
        return []
    if not talk.called(LIST):
        call, sentence = DemoCall(LIST, {}), "First I look at what the notebook holds."
    elif known.frame and not talk.called(DESCRIBE):
        call = DemoCall(DESCRIBE, {"name": known.frame.name})
        sentence = f"`{known.frame.name}` is a table with {known.frame.rows} rows. I look at its columns."
    elif known.question and RUN in tools and not talk.called(RUN):
        question = known.question
        verb = "take the average of" if question.measure == "average" else "add up"
        call = DemoCall(RUN, {"code": code_for(question)})
        sentence = f"I {verb} `{question.number.name}` for each `{question.category.name}` and draw it."
        sentence += " The code needs your approval before it runs." if RUN in talk.asking_tools else ""
    else:
        return []
    return [Say(f"{sentence}\n"), call] if call.name in tools else []


def read_findings(talk: Conversation) -> Findings:
    listed, described = _result(talk, LIST), _result(talk, DESCRIBE)
    if listed is None:
        return Findings()
    if not listed.ok:
        return Findings(problem=failure(listed))
    frame = find_frame(_text(listed), talk.prompt, talk.earlier_prompts)
    if frame is None:
        return Findings(problem=NO_TABLE)
    if described is None:
        return Findings(frame)
    if not described.ok:
        return Findings(frame, problem=failure(described))
    question = find_question(frame, _text(described), talk.prompt, talk.earlier_prompts)
    if question is None:
        return Findings(frame, problem=NO_QUESTION.format(frame=frame.name))
    return _answered(Findings(frame, question), question, _result(talk, RUN))


def _answered(known: Findings, question: Question, ran: Use | None) -> Findings:
    """With the numbers that the code printed, or else with those of the description."""
    if ran is None:
        return known
    data = read_totals(question, _text(ran)) if ran.ok else None
    if data is not None:
        return replace(known, data=data)
    problem = NOT_PRINTED.format(run=RUN) if ran.ok else failure(ran)
    return replace(known, data=read_counts(question), problem=problem)


def concluded(talk: Conversation) -> Findings:
    known = read_findings(talk)
    if known.question is None or known.data is not None or known.problem:
        return known
    return replace(known, data=read_counts(known.question), problem=NOT_OFFERED)


def brief_for(brief: Brief, known: Findings) -> Brief:
    """The dashboard of the numbers, or the brief as it was if there are none."""
    if known.data is None or known.question is None:
        return brief
    title = known.question.title if not known.problem else f"Rows by {known.question.category.name}"
    return replace(brief, kind="dashboard", name=name_in(brief.prompt) or title, data=known.data)


def sentences(known: Findings, prompt: str, *, on_page: bool) -> tuple[str, ...]:
    problem = [known.problem] if known.problem else []
    if known.data is None:
        sample = ["So the numbers on the page are a sample, made up from the words of the prompt."]
        return (*problem, *(sample if on_page else []))
    if known.problem:
        less = "So I only know how often the most common values occur, from the description of the table."
        return (*problem, less, _leader(known.data), *_named(known.data, prompt))
    chart = f"Its chart is with the call of `{RUN}`, and `data.json` has the numbers."
    return (_leader(known.data), *_named(known.data, prompt), chart)


def _leader(data: Data) -> str:
    """The category with the largest number, which answers “what sells best?”."""
    measure, values = data.columns[0]
    name = measure[:1].lower() + measure[1:]
    if min(values) == max(values):
        return (
            f"All {len(values)} {data.axis} values are equal by {name} in {data.source}: {number(values[0])}."
        )
    share = ""
    if not measure.startswith("Average") and sum(values) > 0 and len(values) < MOST_ROWS and min(values) >= 0:
        # On purpose no code has computed it: it shows how `run.unsupported` and the page mark such a number.
        share = f", {values[0] / sum(values):.0%} of all"
    return f"**{data.labels[0]}** leads by {name} in {data.source}: {number(values[0])}{share}."


def _named(data: Data, prompt: str) -> list[str]:
    """The numbers of the groups that the prompt names."""
    measure, values = data.columns[0]
    groups = [
        f"{label} {number(value)}"
        for label, value in zip(data.labels, values, strict=True)
        if _names(prompt, label)
    ]
    return [f"{measure}: {', '.join(groups)}."] if groups else []


def _result(talk: Conversation, name: str) -> Use | None:
    return next((use for use in talk.called(name) if use.result is not None), None)


def _text(use: Use) -> str:
    return use.result.text if use.result else ""
