"""Compares runs: `compare` as a table, `assert_same` exactly."""

import ast
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from agent_nb._base.secrets import short_line, shortened
from agent_nb._base.table import Table
from agent_nb._base.text import plural
from agent_nb._base.wire import Json, parse_json
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import ENDINGS, Reason, TurnStarted
from agent_nb.core.messages import Usage
from agent_nb.core.run_settings import SETTINGS
from agent_nb.files import human_size
from agent_nb.files.diffs import unified_diff
from agent_nb.render.answers import answer_fields, answer_notes, entry_text
from agent_nb.render.summary import count, dollars, duration
from agent_nb.run.record import RunRecord

_PURE = {"len", "sum", "min", "max", "sorted", "set", "str", "int", "float", "any", "all", "bool"}
"""Functions that are safe to call again to show their result."""
_PURE_OWNERS = {"run", "files", "html", "text"}
_LONGEST_SHOWN = 60
Check = str | Callable[[Any], object]
"""An expression that uses `run`, `files`, `html` or `text`, or a function of the run."""
Checks = Mapping[str, Check] | Iterable[Check]
_LABELS = ("run", "number", "prompt")
COMPARED = [name for name, row in SETTINGS.items() if row.is_compared]
_MOST_LINES = 40
_MOST_ROWS = 200
_MOST_CHARACTERS = 60


def read_check(expression: str) -> str:
    """Strip quotes around the expression; raise `ConfigError` if it is invalid or cannot depend on the run."""
    source = expression.strip()
    tree = _parse(source)
    if isinstance(tree.body, ast.Constant) and isinstance(tree.body.value, str):
        source = tree.body.value.strip()
        tree = _parse(source)
    if not any(isinstance(node, ast.Name) for node in ast.walk(tree)):
        raise ConfigError(
            f"The check {source!r} is the same for every run. Use run, files, html or text in it."
        )
    return source


def _parse(source: str) -> ast.Expression:
    try:
        return ast.parse(source, "<check>", "eval")
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"The check {source!r} is not a valid expression: {error}.") from None


def failure_of(expression: str, scope: Mapping[str, Any]) -> str:
    """Evaluate a check; return why it failed, as `EXPRESSION: actual values`, or an empty string."""
    # All names are globals, because a comprehension inside `eval` does not see its locals.
    names = dict(scope)
    try:
        result = eval(expression, names)
        if result:
            return ""
        values = [
            f"{ast.unparse(part)} is {_brief(eval(ast.unparse(part), names))}" for part in _parts(expression)
        ]
        return f"{expression}: {' and '.join(values) or f'it is {_brief(result)}'}"
    except Exception as error:
        return f"{expression}: {type(error).__name__}: {error}"


def _parts(expression: str) -> list[ast.expr]:
    """Parts to show for a failed check, if safe to evaluate again: the negated operand or non-constant sides."""
    match _parse(expression).body:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            sides = [operand]
        case ast.Compare(left=left, comparators=[right]):
            sides = [side for side in (left, right) if not isinstance(side, ast.Constant)]
        case _:
            sides = []
    return sides if all(_is_pure(side) for side in sides) else []


def _is_pure(part: ast.expr) -> bool:
    for node in ast.walk(part):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in _PURE:
                continue
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner))) if owner in _PURE_OWNERS:
                continue
            case ast.Call():
                return False
    return True


def _brief(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, tuple) and all(isinstance(item, str) for item in value):
        return shortened(", ".join(value), _LONGEST_SHOWN) or "empty"
    if isinstance(value, str):
        is_short = len(value) <= _LONGEST_SHOWN and "\n" not in value
        return f'"{value}"' if is_short else f"{len(value):,} characters"
    if hasattr(value, "__len__"):
        return "empty" if not len(value) else f"{len(value):,} items" if len(value) > 1 else "1 item"
    return f"of type {type(value).__name__}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The table's figures for a run. Much smaller than the run itself."""

    usage: Usage
    row: Json
    answer: Json
    """The fields of an answer with a type."""
    notes: Mapping[str, str]
    """What to say after each of these: that it is not computed."""

    @classmethod
    def of(cls, run: RunRecord) -> "Figures":
        row = {
            "model": run.model,
            **{name: run.settings.get(name) for name in COMPARED},
            "reason": run.reason,
            "error": run.error,
            "steps": max((event.step for event in run.events.of(TurnStarted)), default=0),
            "seconds": run.seconds,
            "tokens_in": run.usage.input,
            "tokens_out": run.usage.output,
            "cost": run.cost,
            "bytes": sum(map(run.files.size, run.files)),
            "closeness": run.checks[-1].closeness if run.checks else None,
        }
        taken = {*row, *_LABELS}
        answer, notes = answer_fields(run.plain_answer, taken), answer_notes(run, taken)
        return cls(usage=run.usage, row=row, answer=answer, notes=notes)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Runs side by side: `rows()` as plain dicts, else a table in text or HTML."""

    figures: tuple[Figures, ...]
    names: tuple[str, ...]
    prompts: tuple[str, ...]
    checked: tuple[Mapping[str, bool | str], ...] = ()
    """Check results per run: whether it passed, or the name of the error it raised."""

    def rows(self) -> list[Json]:
        """One plain dict per run, for example for `pandas.DataFrame(...)`.

        `run` is its name; `number` counts from 1, like `run.pick`.
        """
        rows = []
        for number, name in enumerate(self.names, 1):
            labels = dict(zip(_LABELS, (name, number, self.prompts[number - 1]), strict=True))
            checked = self.checked[number - 1] if self.checked else {}
            answer = {**dict.fromkeys(self._answer_names), **self.figures[number - 1].answer}
            rows.append({**labels, **self.figures[number - 1].row, **answer, **checked})
        return rows

    @property
    def _answer_names(self) -> list[str]:
        return list(dict.fromkeys(name for figures in self.figures for name in figures.answer))

    def table(self) -> Table:
        """The table to display. Omits the prompt and settings that all runs share, and closeness if no run has it.

        The first column contains the names of the runs, or their numbers if the names are not unique.
        """
        rows = self.rows()
        if len(set(self.names)) < len(rows):
            rows = [{**row, "run": row["number"]} for row in rows]
        same = {name for name in ("prompt", *COMPARED) if len({row[name] for row in rows}) < 2}
        same |= {"closeness"} if all(row["closeness"] is None for row in rows) else set()
        checks = self.checked[0] if self.checked else ()
        answers = (_Column(name, name, _answer) for name in self._answer_names if name not in checks)
        columns = [*_COLUMNS, *answers, *(_Column(name, name, _checked) for name in checks)]
        columns = [column for column in columns if column.key not in same]
        visible_rows = [{**row, "reason": (row["reason"], row["error"])} for row in rows[:_MOST_ROWS]]
        cells = [
            [
                column.cell(row[column.key])
                + (figures.notes.get(column.key, "") if column.cell is _answer else "")
                for column in columns
            ]
            for row, figures in zip(visible_rows, self.figures, strict=False)
        ]
        headings = [column.heading for column in columns]
        numbers = [column.heading for column in columns if column.is_number]
        return Table(headings, cells, "No runs.", note=_sum(self.figures), numbers=numbers)

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def compare(runs: RunRecord | Iterable[RunRecord], checks: Checks = ()) -> Comparison:
    """A table of these runs, or of the variants of a single run, with a column for each check.

    A check is an expression like that of `--check`, or a function of the run. A dict gives checks a name.
    """
    if isinstance(runs, RunRecord):
        records = runs.variants or (runs,)
        names = [runs.name] * len(records)
    else:
        records = tuple(runs)
        if wrong := next((run for run in records if not isinstance(run, RunRecord)), None):
            raise ConfigError(f"Only runs can be compared, not a {type(wrong).__name__}.")
        names = [run.name for run in records]
    return comparison(records, names, [run.prompt for run in records], checks)


def comparison(
    runs: Iterable[RunRecord], names: Sequence[str], prompts: Sequence[str], checks: Checks
) -> Comparison:
    """`compare` with names for the runs and labels for their prompts. Iterates over `runs` once."""
    tests = _tests(checks)
    figures, checked = [], []
    for run in runs:
        figures.append(Figures.of(run))
        checked.append({name: _holds(test, run) for name, test in tests.items()})
    if not figures:
        raise ConfigError("There is nothing to compare: give at least one run.")
    return Comparison(tuple(figures), tuple(names), tuple(prompts), tuple(checked) if tests else ())


def scope_of(run: RunRecord) -> Json:
    return {"run": run, "files": run.files, "html": run.html or "", "text": run.text}


def _tests(checks: Checks) -> dict[str, Callable[[Any], object]]:
    if isinstance(checks, Mapping):
        items = [*checks.items()]
    else:
        sequence = [checks] if isinstance(checks, str) or callable(checks) else checks
        items = [(c if isinstance(c, str) else getattr(c, "__name__", repr(c)), c) for c in sequence]
    tests: dict[str, Callable[[Any], object]] = {}
    for name, check in items:
        if name in (*(column.key for column in _COLUMNS), "number", "error") or name in tests:
            raise ConfigError(f"There is already a column {name!r}. Give the check another name.")
        tests[name] = _test(name, check)
    return tests


def _test(name: str, check: Check) -> Callable[[Any], object]:
    if isinstance(check, str):
        code = compile(read_check(check), "<check>", "eval")
        # As globals, because a generator expression does not see the locals of `eval`.
        return lambda run: eval(code, scope_of(run))
    if not callable(check) or inspect.iscoroutinefunction(check):
        kind = "is async" if callable(check) else f"is {check!r:.40}"
        raise ConfigError(f"The check {name!r} {kind}. Give an expression or a plain function of the run.")
    return check


def _holds(test: Callable[[Any], object], run: RunRecord) -> bool | str:
    try:
        return bool(test(run))
    except Exception as error:  # the caller's code: its error is shown in the table
        return type(error).__name__


def _short(text: str) -> str:
    return short_line(text, _MOST_CHARACTERS)


def _text(value: object) -> str:
    return str(value)


def _ending(value: tuple[Reason, str | None]) -> str:
    reason, error = value
    return ENDINGS[reason].words + (f": {_short(error)}" if error else "")


def _answer(value: Any) -> str:
    return "" if value is None else _short(entry_text(value))


def _checked(value: bool | str) -> str:
    return value if isinstance(value, str) else "yes" if value else "no"


class _Column(NamedTuple):
    key: str
    heading: str
    cell: Callable[[Any], str] = _text
    is_number: bool = False


_COLUMNS = (
    _Column("run", "run"),
    _Column("prompt", "prompt", _short),
    _Column("model", "model"),
    *(_Column(name, name, lambda value: _text(value or "")) for name in COMPARED),
    _Column("reason", "ended", _ending),
    _Column("steps", "steps", str, True),
    _Column("seconds", "time", duration, True),
    _Column("tokens_in", "tokens in", count, True),
    _Column("tokens_out", "tokens out", count, True),
    _Column("cost", "cost", lambda cost: "not known" if cost is None else dollars(cost), True),
    _Column("bytes", "size", human_size, True),
    _Column("closeness", "closeness", lambda value: "" if value is None else f"{value:.0f}", True),
)


def _sum(runs: Sequence[Figures]) -> str:
    failed = sum(run.row["reason"] == "failed" for run in runs)
    costs = [run.row["cost"] for run in runs if run.row["cost"] is not None]
    parts = [plural(len(runs), "run"), *([f"{failed} failed"] if failed else [])]
    if costs:
        parts.append(f"{dollars(sum(costs))} together")
    if len(costs) < len(runs):
        parts.append("some prices are not known" if costs else "prices are not known")
    more = f" The first {_MOST_ROWS} are shown; `rows()` has them all." if len(runs) > _MOST_ROWS else ""
    return f"{', '.join(parts)}.{more}"


def assert_same(one: RunRecord, other: RunRecord) -> None:
    """Raise AssertionError unless both runs have the same prompt, messages, calls, files and end.

    Ids and times may differ.
    """
    differences = list(_differences(one, other))
    if differences:
        raise AssertionError(f"{one.name} and {other.name} are not the same run.\n" + "\n".join(differences))


def _differences(one: RunRecord, other: RunRecord) -> Iterator[str]:
    for name in ("prompt", "model", "reason", "error", "plain_answer"):
        before, after = getattr(one, name), getattr(other, name)
        if before != after:
            yield f"{name}: {before!r}, then {after!r}"
    yield from _files(one.files, other.files)
    for name, text_of in (("tool calls", _calls), ("messages", _messages)):
        before, after = text_of(one), text_of(other)
        if before != after:
            yield f"{name}:\n{_cut(unified_diff(before, after, name))}"


def _files(one: Mapping[str, str | bytes], other: Mapping[str, str | bytes]) -> Iterator[str]:
    for path in sorted({*one, *other}):
        before, after = one.get(path), other.get(path)
        if before == after:
            continue
        if before is None or after is None:
            yield f"file {path}: only in the {'first' if after is None else 'second'}"
        elif isinstance(before, str) and isinstance(after, str):
            yield f"file {path}:\n{_cut(unified_diff(before, after, path))}"
        else:
            yield f"file {path}: {len(before):,} bytes, then {len(after):,}"


def _calls(run: RunRecord) -> str:
    lines = []
    for use in run.tool_uses:
        state = "ok" if use.ok else (use.result.code if use.result and use.result.code else "failed")
        lines.append(f"{use.call.name}({_arguments(use.call.arguments)}): {state}\n")
    return "".join(lines)


def _arguments(arguments: str) -> str:
    """The arguments as canonical JSON, so that key order and spacing do not matter."""
    value = parse_json(arguments)
    return arguments if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _messages(run: RunRecord) -> str:
    return "".join(f"{message.role}: {message.text}\n" for message in run.messages if message.text)


def _cut(diff: str) -> str:
    lines = diff.rstrip("\n").split("\n")
    if len(lines) <= _MOST_LINES:
        return "\n".join(lines)
    return "\n".join([*lines[:_MOST_LINES], f"({len(lines) - _MOST_LINES} more lines)"])
