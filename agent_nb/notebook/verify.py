"""`%agent cells NAME --verify`: runs the cells of a run in a fresh kernel and compares the results."""

import ast
import importlib
import math
import os
import pickle
import shutil
import sys
import tempfile
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import chain, zip_longest
from pathlib import Path
from subprocess import DEVNULL
from types import ModuleType
from typing import Any

from agent_nb._base.secrets import shortened
from agent_nb._base.table import Table
from agent_nb._base.text import plural, printable
from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Image
from agent_nb.notebook.kernel_tools.execute import has_run
from agent_nb.notebook.kernel_tools.name_changes import undo_store
from agent_nb.notebook.user_variables import CODE
from agent_nb.pages.closeness import closeness
from agent_nb.run import Run
from agent_nb.run.cells import Cells, kept_steps, steps_of
from agent_nb.run.code_names import GIVEN, names_in, needed_by, parse_cell

EQUAL, DIFFERS, NOT_VERIFIED = "equal", "differs", "not verified"
_TESTS = {"DataFrame": "assert_frame_equal", "Series": "assert_series_equal", "ndarray": "assert_array_equal"}
# Both use a separate namespace, so that their names cannot hide one that the cells forgot to set.
_PREPARE = """import pickle, sys
sys.path.append(home)
for name, data in pickle.load(open("../inputs", "rb")).items():
    namespace[name] = pickle.loads(data)
sys.modules.setdefault("agent_nb", None)  # the cells do without it, unless an input is made of it"""
_COMPARE = """import sys
sys.modules["agent_nb"] or sys.modules.pop("agent_nb")
sys.path.append(package)
from agent_nb.notebook.verify import compared
for name, result in compared("../values", namespace):
    show({"name": name, "result": result}, raw=True)"""


def check_verifiable(run: Run, cells: Cells) -> None:
    """Raise `ConfigError` if the code cannot run, or has not run in this kernel and so needs consent."""
    if cells.is_masked:
        raise ConfigError("Parts of the code are masked (•••), so it cannot be run.")
    if not has_run_here(run):
        raise ConfigError(
            f"The code has not run in this kernel. `%agent cells {run.name} --verify` asks and runs it."
        )


def has_run_here(run: Run) -> bool:
    return all(has_run(step.executed) for step in kept_steps(run)) and not run.settings.get("replayed")


def verify(run: Run, cells: Cells, namespace: Mapping[str, Any], seconds: float) -> Table:
    if not all(map(find_spec, ("nbclient", "ipykernel", "cloudpickle"))):
        raise ConfigError('`--verify` needs nbclient: `pip install "agent-nb[verify]"`.')
    with tempfile.TemporaryDirectory(prefix="agent_nb-", ignore_cleanup_errors=True) as folder:
        rows = tuple(_rows(run, cells, namespace, Path(folder), seconds))
    note = (
        f"{outcome([result for _, result in rows])}. The cells ran in a temporary folder with copies of the files that "
        "they name, and were compared with what the notebook holds now."
    )
    return Table(("what", "result"), rows, "There was nothing to compare.", note)


def outcome(results: Sequence[str]) -> str:
    """Format as `Ran again in a fresh kernel: 1 value, the same`, or with counts: `2 equal, 1 differs`."""
    kinds = Counter(result.partition(":")[0] for result in results)
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in (EQUAL, DIFFERS, NOT_VERIFIED) if kinds[kind])
    same = f"{plural(len(results), 'value')}, the same"
    return f"Ran again in a fresh kernel: {counts if {*kinds} - {EQUAL} else same}"


def _rows(
    run: Run, cells: Cells, namespace: Mapping[str, Any], folder: Path, seconds: float
) -> Iterator[tuple[str, str]]:
    inputs = _pickled(_inputs(run, cells, namespace), folder / "inputs", "cloudpickle")
    values = _pickled(_values(run, cells, namespace), folder / "values", "pickle")
    _copy_files(cells.code, folder / "work")
    (problem, _), *outcomes, (late, comparisons) = _execute(cells.code, folder, seconds)
    if problem:
        raise ConfigError(f"The inputs of the cells could not be loaded in a fresh kernel ({problem}).")
    values |= {bundle["name"]: bundle["result"] for bundle in comparisons if "result" in bundle}
    yield from ((f"input {name}", text) for name, text in inputs.items() if text)
    error, unreached = outcomes[-1][0], set[str]()
    if error:
        names = [names_in(code) for code in cells.code[len(outcomes) - 1 :]]
        unknown = any(inputs.get(name, "").startswith(NOT_VERIFIED) for name in names[0].reads)
        yield f"cell {len(outcomes)}", f"{NOT_VERIFIED if unknown else DIFFERS}: {error}"
        unreached = {name for cell_names in names for name in cell_names.changes}
    for name, text in values.items():
        reason = "a cell failed" if name in unreached else late
        yield name, f"{NOT_VERIFIED}: {reason}" if name in unreached or not text else text
    run_bundles = [bundle for step in kept_steps(run) if step.end for bundle in step.end.outputs]
    cell_bundles = [bundle for _, bundles in outcomes for bundle in bundles]
    for number, pair in enumerate(zip_longest(_images(run_bundles), _images(cell_bundles)), 1):
        yield f"figure {number}", _compared_figures(*pair)


def _inputs(run: Run, cells: Cells, namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield each input, the namespace with its value before the run, and a remark."""
    steps = [step for step in steps_of(run) if has_run(step.executed)]
    in_place = {name for step in steps for name in names_in(step.code).changes}
    kinds = ("bound", "changed", "deleted")
    for name in needed_by(cells.code, namespace.keys() - GIVEN):
        changes = (step.names for step in steps if any(name in step.names.get(kind, ()) for kind in kinds))
        first_change = next(changes, None)
        if first_change is None:
            is_changed = name in in_place and not isinstance(namespace.get(name), ModuleType)
            yield name, namespace, "as it is now: the code changes it in place" if is_changed else ""
        elif name not in first_change.get("bound", ()):  # a name that the code sets first is no input
            yield name, undo_store.before(str(first_change.get("undo", ""))), ""


def _values(run: Run, cells: Cells, namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Like `_inputs`, for the run's results: names that it set or changed, including in place, and did not delete."""
    names: set[str] = set()
    for step in steps_of(run):
        names |= {*step.names.get("bound", ()), *step.names.get("changed", ())}
        names -= {*step.names.get("deleted", ())}
    names.update({name for step in kept_steps(run) for name in names_in(step.code).changes} & {*cells.inputs})
    for name in sorted(names):
        if not isinstance(namespace.get(name), CODE):
            yield name, namespace, ""


def _pickled(values: Iterable[tuple[str, Any, str]], path: Path, module: str) -> dict[str, str]:
    """Pickle the values to a file; return the remarks. cloudpickle includes the notebook's functions and classes."""
    pickles, remarks = {}, {}
    for name, namespace, remark in values:
        remarks[name] = remark
        try:
            pickles[name] = importlib.import_module(module).dumps(namespace[name])
        except KeyError:
            remarks[name] = f"{NOT_VERIFIED}: the notebook has no value for it"
        except Exception as error:  # `__reduce__` can raise anything
            remarks[name] = f"{NOT_VERIFIED}: it cannot be pickled ({_message(error)})"
    path.write_bytes(pickle.dumps(pickles))
    return remarks


def _copy_files(codes: Iterable[str], target: Path) -> None:
    target.mkdir()
    nodes = (node for code in codes for node in ast.walk(parse_cell(code) or ast.Module([], [])))
    for name in {node.value for node in nodes if isinstance(node, ast.Constant)}:
        path = Path(name[:250]) if isinstance(name, str) and name.isprintable() else Path()
        if not path.is_absolute() and ".." not in path.parts and path.is_file():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target / path)


def _images(bundles: Iterable[Any]) -> list[bytes]:
    return [b64decode(bundle["image/png"]) for bundle in bundles if isinstance(bundle.get("image/png"), str)]


def _execute(codes: Iterable[str], folder: Path, seconds: float) -> Iterator[tuple[str, list[Any]]]:
    """Run setup, cells and comparison; yield error and outputs of each. A failed cell skips the remaining cells."""
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError
    from nbformat.v4 import new_code_cell, new_notebook

    package = str(Path(__file__).parents[2])
    arguments = f"home={os.getcwd()!r}, package={package!r}, namespace=globals(), show=display"
    first, last = (f"exec({code!r}, dict({arguments}))" for code in (_PREPARE, _COMPARE))
    manager = AsyncKernelManager()
    manager.kernel_spec.argv = [sys.executable, "-P", "-m", "ipykernel_launcher", "-f", "{connection_file}"]  # type: ignore[union-attr]
    client = NotebookClient(
        new_notebook(cells=[new_code_cell(code) for code in (first, *codes, last)]),
        km=manager,
        timeout_func=lambda cell: seconds,
        interrupt_on_timeout=True,
        error_on_timeout={"ename": "", "evalue": f"stopped after {seconds:.3g} seconds"},
        shutdown_kernel="immediate",
    )
    options = {"cwd": str(folder / "work"), "env": {**os.environ, "IPYTHONDIR": str(folder / "ipython")}}
    with client.setup_kernel(cleanup_kc=True, stdout=DEVNULL, stderr=DEVNULL, **options):
        error = ""
        for number, cell in enumerate(client.nb.cells):
            if error and cell is not client.nb.cells[-1]:
                continue
            try:
                client.execute_cell(cell, number)
                error = ""
            except CellExecutionError as failure:
                error = _message(failure)
            except DeadKernelError:
                error = "the kernel died"
            yield error, [output.get("data", {}) for output in cell.outputs]


def compared(path: str, namespace: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Compare the run's values with those of the cells. Runs in the fresh kernel."""
    for name, data in pickle.loads(Path(path).read_bytes()).items():
        try:
            if name not in namespace:
                yield name, f"{DIFFERS}: the cells do not set it"
            else:
                different = difference(pickle.loads(data), namespace[name])
                yield name, f"{DIFFERS}: {different}" if different else EQUAL
        except Exception as error:  # unpickling and `__eq__` can raise anything
            yield name, f"{NOT_VERIFIED}: {_message(error)}"


def difference(expected: Any, actual: Any) -> str:
    """A short description of the difference; empty if equal. Objects without `==` are compared by attributes."""
    kind, package = type(actual).__qualname__, type(actual).__module__.partition(".")[0]
    if kind != type(expected).__qualname__:
        return f"a {kind} instead of a {type(expected).__qualname__}"
    if kind in _TESTS and package in ("numpy", "pandas", "polars"):
        try:
            getattr(importlib.import_module(f"{package}.testing"), _TESTS[kind])(actual, expected)
        except AssertionError as error:
            return shortened(" ".join(str(error).split()), 160)
        return ""
    if isinstance(actual, list | tuple | dict):
        if len(actual) != len(expected):
            return f"{len(actual)} items instead of {len(expected)}"
        expected_items, actual_items = (
            dict(value if isinstance(value, dict) else enumerate(value)) for value in (expected, actual)
        )
    elif "__eq__" not in {*chain(*map(vars, type(actual).__mro__[:-1]))} and hasattr(actual, "__dict__"):
        # pandas fills its cache lazily
        expected_items, actual_items = ({**vars(value), "_cache": None} for value in (expected, actual))
    else:
        close = isinstance(actual, float) and math.isclose(expected, actual, rel_tol=1e-7)
        same: Any = close or expected == actual
        every = getattr(same, "all", lambda: same)  # pandas arrays compare element by element
        return "" if every() else f"{shortened(repr(actual), 60)} instead of {shortened(repr(expected), 60)}"
    for key, value in expected_items.items():
        if different := "it is missing" if key not in actual_items else difference(value, actual_items[key]):
            return shortened(f"at {shortened(repr(key), 40)}: {different}", 200)
    return ""


def _compared_figures(expected: bytes | None, actual: bytes | None) -> str:
    if expected is None or actual is None:
        return f"{DIFFERS}: only {'the run' if actual is None else 'the cells'} made it"
    if expected == actual:
        return EQUAL
    score = closeness(Image(expected), Image(actual))
    return f"{EQUAL if score and score >= 99 else DIFFERS}: {score or 0:.1f} of 100 alike"


def _message(error: Any) -> str:
    name, text = getattr(error, "ename", type(error).__name__), getattr(error, "evalue", str(error))
    return shortened(printable(f"{name}: {text}" if name else text, keep=""), 200)
