"""A certificate: what a run was asked, what it read, the code it ran, and where each number of its answer came from."""

import ast
import json
import math
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from agent_nb._base.constants import VERSION
from agent_nb._base.secrets import MASK, mask_json
from agent_nb._base.table import Table
from agent_nb._base.text import sha256
from agent_nb._base.wire import Json, WireError, brief_wire, each_from_wire, from_wire
from agent_nb.features.certificate.data import Stored
from agent_nb.features.certificate.inputs import Input, Use, named_in, read_inputs
from agent_nb.plugins import Run
from agent_nb.plugins.engine import kept_steps, line_with, names_in, output_text, parse_cell

FORM = 1
"""Raise it with any change of the file's form: a file of this form is written again, byte for byte, to be verified."""
_MOST_OUTPUT = 10_000
_STATED = (
    "model", "model_returned", "reason", "started", "ended", "settings", "ran_unasked", "approvals",
    "edited_by_hand", "files_sha256", "prompt_sha256", "system_sha256",
)  # fmt: skip

Source = Literal["code", "tool", "prompt", "nothing"]
WORDS: Mapping[Source, str] = {
    "code": "computed",
    "tool": "from a tool",
    "prompt": "given",
    "nothing": "not computed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of the answer."""

    start: int
    text: str
    path: str | None = None
    """As in `AnswerNumber`."""
    source: Source
    value: float | None = None
    """The value in the output that it shows."""
    cell: int = 0
    """The number of the cell that has computed it, from 1; 0 for none."""
    call: str = ""
    line: str = ""
    """The line of the output."""
    policy: str = ""
    """How the value and the number agree."""

    @property
    def place(self) -> tuple[str, int, str]:
        return self.path or "", self.start, self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    source: str
    by: Literal["run", "notebook"] = "run"
    """Whether the run has executed it, or it defines what the run read."""
    output: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """A variant of the run, or one of several tries that are compared."""

    model: str
    answer: str
    code: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    agree: int
    tries: tuple[Try, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate:
    form: int = FORM
    version: str = VERSION
    name: str
    question: str
    answer: str
    typed: Any = None
    """The answer as JSON if it has a type."""
    sent: Literal["all", "schema"]
    stated: Json
    """What no run can prove: model, dates, settings, approvals, hashes of files."""
    numbers: tuple[Number, ...]
    inputs: tuple[Input, ...]
    cells: tuple[Cell, ...]
    packages: Mapping[str, str]
    variants: tuple[Try, ...] = ()
    agreement: Agreement | None = None
    data: tuple[Stored, ...] = ()
    salt: str = ""

    @cached_property
    def wire(self) -> Json:
        fields = brief_wire(self)
        return {**fields, "form": self.form, "version": self.version}

    @property
    def digest(self) -> str:
        return sha256(json_text(self.wire))

    @property
    def claims(self) -> list[Number]:
        return [each for each in self.numbers if each.source == "code"]

    @property
    def codes(self) -> list[str]:
        return [cell.source for cell in self.cells]

    @property
    def is_masked(self) -> bool:
        return any(MASK in code for code in self.codes)

    def to_html(self) -> str:
        """One page that needs no script and no network, with the facts as JSON in it. `agent-nb verify` reads it."""
        from agent_nb.features.certificate.forms import html_form

        return html_form(self)

    def to_markdown(self) -> str:
        """The certificate as the appendix of a paper, with blanks for you to fill in."""
        from agent_nb.features.certificate.forms import markdown_form

        return markdown_form(self)

    def table(self) -> Table:
        rows = [(each.text, WORDS[each.source], _place(each), each.line) for each in self.numbers]
        inputs = [each for each in self.inputs if each.kind != "code"]
        note = f"{len(self.claims)} of {len(rows)} numbers computed; inputs: "
        note += ", ".join(each.name for each in inputs) or "none"
        return Table(("number", "", "from", "line"), rows, "The answer has no numbers.", f"{note}.")

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _place(number: Number) -> str:
    return f"cell {number.cell}" if number.cell else number.call


def json_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def certificate_of(run: Run, namespace: Mapping[str, Any] | None = None) -> Certificate:
    """The certificate of a finished run, with secrets masked.

    With the variables of the session, what was not recorded is read now, and what has changed since is said.
    """
    sent: Literal["all", "schema"] = "schema" if run.settings.get("data") == "schema" else "all"
    salt, inputs = _recorded(run)
    steps = kept_steps(run, repeated=True)
    codes = [step.code for step in steps]
    if namespace is not None:
        inputs = [*_now(codes, inputs, namespace, salt)]
    outputs = ["".join(map(output_text, step.end.outputs)) if step.end and step.ok else "" for step in steps]
    cells = [*_first_cells(run, inputs, codes)]
    places = {
        step.end.call_id: (len(cells) + number, output)
        for number, (step, output) in enumerate(zip(steps, outputs, strict=True), 1)
        if step.end and step.ok
    }
    shown = [output[:_MOST_OUTPUT] if sent == "all" else "" for output in outputs]
    cells += [Cell(source=code, output=output) for code, output in zip(codes, shown, strict=True)]
    numbers = tuple(_numbers(run, places, has_values=sent == "all"))
    made = Certificate(
        name=run.name,
        question=run.prompt,
        answer=run.text,
        typed=run.plain_answer,
        sent=sent,
        stated={name: value for name, value in run.manifest.items() if name in _STATED},
        numbers=numbers,
        inputs=tuple(sorted(inputs, key=lambda each: (each.kind, each.name))),
        cells=tuple(cells),
        packages=_packages([cell.source for cell in cells]),
        variants=tuple(_try(variant) for variant in run.variants),
        agreement=_agreement(run),
        salt=salt,
    )
    return masked(made)


def masked(made: Certificate) -> Certificate:
    wire = json.loads(json_text(made.wire))  # in the order in which a file has it
    facts: Certificate = from_wire(Certificate, mask_json(wire))
    return facts


def _recorded(run: Run) -> tuple[str, list[Input]]:
    recorded = run.values.get("certificate") or {}
    try:
        return str(recorded.get("salt", "")), [*each_from_wire(Input, recorded.get("inputs", []))]
    except (WireError, AttributeError):  # a file that was edited by hand
        return "", []


def _now(
    codes: Sequence[str], inputs: Sequence[Input], namespace: Mapping[str, Any], salt: str
) -> Iterator[Input]:
    own, before = set[str](), {each.name: each for each in inputs}
    uses: dict[str, Use] = {}
    for code in codes:
        uses |= {name: use for name, use in named_in(code, namespace).items() if name not in own | {*uses}}
        own |= names_in(code).sets
    uses |= {each.name: each.use for each in inputs if each.name in namespace}
    now = {each.name: each for each in read_inputs(uses, namespace, salt, "when it was certified")}
    for name, earlier in before.items():
        later = now.get(name)
        if earlier.digest and later and later.digest != earlier.digest:
            yield replace(earlier, note="it has changed since")
        else:
            yield earlier
    yield from (each for name, each in now.items() if name not in before)


def _first_cells(run: Run, inputs: Sequence[Input], codes: Sequence[str]) -> Iterator[Cell]:
    """The imports and definitions of the notebook that the run read, and helpers of its code."""
    sources = [each.source for each in inputs if each.kind == "code" and each.use == "read"]
    lines = sorted({source for source in sources if "\n" not in source})
    if lines:
        yield Cell(source="\n".join(lines), by="notebook")
    yield from (Cell(source=source.rstrip(), by="notebook") for source in sources if "\n" in source)
    every = run.to_cells().code
    yield from (Cell(source=source) for source in every[: max(0, len(every) - len(kept_steps(run)))])


def _numbers(run: Run, places: Mapping[str, tuple[int, str]], *, has_values: bool) -> Iterator[Number]:
    for each in run.traced_numbers:
        source: Source = "code" if each.source in places else "tool"
        if not each.source:
            source = "nothing" if each.source is None else "prompt"
        match = each.match if each.match and has_values and math.isfinite(each.match.value) else None
        value = match.value if match else None
        cell, output = places.get(each.source or "", (0, ""))
        yield Number(
            start=each.start,
            text=each.text,
            path=each.path,
            source=source,
            value=value,
            cell=cell,
            call=each.source or "",
            line=line_with(value, output).strip()[:300] if value is not None else "",
            policy=("exact" if each.match.is_exact else "rounded as shown")
            if each.match and source == "code"
            else "",
        )


def _try(run: Run) -> Try:
    answer = run.text if run.plain_answer is None else json.dumps(run.plain_answer, ensure_ascii=False)
    return Try(model=run.model, answer=answer, code=run.to_cells().code)


def _agreement(run: Run) -> Agreement | None:
    found = getattr(run, "agreement", None)
    if found is None:
        return None
    return Agreement(agree=found.agree, tries=())


def _packages(codes: Sequence[str]) -> dict[str, str]:
    """Versions of Python and of the packages that the code imports."""
    names: set[str] = set()
    for tree in map(parse_cell, codes):
        for node in ast.walk(tree or ast.Module([], [])):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(node.module or "")
    tops = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    return versions_of(["python", *sorted(tops)])


def versions_of(names: Iterable[str]) -> dict[str, str]:
    """The versions here; empty for a package that is missing."""
    found = {}
    for name in names:
        try:
            found[name] = platform.python_version() if name == "python" else version(name)
        except (PackageNotFoundError, ValueError):
            found[name] = str(getattr(sys.modules.get(name), "__version__", ""))
    return found
