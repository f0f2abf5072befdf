"""The code of a run as plain cells: the code that `run_python` executed, with the model's text as Markdown.

Failed and repeated attempts are left out. Statements that ran before a failure are kept if later code reads
the names they set: a model that fixes a typo in line 3 does not repeat the imports of line 1.
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
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import ApprovalResolved, ToolFinished, ToolReady
from agent_nb.core.run_settings import CODE_TOOL
from agent_nb.files import Files, contents
from agent_nb.render.outputs import safe_output
from agent_nb.render.safe_markdown import as_text, rebuilt
from agent_nb.render.shown import addition
from agent_nb.run.code_names import names_in, names_of, needed_by, parse_cell, statements_in
from agent_nb.run.record import RunRecord, unique_call_id

PART = "# From a call that failed: what later code needs"
"""The first line of a part of a failed call."""
HELPERS = ("to_file", "agent_files")
"""Helpers available to a run's code; renamed to `_to_file` if the notebook defines `to_file`."""


@dataclass(frozen=True, slots=True)
class NotebookCell:
    kind: Literal["code", "markdown"]
    source: str
    outputs: tuple[Json, ...] = ()
    """The outputs of the code in notebook format."""


class Cells(tuple[NotebookCell, ...]):
    """Cells in order. Secrets in them are masked."""

    __slots__ = ()

    @property
    def code(self) -> tuple[str, ...]:
        return tuple(cell.source for cell in self if cell.kind == "code")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names that the code reads but does not set; the notebook must define them."""
        return needed_by(self.code)

    @property
    def is_masked(self) -> bool:
        """Whether part of the code is masked, so that it cannot run."""
        return any(MASK in source for source in self.code)

    def to_notebook(self) -> bytes:
        """A notebook file, with the outputs of the run."""
        cells = [_notebook_cell(number, cell) for number, cell in enumerate(self, 1)]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
        notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()

    def __repr__(self) -> str:
        sources = (
            cell.source if cell.kind == "code" else re.sub("^", "# ", cell.source, flags=re.MULTILINE)
            for cell in self
        )
        return printable("\n\n".join(f"# %%\n{text}" for text in sources)) or "No code."

    def _repr_markdown_(self) -> str:
        blocks = (fenced(cell.source, "python") if cell.kind == "code" else cell.source for cell in self)
        return "\n\n".join(blocks) or "No code."


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeStep:
    executed: str
    end: ToolFinished | None
    code: str
    """The executed code; for a failed call, only the statements that later code needs."""

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
    kept = [step for turn in turns for step in turn.kept]
    if not kept:
        return Cells()
    cells = [NotebookCell("code", source) for source in _helpers(kept, run.files)]
    if turns[-1].words:
        turns[-1].words = "\n\n".join([turns[-1].words, *map(as_text, addition(run).lines)])
    for turn in turns:
        if turn.words and (turn.kept or not turn.steps):
            cells.append(NotebookCell("markdown", rebuilt(turn.words)))
        cells += [NotebookCell("code", step.code, tuple(_outputs(step))) for step in turn.kept]
    return Cells(replace(cell, source=safe_text(cell.source)) for cell in cells)


def cells_to_keep(run: RunRecord) -> Cells:
    """The cells of a run; raises `ConfigError` if there are none."""
    if not (cells := to_cells(run)):
        raise ConfigError(f"`{run.name}` has executed no code that could be kept.")
    return cells


def _outputs(step: CodeStep) -> Iterator[Json]:
    """The outputs of a successful call; a failed call's outputs may belong to dropped statements."""
    for bundle in step.end.outputs if step.end and step.ok else ():
        data = {} if NAMES_TYPE in bundle else safe_output(bundle)
        text = data.get("text/plain", "")
        if [*data] == ["text/plain"] and text.endswith("\n"):  # printed
            yield {"output_type": "stream", "name": "stdout", "text": text}
        elif data:
            yield {"output_type": "display_data", "data": data, "metadata": {}}


def kept_steps(run: RunRecord, *, repeated: bool = False) -> list[CodeStep]:
    """The code without failed attempts and, unless `repeated`, without those that repeat an earlier one."""
    return [step for turn in _turns(run, repeated=repeated) for step in turn.kept]


def changes_names(run: RunRecord) -> bool:
    """Whether code that would be applied set, changed or deleted a name."""
    kinds = ("bound", "changed", "deleted", "in_place")
    return any(step.names.get(kind) for step in kept_steps(run) for kind in kinds)


def numbered_code(codes: Sequence[str]) -> str:
    """The code of all calls in one text, as it is shown before it runs."""
    if len(codes) == 1:
        return codes[0]
    return "\n\n".join(f"# Call {number} of {len(codes)}\n{code}" for number, code in enumerate(codes, 1))


def steps_of(run: RunRecord) -> list[CodeStep]:
    return [step for turn in _turns(run) for step in turn.steps]


def branch_names(run: RunRecord) -> dict[str, Literal["set", "changed", "deleted"]]:
    """The names that code of the run set, changed or deleted in its branch, each as compared with the session."""
    names: dict[str, Literal["set", "changed", "deleted"]] = {}
    for step in steps_of(run) if run.settings.get("branch") else ():
        for name in step.names.get("bound", ()):
            names[name] = "changed" if name in names else "set"  # it was deleted before
        for name in (*step.names.get("changed", ()), *step.names.get("in_place", ())):
            names.setdefault(name, "changed")
        for name in step.names.get("deleted", ()):
            if names.get(name) == "set":
                del names[name]
            else:
                names[name] = "deleted"
    return names


def _turns(run: RunRecord, *, repeated: bool = False) -> list[_Turn]:
    executed = _executed(run)
    ends = {event.call_id: event for event in run.events.of(ToolFinished)}
    call_counts: dict[str, int] = {}
    turns = []
    for message in run.own_messages:
        if message.role != "assistant":
            continue
        turn = _Turn(message.text.strip())
        for call in message.tool_calls:
            event_id = unique_call_id(call.id, call_counts)
            code = executed.get(event_id, {}).get("code")
            if call.name == CODE_TOOL and isinstance(code, str):
                tidy = code.strip("\n").rstrip()
                turn.steps.append(CodeStep(executed=code, end=ends.get(event_id), code=tidy))
        turns.append(turn)
    steps = [] if repeated else [step for turn in turns for step in turn.steps]
    _choose(turns, {*_repeated(steps)})
    return turns


def _executed(run: RunRecord) -> dict[str, Json]:
    """The executed arguments of each call, after hooks and the user's edits."""
    args: dict[str, Json] = {}
    for event in run.events.of(ToolReady, ApprovalResolved):
        if isinstance(event, ToolReady):
            args[event.call_id] = event.args
        elif event.executed is not None:
            args[event.call_id] = event.executed
    return args


def _choose(turns: list[_Turn], repeated: set[int]) -> None:
    """Fill `kept`, last step first: the useful part of a failed step depends on later ones."""
    needed: set[str] = set()
    for turn in reversed(turns):
        for step in reversed(turn.steps):
            if id(step) in repeated:
                continue
            code = step.code if step.ok else _part(step, needed)
            if code:
                turn.kept.insert(0, replace(step, code=code))
                names = names_in(code)
                needed = (needed - names.sets) | {*names.reads, *names.mentions}


def _repeated(steps: Sequence[CodeStep]) -> Iterator[int]:
    """Ids of steps that repeat an earlier step although none of the names they read has changed."""
    changed_since: dict[str, set[str]] = {}
    for step in steps:
        names = names_in(step.code)
        reads = {*names.reads, *names.mentions}
        if step.ok and step.code in changed_since and not changed_since[step.code] & reads:
            yield id(step)
            continue
        if step.ok:
            changed_since[step.code] = set()
        for changed in changed_since.values():
            changed.update(_changes(step))


def _changes(step: CodeStep) -> frozenset[str]:
    """Names that a step may have changed. A final expression with output is assumed to change nothing."""
    tree = parse_cell(step.code)
    displayed = [bundle for bundle in (step.end.outputs if step.end else ()) if NAMES_TYPE not in bundle]
    if tree is None or not displayed or not tree.body:
        return names_in(step.code).changes
    return names_of(tree.body[:-1]).changes | names_of(tree.body[-1:]).sets


def _part(step: CodeStep, needed: set[str]) -> str:
    """The statements of a failed call that ran and set names read later."""
    line = step.names.get("line")
    if not isinstance(line, int):
        return ""
    executed = [(names, text) for names, end, text in statements_in(step.code) if end < line]
    required = set(needed)
    for _ in executed:  # transitive closure: each round adds a statement or changes nothing
        used = [names for names, _ in executed if names.sets & required]
        required.update(*(names.reads for names in used), *(names.mentions for names in used))
    texts = [text for names, text in executed if names.sets & required]
    return "\n".join((PART, *texts)) if texts else ""


def _helpers(steps: Sequence[CodeStep], files: Files) -> Iterator[str]:
    codes = [step.code for step in steps]
    renamed = [name for step in steps for name in step.names.get("renamed", ())]
    for usual, name in used_helpers(needed_by(codes), renamed):
        to_file = inspect.getsource(contents).partition('"""\n')[2].strip()
        source = to_file if usual == "to_file" else _files_source(codes, files)
        yield source if name == usual else f"{source}\n\n\n{name} = {usual}"


def used_helpers(needed: Collection[str], renamed: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each helper that the code uses and its name in the code; those in `renamed` are the user's variables."""
    for usual in HELPERS:
        name = f"_{usual}" if usual in renamed else usual
        if name in needed:
            yield usual, name


def _files_source(codes: Sequence[str], files: Files) -> str:
    """Source with the final files that the code mentions; all text files if it mentions none."""
    mentioned = {path: content for path, content in files.items() if any(path in code for code in codes)}
    selected = mentioned or {path: content for path, content in files.items() if isinstance(content, str)}
    items = "".join(f"    {path!r}: {content!r},\n" for path, content in selected.items())
    return f"agent_files = {{\n{items}}}"


def _notebook_cell(number: int, cell: NotebookCell) -> Json:
    more: Json = {"execution_count": None, "outputs": [*cell.outputs]} if cell.kind == "code" else {}
    lines = cell.source.splitlines(keepends=True)
    return {"id": f"cell-{number}", "cell_type": cell.kind, "metadata": {}, "source": lines, **more}
