"""What goes to the fresh kernel: inputs and the values that the run left, as pickles, and copies of files."""

import ast
import contextlib
import importlib
import json
import pickle
import shutil
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from agent_nb._base.text import printable, shortened
from agent_nb.notebook.kernel_tools.execute import has_run
from agent_nb.notebook.kernel_tools.name_changes import undo_store
from agent_nb.run.cells import Step
from agent_nb.run.code_names import names_in, parsed

MAX_BYTES = 256 * 1024 * 1024
"""Of one value, or of one file that is copied."""
MAX_REPORT = 1_000_000
_CODE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
_MISSING = object()


class _TooLargeError(Exception):
    pass


class _Bounded:
    """A file that takes so many bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._left = stream, MAX_BYTES

    def write(self, data: Any) -> int:
        self._left -= memoryview(data).nbytes
        if self._left < 0:
            raise _TooLargeError(f"it takes more than {MAX_BYTES // 1024**2} MB")
        return self._stream.write(data)


class _Import:
    """Is unpickled as the module."""

    def __init__(self, module: types.ModuleType) -> None:
        self._name = module.__name__

    def __reduce__(self) -> Any:
        return importlib.import_module, (self._name,)


def dump(value: Any, target: Path, *, by_value: bool) -> str:
    """Writes a pickle; returns why there is none. `by_value` takes the classes and functions of the notebook along."""
    value = _Import(value) if isinstance(value, types.ModuleType) else value
    dumps, problem = [pickle.dump], ""
    with contextlib.suppress(ImportError):
        dumps.append(importlib.import_module("cloudpickle").dump)
    for write in reversed(dumps) if by_value else dumps:
        try:
            with target.open("wb") as stream:
                write(value, _Bounded(stream))
            return ""
        except Exception as error:  # `__reduce__` is code of any class
            target.unlink(missing_ok=True)
            problem = problem or shortened(printable(f"{type(error).__name__}: {error}", keep=""), 160)
            if isinstance(error, _TooLargeError):
                return str(error)
    return f"it cannot be pickled ({problem})"


def given_inputs(
    needed: Iterable[str], steps: Sequence[Step], namespace: Mapping[str, Any]
) -> Iterator[tuple[str, Any, str]]:
    """Name, value and a remark for each input, as it was before the run where that is still known."""
    first = _first_changes(steps)
    in_place = {name for step in steps if has_run(step.executed) for name in names_in(step.code).changes}
    for name in needed:
        how, token = first.get(name, ("", ""))
        if how == "bound":  # by the run itself: a function reads it later
            continue
        value = undo_store.before(token).get(name, _MISSING) if how else namespace.get(name, _MISSING)
        if value is _MISSING:
            gone = "the run changed it, and its former value is gone"
            yield name, None, gone if how else "there is no such variable"
        elif name in in_place and not how and not isinstance(value, types.ModuleType):
            yield name, value, "as it is now: the code changes it in place"
        else:
            yield name, value, ""


def _first_changes(steps: Iterable[Step]) -> dict[str, tuple[str, str]]:
    """How each name was first touched by the run, and the token of the call. Code of a replay touched none here."""
    first: dict[str, tuple[str, str]] = {}
    for step in steps:
        for how in ("bound", "changed", "deleted") if has_run(step.executed) else ("bound",):
            for name in step.names.get(how, ()):
                first.setdefault(name, (how, str(step.names.get("undo", ""))))
    return first


def left_names(steps: Iterable[Step]) -> list[str]:
    """The names that the run has bound or changed and not deleted."""
    left: dict[str, None] = {}
    for step in steps:
        left |= dict.fromkeys([*step.names.get("bound", ()), *step.names.get("changed", ())])
        for name in step.names.get("deleted", ()):
            left.pop(name, None)
    return list(left)


def is_code(value: Any) -> bool:
    """Whether it is a module, a function or a class, which the cells themselves define or import."""
    return isinstance(value, _CODE)


def copy_files(codes: Iterable[str], source: Path, target: Path) -> dict[Path, int]:
    """Copies the files below `source` that the code names; returns the copies and when they were changed."""
    copies = {}
    nodes = (node for code in codes for node in ast.walk(parsed(code) or ast.Module([], [])))
    constants = {node.value for node in nodes if isinstance(node, ast.Constant)}
    for name in (value for value in constants if isinstance(value, str)):
        path = Path(name)
        if path.is_absolute() or ".." in path.parts or not 0 < len(name) < 300 or "\0" in name:
            continue
        original, copy = source / path, target / path
        if original.is_file() and original.stat().st_size <= MAX_BYTES:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(original, copy)
            copies[copy] = copy.stat().st_mtime_ns
    return copies


def reports(folder: Path, kind: str) -> dict[str, str]:
    """What the fresh kernel reports about each name."""
    path = folder / f"{kind}.jsonl"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream.read(MAX_REPORT).splitlines()]
    return {str(name): printable(str(text), keep="") for name, text in rows}
