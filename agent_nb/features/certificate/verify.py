"""Runs a certificate again and compares each number that it claims as computed."""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent_nb._base.table import Table
from agent_nb._base.text import listed, plural, printable_line
from agent_nb._base.wire import Json
from agent_nb.features.certificate.certificate import WORDS, Certificate, Number, versions_of
from agent_nb.features.certificate.data import Stored
from agent_nb.features.certificate.fresh_kernel import Job, Outcome, run
from agent_nb.features.certificate.inputs import Input
from agent_nb.plugins import ConfigError
from agent_nb.plugins.engine import traced_numbers

SAME, DIFFERENT, CANNOT = 0, 1, 2
"""Exit statuses."""
_UNSTABLE = (
    ("random numbers without a seed", r"\brandom\b|\bsample\(|default_rng\(\)", r"seed|random_state|default_rng\([^)]"),
    ("the time", r"\b(?:now|today|time|perf_counter|monotonic|getpid)\(\)", ""),
    ("the network", r"https?://|\b(?:requests|urllib|httpx|socket|aiohttp)\b", ""),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where inputs come from that are not in the certificate."""

    data: tuple[Stored, ...] = ()
    before: tuple[str, ...] = ()
    home: Path | None = None
    seconds: float = 300.0


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification:
    rows: Sequence[tuple[str, str, str]]
    """What it is about, its grade and the result."""
    notes: Sequence[str]
    status: int

    @property
    def is_same(self) -> bool:
        return self.status == SAME

    @property
    def text(self) -> str:
        """The outcome in one line, for a badge."""
        bad = [f"{what}: {result}" for what, grade, result in self.rows if grade == _BAD]
        return "; ".join(bad[:3]) or self.notes[0]

    @property
    def table(self) -> Table:
        rows = [[*map(printable_line, row)] for row in self.rows]
        return Table(("", "grade", "result"), rows, "There is nothing to compare.", "\n".join(self.notes))

    def to_json(self) -> Json:
        rows = [dict(zip(("what", "grade", "result"), row, strict=True)) for row in self.rows]
        return {"status": self.status, "rows": rows, "notes": [*self.notes]}

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


_BAD = "not reproduced"


def needed(made: Certificate) -> list[Input]:
    """The inputs without which the code cannot run."""
    return [each for each in made.inputs if each.kind != "code" and each.use == "read"]


def check_complete(made: Certificate, sources: Sources) -> None:
    """Raise `ConfigError` unless the code can run."""
    if made.is_masked:
        raise ConfigError("Parts of the code are masked (•••), so it cannot be run.")
    there = {each.name for each in (*made.data, *sources.data)}
    missing = [each.name for each in needed(made) if each.name not in there]
    if missing and not sources.before:
        raise ConfigError(
            f"The code needs {listed(missing)}, which the file does not contain. Give them with `--notebook FILE` or"
            " `--data FOLDER`; what was computed stays computed, and is not reproduced."
        )


def verify(
    made: Certificate,
    sources: Sources,
    progress: Callable[[str], None] = lambda text: None,
    *,
    strict: bool = False,
) -> Verification:
    """Run the code in a fresh kernel and compare inputs and numbers; raises `ConfigError` if it cannot run."""
    check_complete(made, sources)
    with tempfile.TemporaryDirectory(prefix="agent_nb-", ignore_cleanup_errors=True) as folder:
        job = Job(
            before=sources.before,
            names=[each.name for each in made.inputs if each.kind != "code"],
            codes=made.codes,
            data=(*made.data, *sources.data),
            salt=made.salt,
            folder=Path(folder),
            home=sources.home,
            seconds=sources.seconds,
        )
        first, *outcomes = run(job, progress)
    _check_ran(outcomes, made)
    inputs = [*_input_rows(made, first.digests or {})]
    numbers = [*_number_rows(made, [outcome.output for outcome in outcomes], strict=strict)]
    failed = (
        [("cell " + str(len(outcomes)), _BAD, outcomes[-1].error)] if outcomes and outcomes[-1].error else []
    )
    rows = [*inputs, *failed, *numbers]
    is_bad = any(grade == _BAD for _, grade, _ in rows)
    notes = [_outcome(made, numbers), *_reasons(made, is_bad=is_bad)]
    return Verification(rows=rows, notes=notes, status=DIFFERENT if is_bad else SAME)


def _check_ran(outcomes: Sequence[Outcome], made: Certificate) -> None:
    last = outcomes[-1] if outcomes else Outcome("")
    if last.kind in ("ModuleNotFoundError", "time", "kernel"):
        hint = ""
        if last.kind == "ModuleNotFoundError" and (name := re.search(r"'([\w.]+)'", last.error)):
            package = name[1].partition(".")[0]
            hint = f" The run had `{package}` {made.packages.get(package, '')}: install it."
        raise ConfigError(
            f"Cell {len(outcomes)} could not run: {last.error}.{hint} What was computed stays computed, and is not"
            " reproduced."
        )


def _input_rows(made: Certificate, digests: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, str]]:
    partial = {each.name: each.left_out for each in made.data if each.left_out}
    for each in made.inputs:
        if each.kind == "code" or (each.use != "read" and each.name not in digests):
            continue
        what = f"input {each.name}"
        kind, size, digest = digests.get(each.name, ("nothing", "", ""))
        if each.name in partial:
            yield (
                what,
                "",
                f"not compared: without {listed(partial[each.name])}, which is named like a secret",
            )
        elif not each.digest:
            yield what, "", f"not compared: its digest was not recorded ({each.note})"
        elif digest == each.digest:
            yield what, "the same", each.when if each.when != "before it was read" else ""
        else:
            was, now = f"{each.type} {each.size}".strip(), f"{kind} {size}".strip()
            yield what, _BAD, f"{now} instead of {was}" if was != now else "other contents"


def _number_rows(
    made: Certificate, outputs: Sequence[str], *, strict: bool
) -> Iterator[tuple[str, str, str]]:
    """A row for each number of the answer. One that the certificate does not list is found in the text."""
    listed_places = {each.place for each in made.numbers}
    for number in traced_numbers(made.answer, made.typed, lambda: ()):
        if (number.path or "", number.start, number.text) not in listed_places:
            yield number.text, _BAD, "the certificate does not say where it is from"
    found: dict[int, dict[tuple[str, int, str], bool]] = {}
    for each in made.numbers:
        if each.source != "code":
            yield each.text, _BAD if strict and each.source != "prompt" else "", WORDS[each.source]
            continue
        if each.cell not in found:
            output = outputs[each.cell - 1] if 0 < each.cell <= len(outputs) else ""
            traced = traced_numbers(made.answer, made.typed, partial(list, [("here", output)]))
            found[each.cell] = {
                (row.path or "", row.start, row.text): row.match.is_exact for row in traced if row.match
            }
        is_exact = found[each.cell].get(each.place)
        yield each.text, *_grade(each, is_exact)


def _grade(each: Number, is_exact: bool | None) -> tuple[str, str]:
    if is_exact is None:
        return _BAD, f"the output of cell {each.cell} does not have it now"
    if each.policy == "exact" and not is_exact:
        return _BAD, f"cell {each.cell} gives a value that only rounds to it"
    return "reproduced", f"cell {each.cell}, {each.policy}"


def _outcome(made: Certificate, rows: Sequence[tuple[str, str, str]]) -> str:
    count = sum(grade == "reproduced" for _, grade, _ in rows)
    if not made.claims:
        return "No number is claimed as computed."
    return (
        f"Ran again in a fresh kernel: {count} of {plural(len(made.claims), 'computed number')} reproduced."
    )


def _reasons(made: Certificate, *, is_bad: bool) -> Iterator[str]:
    """What may explain other results, and what was not compared."""
    here = versions_of(made.packages)
    others = [f"{name} {was} (here {here[name]})" for name, was in made.packages.items() if here[name] != was]
    if others:
        yield f"Other versions than those of the run: {', '.join(map(printable_line, others))}."
    code = "\n".join(made.codes)
    for words, pattern, seeded in _UNSTABLE:
        if is_bad and re.search(pattern, code) and not (seeded and re.search(seeded, code)):
            yield f"The code uses {words}, which gives other results each time: what was computed stays computed."
    yield "Not proven: the words of question and answer, the date, the model, and who accepted what."
