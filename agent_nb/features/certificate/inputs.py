"""What the code of a run reads: code of the notebook, and digests of data and files."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from agent_nb.features.certificate.data import is_below
from agent_nb.features.certificate.digests import (
    NotCanonicalError,
    digest_of,
    digest_of_file,
    size_of,
    type_name,
)
from agent_nb.plugins.engine import UnreadableError, call_within, names_in, parse_cell

SECONDS = 0.3
"""Maximum duration of a digest."""
_MOST_SOURCE = 100_000
Reads = Mapping[str, bool]
"""Names, and whether code reads them; a name in a string or of the prompt may not be needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A name of the session, or a file that code names."""

    name: str
    kind: Literal["data", "file", "code"]
    is_read: bool = True
    type: str = ""
    size: str = ""
    digest: str = ""
    """Of data and files; empty if it was not recorded."""
    source: str = ""
    """Of code: modules, functions and classes."""
    note: str = ""


def code_reads(codes: Iterable[str], namespace: Mapping[str, Any]) -> dict[str, bool]:
    """The names of the session that code reads before it sets them, or mentions in strings."""
    reads, own = dict[str, bool](), set[str]()
    for code in codes:
        names = names_in(code)
        mentioned = dict.fromkeys(sorted(names.mentions), False)
        found = {**mentioned, **reads, **dict.fromkeys(names.reads, True)}
        reads = {
            name: is_read
            for name, is_read in found.items()
            if name in reads or (name in namespace and name not in own)
        }
        own |= names.sets
    return reads


def read_inputs(reads: Reads, namespace: Mapping[str, Any], salt: str) -> Iterator[Input]:
    """The inputs of these names, and of those that the user's functions among them read."""
    waiting, done = dict(reads), set[str]()
    while waiting:
        name, is_read = waiting.popitem()
        done.add(name)
        value = namespace[name]
        facts: Any = {"name": name, "is_read": is_read, "type": type_name(value)}
        if source := _source_of(name, value):
            inner = code_reads([source], namespace) if is_read else {}
            waiting |= {other: True for other, is_inner in inner.items() if is_inner and other not in done}
            yield Input(kind="code", source=source, **facts)
        else:
            digest, note = _within(partial(digest_of, value, salt))
            yield Input(
                kind="data", size=_within(partial(size_of, value))[0], digest=digest, note=note, **facts
            )


def files_in(code: str) -> list[str]:
    """Files below the working directory that code names."""
    nodes = ast.walk(parse_cell(code) or ast.Module([], []))
    texts = {node.value: None for node in nodes if isinstance(node, ast.Constant)}
    return [text for text in texts if isinstance(text, str) and is_below(text) and Path(text).is_file()]


def file_input(name: str, salt: str) -> Input:
    digest, note = _within(partial(digest_of_file, Path(name), salt))
    return Input(
        name=name,
        kind="file",
        type="file",
        size=f"{Path(name).stat().st_size} bytes",
        digest=digest,
        note=note,
    )


def _within(read: Callable[[], str]) -> tuple[str, str]:
    """What it returns, or why that was not recorded."""
    try:
        return call_within(SECONDS, read), ""
    except UnreadableError as problem:
        is_unknown = isinstance(problem.__cause__, NotCanonicalError)
        return "", "its contents have no known order" if is_unknown else f"it {problem}"


def _source_of(name: str, value: Any) -> str:
    """The import or the definition of a module, function or class; empty for data."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")
    kind, module = getattr(value, "__qualname__", ""), getattr(value, "__module__", "")
    if not (callable(value) and isinstance(kind, str) and kind):
        return ""
    if module != "__main__":
        is_there = getattr(sys.modules.get(str(module)), kind, None) is value
        return f"from {module} import {kind}" + (f" as {name}" if kind != name else "") if is_there else ""
    try:
        source = textwrap.dedent(inspect.getsource(value))[:_MOST_SOURCE]
    except (OSError, TypeError):  # it was not defined in a cell
        return ""
    return source if name in names_in(source).sets else ""
