"""The code of a run as plain cells: what `run_python` executed, with the model's words between as Markdown.

Failed and repeated attempts are left out. What a failed attempt had set before it failed stays, where later code reads
it: a model that mends a typo in line 3 does not repeat the imports of line 1.
"""

import inspect
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.secrets import MASK, safe_text
from agent_nb._base.text import fenced, printable
from agent_nb._base.wire import Json
from agent_nb.events import ApprovalResolved, ToolFinished, ToolReady
from agent_nb.files import Files, contents
from agent_nb.render.safe_markdown import rebuilt
from agent_nb.run.code_names import names_in, names_of, needed_by, parsed
from agent_nb.run.record import RunRecord, unique_call_id

TOOL = "run_python"
_SHOWN = ("text/plain", "text/html", "text/markdown", "image/")
HELPERS = ("to_file", "agent_files")
"""What the code of a run has besides the notebook's names; `_to_file` where the notebook has a `to_file`."""


@dataclass(frozen=True, slots=True)
class NotebookCell:
    kind: Literal["code", "markdown"]
    source: str
    outputs: tuple[Json, ...] = ()
    """What the code gave in the run, as a notebook file holds it."""


class Cells(tuple[NotebookCell, ...]):
    """Cells in order. Secrets in them are masked."""

    __slots__ = ()

    @property
    def code(self) -> tuple[str, ...]:
        return tuple(cell.source for cell in self if cell.kind == "code")

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that the code reads and does not set: your notebook has to have them."""
        return needed_by(self.code)

    @property
    def is_masked(self) -> bool:
        """Whether a part of the code is masked, so that it cannot run."""
        return any(MASK in source for source in self.code)

    def to_notebook(self) -> bytes:
        """A notebook file, with the outputs of the run."""
        cells = [_notebook_cell(number, cell) for number, cell in enumerate(self, 1)]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
        notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()

    def __repr__(self) -> str:
        shown = (
            cell.source if cell.kind == "code" else re.sub("^", "# ", cell.source, flags=re.MULTILINE)
            for cell in self
        )
        return printable("\n\n".join(f"# %%\n{text}" for text in shown)) or "No code."

    def _repr_markdown_(self) -> str:
        blocks = (fenced(cell.source, "python") if cell.kind == "code" else cell.source for cell in self)
        return "\n\n".join(blocks) or "No code."


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeStep:
    executed: str
    end: ToolFinished | None
    code: str
    """What was executed; of a failed call, what later code needs of it."""

    @property
    def ok(self) -> bool:
        return self.end is not None and self.end.ok

    @property
    def names(self) -> Mapping[str, Any]:
        outputs = self.end.outputs if self.end else ()
        return next((bundle[NAMES_TYPE] for bundle in outputs if NAMES_TYPE in bundle), {})


@dataclass(slots=True)
class _Turn:
    words: str
    steps: list[CodeStep] = field(default_factory=list)
    kept: list[CodeStep] = field(default_factory=list)


def to_cells(run: RunRecord) -> Cells:
    turns = _turns(run)
    codes = [step.code for turn in turns for step in turn.kept]
    if not codes:
        return Cells()
    cells = [NotebookCell("code", source) for source in _helpers(codes, run)]
    for turn in turns:
        if turn.words and (turn.kept or not turn.steps):
            cells.append(NotebookCell("markdown", rebuilt(turn.words)))
        cells += [NotebookCell("code", step.code, tuple(_outputs(step))) for step in turn.kept]
    return Cells(replace(cell, source=safe_text(cell.source)) for cell in cells)


def _outputs(step: CodeStep) -> Iterator[Json]:
    """The outputs of a call that went well; those of a failed one are not of the statements that stay."""
    for bundle in step.end.outputs if step.end and step.ok else ():
        if NAMES_TYPE in bundle:
            continue
        shown = {kind: value for kind, value in bundle.items() if kind.startswith(_SHOWN)}
        data = {
            kind: value if kind.startswith("image/") else safe_text(str(value))
            for kind, value in shown.items()
        }
        text = data.get("text/plain", "")
        if [*data] == ["text/plain"] and text.endswith("\n"):  # printed
            yield {"output_type": "stream", "name": "stdout", "text": text}
        elif data:
            yield {"output_type": "display_data", "data": data, "metadata": {}}


def kept_steps(run: RunRecord) -> list[CodeStep]:
    return [step for turn in _turns(run) for step in turn.kept]


def steps_of(run: RunRecord) -> list[CodeStep]:
    return [step for turn in _turns(run) for step in turn.steps]


def _turns(run: RunRecord) -> list[_Turn]:
    executed = _executed(run)
    ends = {event.call_id: event for event in run.events.of(ToolFinished)}
    seen: dict[str, int] = {}
    turns = []
    for message in run.own_messages:
        if message.role != "assistant":
            continue
        turn = _Turn(message.text.strip())
        for call in message.tool_calls:
            event_id = unique_call_id(call.id, seen)
            code = executed.get(event_id, {}).get("code")
            if call.name == TOOL and isinstance(code, str):
                tidy = code.strip("\n").rstrip()
                turn.steps.append(CodeStep(executed=code, end=ends.get(event_id), code=tidy))
        turns.append(turn)
    _choose(turns)
    return turns


def _executed(run: RunRecord) -> dict[str, Json]:
    """The arguments of each call as the tool ran with them: after hooks, and after the edits of the user."""
    args: dict[str, Json] = {}
    for event in run.events.of(ToolReady, ApprovalResolved):
        if isinstance(event, ToolReady):
            args[event.call_id] = event.args
        elif event.executed is not None:
            args[event.call_id] = event.executed
    return args


def _choose(turns: list[_Turn]) -> None:
    """Fills `kept`, from the last step to the first: what a failed one is good for depends on those after it."""
    repeated = set(_repeated([step for turn in turns for step in turn.steps]))
    needed: set[str] = set()
    for turn in reversed(turns):
        for step in reversed(turn.steps):
            if id(step) in repeated:
                continue
            code = step.code if step.ok else _part(step, needed)
            if code:
                turn.kept.insert(0, replace(step, code=code))
                names = names_in(code)
                needed = (needed - names.sets) | set(names.reads)


def _repeated(steps: Sequence[CodeStep]) -> Iterator[int]:
    """The ids of steps with the code of an earlier one, if nothing has changed that it reads, not even by itself."""
    changed_since: dict[str, set[str]] = {}
    for step in steps:
        reads = {*names_in(step.code).reads}
        if step.ok and step.code in changed_since and not changed_since[step.code] & reads:
            yield id(step)
            continue
        if step.ok:
            changed_since[step.code] = set()
        for changed in changed_since.values():
            changed.update(_changes(step))


def _changes(step: CodeStep) -> frozenset[str]:
    """The names that a step may have changed. A last expression with a value is taken for a look, not a change."""
    tree = parsed(step.code)
    shown = [bundle for bundle in (step.end.outputs if step.end else ()) if NAMES_TYPE not in bundle]
    if tree is None or not shown or not tree.body:
        return names_in(step.code).changes
    return names_of(tree.body[:-1]).changes | names_of(tree.body[-1:]).sets


def _part(step: CodeStep, needed: set[str]) -> str:
    """The statements of a failed call that ran and that set names which are read later."""
    tree, line = parsed(step.code), step.names.get("line")
    if tree is None or not isinstance(line, int):
        return ""
    wanted = needed & {*step.names.get("bound", ()), *step.names.get("changed", ())}
    ran = [(statement, names_of([statement])) for statement in tree.body if _lines_of(statement)[1] < line]
    for _ in ran:  # each round finds at least one more statement, or the last
        wanted = wanted.union(*(names.reads for _, names in ran if names.sets & wanted))
    places = [_lines_of(statement) for statement, names in ran if names.sets & wanted]
    lines = step.code.split("\n")
    return "\n".join("\n".join(lines[first - 1 : last]) for first, last in places)


def _lines_of(statement: Any) -> tuple[int, int]:
    decorators = [each.lineno for each in getattr(statement, "decorator_list", ())]
    return min([statement.lineno, *decorators]), statement.end_lineno


def _helpers(codes: Sequence[str], run: RunRecord) -> Iterator[str]:
    notes = [note for step in kept_steps(run) for note in step.names.get("notes", ())]
    for usual, name in used_helpers(needed_by(codes), notes):
        to_file = inspect.getsource(contents).partition('"""\n')[2].strip()
        source = to_file if usual == "to_file" else _files_source(codes, run.files)
        yield source if name == usual else f"{source}\n\n\n{name} = {usual}"


def used_helpers(needed: Collection[str], notes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The helpers among the names that code needs, and what it calls them, given the notes of its call."""
    for usual in HELPERS:
        is_theirs = any(note.startswith(f"`{usual}` is a variable") for note in notes)
        name = f"_{usual}" if is_theirs else usual
        if name in needed:
            yield usual, name


def _files_source(codes: Sequence[str], files: Files) -> str:
    """The files that the code names, as they are at the end of the run; all text if it names none."""
    named = {path: content for path, content in files.items() if any(path in code for code in codes)}
    given = named or {path: content for path, content in files.items() if isinstance(content, str)}
    items = "".join(f"    {path!r}: {content!r},\n" for path, content in given.items())
    return f"agent_files = {{\n{items}}}"


def _notebook_cell(number: int, cell: NotebookCell) -> Json:
    more: Json = {"execution_count": None, "outputs": [*cell.outputs]} if cell.kind == "code" else {}
    lines = cell.source.splitlines(keepends=True)
    return {"id": f"cell-{number}", "cell_type": cell.kind, "metadata": {}, "source": lines, **more}
