"""Recognises the text that nbgrader and Otter leave where a student should write: no prompt, so nothing is sent."""

import ast
import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import read_file

_STUBS = {
    "your code here",
    "your answer here",
    "raise notimplementederror",
    "raise notimplementederror()",
    "type your answer here, replacing this text.",
    "...",
    "pass",
}
_MARKER = re.compile(r"(?:begin|end) (?:solution|prompt|question|hidden tests)|solution(?: no prompt)?")
"""What nbgrader and Otter put around solutions."""
_COMMENT = "#%/<!->*_ \t"
"""What stands around a stub, in code and in Markdown."""
_CONFIG = "nbgrader_config.py"
_LEVELS = 4
"""nbgrader runs a notebook in `autograded/STUDENT/ASSIGNMENT`, and its configuration is in the course's folder."""


def is_stub(prompt: str, folder: Path) -> bool:
    """Whether an exercise was left untouched: every line is a stub or a marker, built in or configured."""
    lines = set(_lines(prompt))
    own = {line for stub in _configured(folder) for line in _lines(stub)}
    return bool(lines) and all(line in _STUBS | own or _MARKER.fullmatch(line) for line in lines)


def _lines(text: str) -> Iterator[str]:
    return filter(None, (line.strip(_COMMENT).casefold() for line in text.splitlines()))


def _configured(folder: Path) -> list[str]:
    """The stubs that the nearest configuration assigns as literals. It is read and not run."""
    for place in (folder, *folder.parents)[:_LEVELS]:
        with contextlib.suppress(OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            tree = ast.parse(read_file(place / _CONFIG, 1_000_000))
            return [stub for node in tree.body if isinstance(node, ast.Assign) for stub in _assigned(node)]
    return []


def _assigned(node: ast.Assign) -> list[str]:
    if not ast.unparse(node.targets[0]).endswith(("code_stub", "text_stub")):
        return []
    value: Any = ast.literal_eval(node.value)
    stubs = value.values() if isinstance(value, dict) else [value]
    return [stub for stub in stubs if isinstance(stub, str)]
