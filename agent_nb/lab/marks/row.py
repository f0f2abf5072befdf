"""One student's row: what the notebook, the log and the runs of a submission say."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from agent_nb._base.text import sha256
from agent_nb.errors import AgentError
from agent_nb.files import Files
from agent_nb.files.file_paths import entry_of
from agent_nb.lab.log import Entry, status_of
from agent_nb.lab.log_reader import LogReading, read_log
from agent_nb.lab.marks.archive import Submission, opened
from agent_nb.lab.notebook_reader import read_notebook
from agent_nb.render.summary import plural
from agent_nb.run import Run
from agent_nb.run.saved import DAMAGES, read_run

_NOT_ASKED = ("demo", "replayed")
"""Runs that show the same page to everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What is known of a submission."""

    student: str
    checks_passed: int = 0
    checks_total: int = 0
    runs: int = 0
    hints: int = 0
    held_back: int = 0
    cost: float = 0.0
    """US dollars, without runs of unknown price."""
    hand_edits: int = 0
    chain_breaks: int = 0
    same_page_as: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""
    """Why the submission could not be read; the other fields are empty then."""
    pages: frozenset[str] = frozenset()
    """The hashes of the student's pages."""
    supplied: frozenset[str] = frozenset()
    """The hashes of files that the demo model and cassettes made, as the submission says."""


def read_row(student: str, path: Path) -> Row:
    """The row of a submission. Whatever is wrong with the file is in `error`."""
    try:
        with opened(path) as submission:
            return _row(student, submission)
    except AgentError as error:
        return Row(student=student, error=str(error))


def _row(student: str, submission: Submission) -> Row:
    notebook, data = read_notebook(submission.notebook()), submission.log()
    log = read_log(data)
    pages, supplied = _hashes_in(log.entries)
    ids: set[str] = set()
    damaged = 0
    for name in submission.run_names():
        try:
            run = read_run(submission.run(name), name)
            own, others = _hashes_of(run)
            ids.add(run.id)
        except DAMAGES:
            damaged += 1
            continue
        pages |= own
        supplied |= others
    return Row(
        student=student,
        checks_passed=len(notebook.passed),
        checks_total=len(notebook.checks),
        runs=len(log.entries),
        hints=sum(len(entry.hints) for entry in log.entries),
        held_back=sum(entry.held_back for entry in log.entries),
        cost=round(sum(entry.cost or 0 for entry in log.entries), 6),
        hand_edits=sum(len(entry.edited) for entry in log.entries),
        chain_breaks=len(log.breaks),
        notes=(
            *(_log_notes(log, ids) if data else ["There is no log."]),
            *([f"{plural(damaged, 'run')} damaged or too large."] if damaged else []),
            *notebook.remarks(),
        ),
        pages=frozenset(pages),
        supplied=frozenset(supplied),
    )


def _log_notes(log: LogReading, ids: set[str]) -> Iterator[str]:
    yield from log.remarks()
    if unknown := sum(entry.cost is None for entry in log.entries):
        yield f"The cost of {plural(unknown, 'run')} is not known."
    if unlogged := len(ids - {entry.id for entry in log.entries}):
        yield f"{plural(unlogged, 'run')} not in the log."


def _hashes_in(entries: Iterable[Entry]) -> tuple[set[str], set[str]]:
    """The hashes of the pages in a log: the student's own, and supplied ones."""
    pages: set[str] = set()
    supplied: set[str] = set()
    for entry in entries:
        page = entry_of(entry.files)
        if entry.status in _NOT_ASKED:
            supplied.update(entry.files.values())
        elif page is not None:
            pages.add(entry.files[page])
    return pages, supplied


def _hashes_of(run: Run) -> tuple[set[str], set[str]]:
    """The same of a run. Its page is the student's own if it was edited by hand, whoever has made it."""
    is_supplied = status_of(run) in _NOT_ASKED
    made = run.files if run.given_files is None else run.given_files
    supplied = {sha256(content) for content in made.values()} if is_supplied else set()
    pages = _page(run.files) | (set() if is_supplied else _page(made))
    return pages, supplied


def _page(files: Files) -> set[str]:
    return {sha256(files[files.entry])} if files.entry else set()


def with_same_pages(rows: Iterable[Row], supplied: Iterable[str] = ()) -> list[Row]:
    """The rows, each with the students who have one of its pages too; what was supplied to all does not count.

    A submission can say of any page that it was supplied. It was if most of those who have it say so.
    """
    rows = list(rows)
    claims = Counter(digest for row in rows for digest in row.supplied)
    claims.subtract(digest for row in rows for digest in row.pages - row.supplied)
    known = {*supplied, sha256(""), *(digest for digest, most in claims.items() if most > 0)}
    owners: dict[str, list[str]] = {}
    for row in rows:
        for digest in (row.pages | row.supplied) - known:
            owners.setdefault(digest, []).append(row.student)
    return [
        replace(
            row,
            same_page_as=tuple(
                sorted(
                    {other for digest in row.pages | row.supplied for other in owners.get(digest, ())}
                    - {row.student}
                )
            ),
        )
        for row in rows
    ]
