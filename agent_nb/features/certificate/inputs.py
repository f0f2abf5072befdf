"""What the code of a run reads: facts and digests, taken by the session before the first call that reads a name."""

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

from agent_nb._base.limited import UnreadableError, call_within
from agent_nb._base.secrets import mask
from agent_nb.features.certificate.digests import (
    NotCanonicalError,
    digest_of,
    digest_of_file,
    size_of,
    type_name,
)
from agent_nb.plugins.engine import names_in, parse_cell

SECONDS = 0.3
"""Maximum duration of a digest."""
NOT_RECORDED = "not recorded"
_MOST_SOURCE = 100_000

Use = Literal["read", "mentioned", "sent"]
"""Whether code read a name, only has it in a string, or the prompt had its value."""
When = Literal["before it was read", "when it was certified"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A name or a file. One that is code has its source, all others have a digest."""

    name: str
    kind: Literal["data", "file", "code"]
    use: Use = "read"
    type: str = ""
    size: str = ""
    digest: str = ""
    """Empty if it was not recorded."""
    source: str = ""
    note: str = ""
    when: When = "before it was read"


def named_in(code: str, namespace: Mapping[str, Any]) -> dict[str, Use]:
    """The names of the session that code reads or, in a string, mentions."""
    names = names_in(code)
    uses: dict[str, Use] = dict.fromkeys(sorted(names.mentions.intersection(namespace)), "mentioned")
    return uses | dict.fromkeys((name for name in names.reads if name in namespace), "read")


def read_inputs(
    uses: Mapping[str, Use], namespace: Mapping[str, Any], salt: str, when: When = "before it was read"
) -> Iterator[Input]:
    """The inputs of these names, and those of the user's functions among them."""
    waiting, done = dict(uses), set[str]()
    while waiting:
        name, use = waiting.popitem()
        done.add(name)
        if source := _source_of(name, value := namespace[name]):
            reads = {other: kind for other, kind in named_in(source, namespace).items() if other not in done}
            waiting |= (
                {other: kind for other, kind in reads.items() if kind == "read"} if use == "read" else {}
            )
            kind = type_name(value)
            yield Input(name=name, kind="code", use=use, type=kind, source=mask(source), when=when)
        else:
            digest, note = _digested(partial(digest_of, value, salt))
            size, _ = _digested(partial(size_of, value))
            yield Input(
                name=name,
                kind="data",
                use=use,
                type=type_name(value),
                size=size,
                digest=digest,
                note=note,
                when=when,
            )


def files_in(codes: Iterable[str]) -> list[str]:
    """Files below the working directory that code names."""
    nodes = (node for code in codes for node in ast.walk(parse_cell(code) or ast.Module([], [])))
    texts = {node.value: None for node in nodes if isinstance(node, ast.Constant)}
    return [text for text in texts if isinstance(text, str) and is_below(text) and Path(text).is_file()]


def is_below(text: str) -> bool:
    """Whether a text can be the path of a file below a folder."""
    path = Path(text[:250])
    return bool(path.name) and text.isprintable() and not path.is_absolute() and ".." not in path.parts


def read_file_input(name: str, salt: str, when: When = "before it was read") -> Input:
    path = Path(name)
    digest, note = _digested(partial(digest_of_file, path, salt))
    size = f"{path.stat().st_size} bytes"
    return Input(name=name, kind="file", type="file", size=size, digest=digest, note=note, when=when)


def _digested(read: Callable[[], str]) -> tuple[str, str]:
    """The digest, or why there is none."""
    try:
        return call_within(SECONDS, read), ""
    except UnreadableError as problem:
        if isinstance(problem.__cause__, NotCanonicalError):
            return "", "its contents have no order that is known here"
        return "", f"it {problem}"


def _source_of(name: str, value: Any) -> str:
    """The code that makes a module, or a function or class: an import or its definition; empty for data."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")
    kind = getattr(value, "__qualname__", "")
    if not (callable(value) and isinstance(kind, str) and kind):
        return ""
    module = str(getattr(value, "__module__", ""))
    if module != "__main__":
        is_there = getattr(sys.modules.get(module), kind, None) is value
        return f"from {module} import {kind}" + (f" as {name}" if kind != name else "") if is_there else ""
    try:
        source = textwrap.dedent(inspect.getsource(value))[:_MOST_SOURCE]
    except (OSError, TypeError):  # it was not defined in a cell
        return ""
    return source if name in names_in(source).sets else ""
