"""Runs a certificate again and compares each number that it claims as computed."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from agent_nb._base.table import Table
from agent_nb._base.text import listed, plural, printable_line
from agent_nb._base.wire import Json
from agent_nb.features.certificate.certificate import EXACT, Certificate, versions_of
from agent_nb.features.certificate.fresh_kernel import DIED, STOPPED, Inputs, Outcome, run_cells
from agent_nb.plugins import ConfigError
from agent_nb.plugins.engine import TracedNumber, traced_numbers

SAME, DIFFERENT, CANNOT = 0, 1, 2
"""Exit statuses."""
_REPRODUCED, _NOT = "reproduced", "not reproduced"
_COLUMNS = ("what", "grade", "result")
_STAYS = "What was computed stays computed, and is not reproduced."
_UNSTABLE = {
    "random numbers without a seed": r"\brandom\b|\.sample\(|default_rng\(\)",
    "the time": r"\b(?:now|today|time|time_ns|perf_counter|monotonic)\(\)",
    "the network": r"https?://|\b(?:requests|urllib|httpx|socket|aiohttp)\b",
}
_SEED = re.compile(r"seed|random_state|default_rng\(\w")


class Compared(NamedTuple):
    what: str
    grade: str
    result: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification:
    rows: Sequence[Compared]
    notes: Sequence[str]
    """The first is the outcome."""

    @property
    def status(self) -> int:
        return DIFFERENT if any(row.grade == _NOT for row in self.rows) else SAME

    @property
    def is_same(self) -> bool:
        return self.status == SAME

    @property
    def text(self) -> str:
        """The outcome in one line, for a badge."""
        return (
            "; ".join(f"{row.what}: {row.result}" for row in self.rows if row.grade == _NOT)[:300]
            or self.notes[0]
        )

    def table(self) -> Table:
        rows = [[*map(printable_line, row)] for row in self.rows]
        return Table(_COLUMNS, rows, self.notes[0], "\n".join(self.notes))

    def to_json(self) -> Json:
        return {"status": self.status, "rows": [row._asdict() for row in self.rows], "notes": [*self.notes]}

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def check_complete(made: Certificate, inputs: Inputs) -> None:
    """Raise `ConfigError` unless the code can run."""
    if made.is_masked:
        raise ConfigError("Parts of the code are masked (•••), so it cannot be run.")
    there = {each.name for each in inputs.data}
    if foreign := there - {*inputs.names}:
        raise ConfigError(f"It has data of {listed(sorted(foreign))}, which its code does not read.")
    missing = [each.name for each in made.needs if each.name not in there]
    if made.cells and missing and not inputs.before:
        raise ConfigError(
            f"The code needs {listed(missing)}, which the file does not contain: add `--notebook FILE` or"
            f" `--data FOLDER`. {_STAYS}"
        )


def verify(
    made: Certificate,
    inputs: Inputs,
    seconds: float,
    *,
    strict: bool = False,
    say: Callable[[str], object] = len,
) -> Verification:
    """Run the code in a fresh kernel and compare; raises `ConfigError` if it cannot run."""
    check_complete(made, inputs)
    codes = [cell.source for cell in made.cells]
    rows, outcomes = list[Compared](), list[Outcome]()
    if codes:
        for number, outcome in enumerate(run_cells(codes, inputs, seconds)):
            say(f"Cell {number + 1} of {len(codes)}" if number < len(codes) else "Comparing")
            outcomes.append(outcome)
        _check_ran(made, outcomes)
        rows += _input_rows(made, inputs, outcomes[0].facts or {})
        if error := outcomes[-1].error:
            rows.append(Compared(f"cell {len(outcomes) - 1}", _NOT, error))
    agree = _agree_now(made, inputs, seconds, say)
    rows += _number_rows(made, [outcome.output for outcome in outcomes[1:]], agree, strict=strict)
    if agree < made.agree:
        rows.append(Compared("tries", _NOT, f"{agree} of {len(made.tries)} agree, not {made.agree}"))
    is_bad = any(row.grade == _NOT for row in rows)
    count = sum(row.result.startswith("cell") and row.grade != _NOT for row in rows)
    total = plural(len(made.claims), "computed number")
    first = f"Ran again in a fresh kernel: {count} of {total} reproduced."
    if not made.claims:
        first = (
            f"{'The code ran again in a fresh kernel. ' if codes else ''}No number is claimed as computed."
        )
    return Verification(rows=rows, notes=[first, *_remarks(made, is_bad=is_bad)])


def _check_ran(made: Certificate, outcomes: Sequence[Outcome]) -> None:
    last, number = outcomes[-1], len(outcomes) - 1
    if last.kind in ("ModuleNotFoundError", STOPPED, DIED):
        package = re.search(r"'(\w+)", last.error) if last.kind == "ModuleNotFoundError" else None
        remedy = (
            f" Install `{package[1]}` {made.packages.get(package[1], '')}.".replace(" .", ".")
            if package
            else ""
        )
        raise ConfigError(f"Cell {number} could not run: {last.error}.{remedy} {_STAYS}")


def _input_rows(made: Certificate, inputs: Inputs, facts: Json) -> Iterator[Compared]:
    partial_data = {each.name: each.left_out for each in inputs.data if each.left_out}
    for each in made.inputs:
        if each.name not in inputs.names or not (each.is_read or each.name in facts):
            continue
        kind, size, digest = facts.get(each.name, ("nothing", "", ""))
        was, now = f"{each.type} {each.size}".strip(), f"{kind} {size}".strip()
        if each.name in partial_data:
            yield Compared(
                f"input {each.name}", "", f"not compared: it is without {listed(partial_data[each.name])}"
            )
        elif not each.digest:
            yield Compared(f"input {each.name}", "", f"not compared: not recorded, {each.note}")
        elif digest == each.digest:
            yield Compared(f"input {each.name}", "the same", each.note)
        else:
            result = f"{now} instead of {was}" if was != now else "other contents"
            yield Compared(f"input {each.name}", _NOT, result)


def _number_rows(
    made: Certificate, outputs: Sequence[str], agree: int, *, strict: bool
) -> Iterator[Compared]:
    """A row for each number of the answer, also for one that the certificate does not list."""
    places = {each.place for each in made.numbers}
    unlisted = [each for each in traced_numbers(made.answer, made.typed, list) if not places & {_place(each)}]
    yield from (
        Compared(each.text, _NOT, "the certificate does not say where it is from") for each in unlisted
    )
    exact: dict[int, dict[tuple[str, int, str], bool]] = {}
    for each in made.numbers:
        if each.source != "computed":
            yield Compared(each.text, _NOT if strict and each.source != "given" else "", each.source)
            continue
        if each.cell not in exact:
            exact[each.cell] = _found(made, outputs[each.cell - 1] if 0 < each.cell <= len(outputs) else "")
        found = exact[each.cell].get(each.place)
        if found is None:
            yield Compared(each.text, _NOT, f"cell {each.cell} does not give it now")
        elif each.policy == EXACT and not found:
            yield Compared(each.text, _NOT, f"cell {each.cell} gives a value that only rounds to it")
        else:
            yield Compared(
                each.text, "robust" if agree > 1 else _REPRODUCED, f"cell {each.cell}, {each.policy}"
            )


def _found(made: Certificate, output: str) -> dict[tuple[str, int, str], bool]:
    """The numbers of the answer that an output has, and whether exactly."""
    traced = traced_numbers(made.answer, made.typed, partial(list, [("output", output)]))
    return {_place(each): each.match.is_exact for each in traced if each.match}


def _place(number: TracedNumber) -> tuple[str, int, str]:
    return number.path or "", number.start, number.text


def _agree_now(made: Certificate, inputs: Inputs, seconds: float, say: Callable[[str], object]) -> int:
    """How many of the tries that agreed give all computed numbers of the answer again."""
    if made.agree < 2 or not made.claims:
        return made.agree
    own, claims = [cell.source for cell in made.cells if cell.is_users], {each.place for each in made.claims}
    agree, tries = 0, [each for each in made.tries if claims <= _found(made, each.answer).keys()]
    tries = tries if len(tries) >= made.agree else [*made.tries]
    for number, each in enumerate(tries, 1):
        say(f"Try {number} of {len(tries)}")
        output = "\n".join(outcome.output for outcome in run_cells([*own, *each.code], inputs, seconds))
        agree += claims <= _found(made, output).keys()
    return agree


def _remarks(made: Certificate, *, is_bad: bool) -> Iterator[str]:
    here = versions_of(made.packages)
    others = [
        f"{name} {was} (here {here[name] or 'none'})"
        for name, was in made.packages.items()
        if here[name] != was
    ]
    if others:
        yield f"Other versions than those of the run: {', '.join(others)}."
    code = "\n".join(cell.source for cell in made.cells)
    for words, pattern in _UNSTABLE.items():
        is_seeded = words.endswith("seed") and _SEED.search(code)
        if is_bad and re.search(pattern, code) and not is_seeded:
            yield f"The code uses {words}, so its results differ each time. {_STAYS}"
    yield "Not proven: the words of question and answer, the date, the model, and who accepted what."
