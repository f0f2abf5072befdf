"""A certificate: what a run was asked, what its code read and printed, and where its numbers came from."""

import ast
import json
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from agent_nb._base.constants import VERSION
from agent_nb._base.secrets import MASK, safe_text
from agent_nb._base.table import Table
from agent_nb._base.text import change_texts, sha256
from agent_nb._base.wire import Json, WireError, brief_wire, each_from_wire, from_wire
from agent_nb.features.certificate.data import Stored
from agent_nb.features.certificate.inputs import Input, Reads, code_reads, read_inputs
from agent_nb.plugins import Run
from agent_nb.plugins.engine import kept_steps, line_with, offered_changes, output_text, parse_cell

FORM = 1
"""Raise it with any change of the file's form: a file of this form is written again, byte for byte, to be verified."""
EXACT, ROUNDED = "exact", "rounded as shown"
SALT = "salt"
MOST_VALUE = 2.0**53
FORMS: dict[str, "Callable[[Certificate], str]"] = {}
"""`forms.py` adds them."""
_MOST_OUTPUT = 10_000
_STATED = (
    "model", "model_returned", "reason", "started", "ended", "settings", "ran_unasked", "approvals",
    "edited_by_hand", "files_sha256", "prompt_sha256", "system_sha256",
)  # fmt: skip
NumberSource = Literal["computed", "from a tool", "given", "not computed"]
"""An output of the run's code, a result of another tool, the prompt or an earlier run, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedNumber:
    """A number of the answer."""

    start: int
    text: str
    path: str = ""
    """As in `AnswerNumber`; empty in the text."""
    source: NumberSource
    value: float | None = None
    """The value in the output that it shows."""
    cell: int = 0
    """The number of the cell that has computed it, from 1."""
    line: str = ""
    """The line of the output."""
    policy: str = ""
    """How a value has to agree with it."""

    @property
    def place(self) -> tuple[str, int, str]:
        return self.path, self.start, self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedCell:
    source: str
    output: str = ""
    is_users: bool = False
    """Whether it defines what the run read, and the run has not executed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One of several tries or variants."""

    model: str
    answer: str
    code: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate:
    form: int = FORM
    version: str = VERSION
    name: str
    question: str
    """As the user wrote it: without the values that were sent."""
    answer: str
    typed: Any = None
    """The answer as JSON if it has a type."""
    is_schema: bool = False
    """Whether no values were sent (`--data schema`). It then has none but those of the answer."""
    stated: Json
    """What no run can prove: model, dates, settings, approvals, hashes of files."""
    numbers: tuple[CertifiedNumber, ...]
    inputs: tuple[Input, ...]
    cells: tuple[CertifiedCell, ...]
    packages: Mapping[str, str]
    tries: tuple[Try, ...] = ()
    agree: int = 0
    """How many of the tries gave this answer."""
    data: tuple[Stored, ...] = ()
    salt: str = ""

    @property
    def wire(self) -> Json:
        return {**brief_wire(self), "form": self.form, "version": self.version}

    @property
    def digest(self) -> str:
        return sha256(json_text(self.wire))

    @property
    def claims(self) -> list[CertifiedNumber]:
        return [each for each in self.numbers if each.source == "computed"]

    @property
    def needs(self) -> list[Input]:
        """The inputs without which the code cannot run."""
        return [each for each in self.inputs if each.kind != "code" and each.is_read]

    @property
    def is_masked(self) -> bool:
        return any(MASK in cell.source for cell in self.cells)

    def to_html(self) -> str:
        """One page that needs no script and no network, with the facts as JSON in it. `agent-nb verify` reads it."""
        return FORMS["html"](self)

    def to_markdown(self) -> str:
        """The certificate as the appendix of a paper, with blanks for you to fill in."""
        return FORMS["markdown"](self)

    def table(self) -> Table:
        rows = [(each.text, each.source, each.cell or "", each.line) for each in self.numbers]
        inputs = ", ".join(each.name for each in self.needs) or "none"
        note = f"{len(self.claims)} of {len(rows)} numbers computed; inputs: {inputs}."
        return Table(
            ("number", "", "cell", "line of its output"), rows, f"No numbers; inputs: {inputs}.", note
        )

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def json_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def certificate_of(run: Run, namespace: Mapping[str, Any] | None = None) -> Certificate:
    """The certificate of a finished run, with secrets masked.

    With the variables of the session, what was not recorded is read now, and what has changed since is noted.
    """
    salt, inputs = _recorded(run)
    steps = kept_steps(run, repeated=True)
    if namespace is not None:
        inputs = [*_compared(inputs, code_reads([step.code for step in steps], namespace), namespace, salt)]
    elif not inputs:  # of a file in which nothing was recorded
        inputs = [Input(name=name, kind="data", note="nothing recorded it") for name in run.to_cells().inputs]
    settings = dict(run.settings)
    is_schema = run.settings.get("data") == "schema"
    cells = [*_users_cells(inputs), *_helpers(run)]
    places: dict[str, tuple[int, str]] = {}
    for step in steps:
        output = "".join(map(output_text, step.end.outputs)) if step.end and step.ok else ""
        cells.append(CertifiedCell(source=step.code, output="" if is_schema else output[:_MOST_OUTPUT]))
        if step.end and step.ok:
            places[step.end.call_id] = len(cells), output
    tries, agree = _tries(run)
    return masked(
        Certificate(
            name=run.name,
            question=str(settings.pop("cell", "")) or run.prompt,
            answer=run.text,
            typed=run.plain_answer,
            is_schema=is_schema,
            stated={**_stated(run), "settings": settings},
            numbers=tuple(_numbers(run, places, has_values=not is_schema)),
            inputs=tuple(sorted(inputs, key=lambda each: (each.kind, each.name))),
            cells=tuple(cells),
            packages=_packages(cell.source for cell in cells),
            tries=tries,
            agree=agree,
            salt=salt,
        )
    )


def _stated(run: Run) -> Json:
    heading, changes = offered_changes(run)
    facts = {name: run.manifest[name] for name in _STATED}
    facts |= {heading: [title for title, _ in changes], "failed_check": run.failed_check}
    facts["applied"] = bool(run.branched_from and run.branched_from.is_applied)
    return {name: value for name, value in facts.items() if value}


def masked(made: Certificate) -> Certificate:
    wire = json.loads(json_text(made.wire))  # in the order in which a file has it
    facts: Certificate = from_wire(Certificate, change_texts(wire, safe_text))
    return facts


def _recorded(run: Run) -> tuple[str, list[Input]]:
    try:
        recorded = run.values["certificate"]
        return str(recorded[SALT]), [*each_from_wire(Input, recorded["inputs"])]
    except (KeyError, TypeError, WireError):  # none, or a file that was edited by hand
        return "", []


def _compared(
    inputs: Sequence[Input], reads: Reads, namespace: Mapping[str, Any], salt: str
) -> Iterator[Input]:
    before = {each.name: each for each in inputs}
    reads = {**reads, **{name: each.is_read for name, each in before.items() if name in namespace}}
    now = {each.name: each for each in read_inputs(reads, namespace, salt)}
    for name, each in before.items():
        has_changed = each.digest and name in now and now[name].digest != each.digest
        yield replace(each, note="it has changed since") if has_changed else each
    for name in now.keys() - before.keys():
        yield replace(now[name], note=now[name].note or "read when this was written")


def _users_cells(inputs: Sequence[Input]) -> Iterator[CertifiedCell]:
    """The imports and definitions of the notebook that the run read."""
    sources = [each.source.strip() for each in inputs if each.kind == "code" and each.is_read]
    if imports := sorted({source for source in sources if "\n" not in source}):
        yield CertifiedCell(source="\n".join(imports), is_users=True)
    yield from (CertifiedCell(source=source, is_users=True) for source in sources if "\n" in source)


def _helpers(run: Run) -> Iterator[CertifiedCell]:
    codes = run.to_cells().code
    yield from (CertifiedCell(source=code) for code in codes[: max(0, len(codes) - len(kept_steps(run)))])


def _numbers(
    run: Run, places: Mapping[str, tuple[int, str]], *, has_values: bool
) -> Iterator[CertifiedNumber]:
    for each in run.traced_numbers:
        number = CertifiedNumber(
            start=each.start, text=each.text, path=each.path or "", source="not computed"
        )
        if each.match is None:
            yield number
        elif each.match.source not in places:
            yield replace(number, source="from a tool" if each.match.source else "given")
        else:
            cell, output = places[each.match.source]
            policy = EXACT if each.match.is_exact else ROUNDED
            number = replace(number, source="computed", cell=cell, policy=policy)
            if has_values and abs(value := each.match.value) < MOST_VALUE:
                number = replace(number, value=value, line=line_with(value, output).strip()[:300])
            yield number


def _tries(run: Run) -> tuple[tuple[Try, ...], int]:
    """The tries of `run.agreement`, else the variants, and how many of them gave this answer."""
    runs = run.variants
    rows = run.answers.rows() if runs else []
    agree = max((row["agree"] for row in rows if row["variant"] == run.variant + 1), default=0)
    agreement = getattr(run, "agreement", None)  # of a feature that may not be there
    return tuple(_try(each) for each in runs), agreement.agree if agreement is not None else agree


def _try(run: Run) -> Try:
    answer = run.text if run.plain_answer is None else json.dumps(run.plain_answer, ensure_ascii=False)
    return Try(model=run.model, answer=answer, code=run.to_cells().code)


def _packages(codes: Iterable[str]) -> dict[str, str]:
    """Versions of Python and of the packages that the code imports."""
    names: set[str] = set()
    for node in (node for code in codes for node in ast.walk(parse_cell(code) or ast.Module([], []))):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).partition(".")[0])
    return versions_of(["python", *sorted(names - sys.stdlib_module_names)])


def versions_of(names: Iterable[str]) -> dict[str, str]:
    """The versions here; empty for a package that is missing."""
    found = {}
    for name in names:
        try:
            found[name] = platform.python_version() if name == "python" else version(name)
        except (PackageNotFoundError, ValueError):
            found[name] = str(getattr(sys.modules.get(name), "__version__", ""))
    return found
