"""`%agent cells NAME --verify`: the cells of a run in a fresh kernel, and what differs from what the run left."""

import base64
import hashlib
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from agent_nb._base.table import Table
from agent_nb.errors import AgentError
from agent_nb.events import FileChanged
from agent_nb.files import Content
from agent_nb.looking.closeness import closeness
from agent_nb.messages import Image
from agent_nb.notebook.verify import exchange
from agent_nb.notebook.verify.fresh_kernel import Outcome, fresh_kernel
from agent_nb.run import Run
from agent_nb.run.cells import Cells, Step, kept_steps, steps_of
from agent_nb.run.code_names import names_in

CLOSE = 99.0
"""Images of this closeness count as the same."""
MAX_FILES = 1000
EQUAL, DIFFERS, NOT_VERIFIED = "equal", "differs", "not verified"
IN_KERNEL = Path(__file__).with_name("in_kernel.py")

Row = tuple[str, str]


def verify(run: Run, cells: Cells, namespace: Mapping[str, Any], seconds: float) -> Table:
    """Runs the cells and compares values, figures and files. Each cell may run for `seconds`.

    The result of a row is `equal`, `differs: ...` or `not verified: ...`.
    """
    with tempfile.TemporaryDirectory(prefix="agent_nb-", ignore_cleanup_errors=True) as root:
        rows = tuple(_Verifying(run, cells, namespace, Path(root)).rows(seconds))
    results = {
        each: sum(found.startswith(each) for _, found in rows) for each in (EQUAL, DIFFERS, NOT_VERIFIED)
    }
    note = (
        f"{', '.join(f'{count} {result}' for result, count in results.items())}. The cells ran in a fresh kernel, in a"
        " temporary folder with copies of the files that they name, and were compared with what the notebook holds now."
    )
    return Table(("what", "result"), rows, "There was nothing to compare.", note)


class _Verifying:
    def __init__(self, run: Run, cells: Cells, namespace: Mapping[str, Any], root: Path) -> None:
        self.run, self.cells, self.namespace = run, cells, namespace
        self.steps, self.all_steps = kept_steps(run), steps_of(run)
        self.home, self.work, self.folder = Path.cwd(), root / "work", root / "exchange"
        for folder in (self.work, self.folder / "inputs", self.folder / "values"):
            folder.mkdir(parents=True)

    def rows(self, seconds: float) -> Iterator[Row]:
        inputs = dict(self._inputs())
        values = dict(self._values())
        copies = exchange.copy_files(self.cells.code, self.home, self.work)
        with fresh_kernel(self.work, self.folder / "ipython", seconds) as kernel:
            kernel.run(self._call("load"), silent=True)
            outcomes: list[Outcome] = []  # up to the first cell that fails
            for source in self.cells.code:
                outcomes.append(kernel.run(source))
                if outcomes[-1].error:
                    break
            late = kernel.run(self._call("compare"), silent=True).error
        inputs |= exchange.reports(self.folder, "inputs")
        yield from ((f"input {name}", text) for name, text in inputs.items() if text)
        unreached = yield from self._failure(outcomes, inputs)
        values |= exchange.reports(self.folder, "values")
        for name, text in values.items():
            if name in unreached:
                yield name, f"{NOT_VERIFIED}: a cell failed"
            else:
                yield name, text or f"{NOT_VERIFIED}: {late}"
        yield from self._figures(outcomes[len(self.cells.code) - len(self.steps) :])
        yield from self._files(copies, failed=bool(outcomes[-1].error))

    def _failure(
        self, outcomes: Sequence[Outcome], inputs: Mapping[str, str]
    ) -> Generator[Row, None, set[str]]:
        """The cell that failed, if one did; returns the names that it and those after it would have set."""
        error = outcomes[-1].error
        if not error:
            return set()
        rest = [names_in(code) for code in self.cells.code[len(outcomes) - 1 :]]
        unknown = {name for name, text in inputs.items() if text.startswith(NOT_VERIFIED)}
        yield f"cell {len(outcomes)}", f"{NOT_VERIFIED if unknown & {*rest[0].reads} else DIFFERS}: {error}"
        return {name for names in rest for name in names.changes}

    def _call(self, function: str) -> str:
        """Code that leaves no name behind, which could stand in for one that the cells forgot to set."""
        home = f"__import__('sys').path.append({str(self.home)!r})"
        call = (
            f"__import__('runpy').run_path({str(IN_KERNEL)!r})[{function!r}]({str(self.folder)!r}, globals())"
        )
        return f"{home}; {call}" if function == "load" else call

    def _inputs(self) -> Iterator[Row]:
        for name, value, remark in exchange.given_inputs(self.cells.inputs, self.all_steps, self.namespace):
            if value is None and remark:
                yield name, f"{NOT_VERIFIED}: {remark}"
                continue
            problem = exchange.dump(value, self.folder / "inputs" / f"{name}.pickle", by_value=True)
            yield name, f"{NOT_VERIFIED}: {problem}" if problem else remark

    def _values(self) -> Iterator[Row]:
        changed = {name for step in self.steps for name in names_in(step.code).changes}
        names = [
            *exchange.left_names(self.all_steps),
            *(name for name in self.cells.inputs if name in changed),
        ]
        for name in dict.fromkeys(names):
            if name not in self.namespace:
                yield name, f"{NOT_VERIFIED}: the notebook has no variable of this name"
            elif not exchange.is_code(value := self.namespace[name]):
                target = self.folder / "values" / f"{name}.pickle"
                problem = exchange.dump(value, target, by_value=False)
                yield name, f"{NOT_VERIFIED}: {problem}" if problem else ""

    def _figures(self, outcomes: Sequence[Outcome]) -> Iterator[Row]:
        number = 0
        for step, outcome in zip(self.steps, outcomes, strict=False):
            outputs = step.end.outputs if step.end and step.ok else ()
            images = [bundle["image/png"] for bundle in outputs if isinstance(bundle.get("image/png"), str)]
            for expected, found in zip_longest(images, outcome.images):
                number += 1
                yield f"figure {number}", _compared_images(expected, found)

    def _files(self, copies: Mapping[Path, int], *, failed: bool) -> Iterator[Row]:
        written = {
            path.relative_to(self.work).as_posix(): path
            for path in sorted(self.work.rglob("*"))[:MAX_FILES]
            if path.is_file() and path.stat().st_mtime_ns != copies.get(path)
        }
        by_code = _files_of_code(self.run, self.all_steps)
        for path in dict.fromkeys([*written, *by_code]):
            if "__pycache__" in path:
                continue
            original = self.home / path  # which the run wrote there
            small = original.is_file() and original.stat().st_size <= exchange.MAX_BYTES
            own = original.read_bytes() if small and path not in by_code else None
            expected = by_code.get(path, own)
            if expected is None:
                yield path, f"{NOT_VERIFIED}: there is no file to compare it with"
            elif path in written:
                yield path, _compared_files(expected, written[path])
            else:
                yield (
                    path,
                    f"{NOT_VERIFIED}: a cell failed" if failed else f"{DIFFERS}: the cells do not write it",
                )


def _files_of_code(run: Run, steps: Sequence[Step]) -> dict[str, Content | None]:
    """The files that code wrote with `to_file`; None if another tool has changed them since."""
    calls = {step.end.call_id for step in steps if step.end}
    files = run.files if run.given_files is None else run.given_files
    found: dict[str, Content | None] = {}
    for event in run.events.of(FileChanged):
        if event.call_id in calls:
            found[event.path] = files.get(event.path)
        elif event.path in found:
            found[event.path] = None
    return found


def _compared_images(expected: str | None, found: str | None) -> str:
    if expected is None or found is None:
        return (
            f"{DIFFERS}: {'the run has no such figure' if expected is None else 'the cells do not draw it'}"
        )
    return _close(*(base64.b64decode(image) for image in (expected, found)))


def _close(expected: bytes, found: bytes) -> str:
    if expected == found:
        return EQUAL
    try:
        score = closeness(Image(expected), Image(found))
    except (AgentError, OSError, ValueError):
        return f"{NOT_VERIFIED}: it cannot be read"
    if score is None:
        return DIFFERS
    return f"{EQUAL if score >= CLOSE else DIFFERS}: {score:.1f} of 100 alike"


def _compared_files(expected: Content, path: Path) -> str:
    given = expected.encode("utf-8", "replace") if isinstance(expected, str) else expected
    with path.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").digest() == hashlib.sha256(given).digest():
            return EQUAL
    return _close(given, path.read_bytes()) if path.suffix == ".png" else f"{DIFFERS}: another SHA-256"
