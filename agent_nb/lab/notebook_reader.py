"""Reads a saved notebook: whether its cells ran in order, and whether its `--check` cells hold."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from agent_nb._base.secret_names import is_secret_name
from agent_nb._base.secrets import can_be_secret, secret_spans
from agent_nb._base.text import printable_line, shortened
from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError

_SUBMIT = re.compile(r"^\s*%\w+[ \t]+submit\b", re.MULTILINE)
_CHECK = re.compile(r"%%\w+\s.*--check(?:\s|=)")
_MOST_NAMED = 5
"""Cells that a remark names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCell:
    """A code cell that is not empty."""

    number: int
    """Its place among all cells of the notebook, from 1."""
    source: str
    count: int | None
    """The number of its execution."""
    failed: bool
    """Whether it has an error among its outputs."""

    @property
    def is_check(self) -> bool:
        return bool(self._check_line)

    @property
    def is_dry_run(self) -> bool:
        """Whether its check is not evaluated, because the cell only shows what would be sent."""
        return "--dry-run" in self._check_line.partition("--check")[0].split()

    @property
    def _check_line(self) -> str:
        for line in self.source.splitlines():
            if line.startswith("%%"):
                if _CHECK.match(line):
                    return line
            elif line.strip() and not line.startswith("#"):
                return ""
        return ""

    @property
    def label(self) -> str:
        line = printable_line(self.source.strip().partition("\n")[0])
        return f"cell {self.number} (`{shortened(line, 40)}`)"


@dataclass(frozen=True, slots=True)
class NotebookReading:
    """The code cells of a notebook, without those that submit it."""

    cells: tuple[CodeCell, ...]
    submits: int
    """How many cells submit the notebook. They run when it has been saved already."""
    secrets: tuple[str, ...]
    """Where there is something with the shape of a key, or metadata with the name of one: `cell 2`, `metadata`."""

    @property
    def checks(self) -> tuple[CodeCell, ...]:
        return tuple(cell for cell in self.cells if cell.is_check)

    def has_run(self, count: int | None) -> bool:
        """Whether a cell has this number of execution."""
        return count is not None and any(cell.count == count for cell in self.cells)

    def remarks(self) -> Iterator[str]:
        """What is wrong with the order of the cells or with their checks, one sentence each."""
        if unrun := [cell for cell in self.cells if cell.count is None]:
            yield f"{_named(unrun)} did not run."
        ran = [(cell, cell.count) for cell in self.cells if cell.count is not None]
        late = [cell for (_, before), (cell, count) in pairwise(ran) if count <= before]
        if late:
            yield f"{_named(late)} ran before the cell above. {AGAIN}"
        elif ran and ran[-1][1] > len(ran) + self.submits:
            yield f"Some cells ran more than once: {len(ran)} cells have numbers up to {ran[-1][1]}. {AGAIN}"
        if failed := [cell for cell in self.checks if cell.failed]:
            yield f"The check of {_named(failed, capital=False)} does not hold."
        if dry := [cell for cell in self.checks if cell.is_dry_run]:
            yield f"The check of {_named(dry, capital=False)} was not evaluated, because of `--dry-run`."


AGAIN = "Restart the kernel, run all cells and save."


def read_notebook(data: bytes) -> NotebookReading:
    """Reads a notebook that anybody may have written; raises `ConfigError` if it is none."""
    try:
        content = json.loads(data)
        cells = [cell for cell in content["cells"] if isinstance(cell, dict)]
        places = {f"cell {number}": cell for number, cell in enumerate(cells, 1)}
        places["metadata"] = {name: value for name, value in content.items() if name != "cells"}
        secrets = tuple(place for place, value in places.items() if _holds_secret(value))
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ConfigError("The notebook is damaged: it is no JSON with cells.") from None
    numbered = [(number, cell) for number, cell in enumerate(cells, 1) if cell.get("cell_type") == "code"]
    code = [each for number, cell in numbered if (each := _code_cell(number, cell)).source.strip()]
    own = tuple(cell for cell in code if not _SUBMIT.search(cell.source))
    return NotebookReading(own, len(code) - len(own), secrets)


def _holds_secret(part: Json) -> bool:
    """Whether a cell, or the notebook without its cells, holds a key. Papermill keeps its parameters in metadata."""
    return bool(secret_spans(json.dumps(part, ensure_ascii=False))) or _names_secret(part.get("metadata"))


def _names_secret(value: Any, name: str = "") -> bool:
    match value:
        case dict():
            return any(_names_secret(item, str(key)) for key, item in value.items())
        case list():
            return any(_names_secret(item, name) for item in value)
        case _:
            return isinstance(value, str) and is_secret_name(name) and can_be_secret(value)


def _code_cell(number: int, cell: Json) -> CodeCell:
    source, count, outputs = cell.get("source"), cell.get("execution_count"), cell.get("outputs")
    lines = [line for line in source if isinstance(line, str)] if isinstance(source, list) else [source]
    is_number = isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 10**9
    return CodeCell(
        number=number,
        source="".join(line for line in lines if isinstance(line, str)),
        count=count if is_number else None,
        failed=any(
            isinstance(output, dict) and output.get("output_type") == "error"
            for output in (outputs if isinstance(outputs, list) else ())
        ),
    )


def _named(cells: list[CodeCell], *, capital: bool = True) -> str:
    labels = [cell.label for cell in cells[:_MOST_NAMED]]
    text = ", ".join(labels) + (f" and {len(cells) - _MOST_NAMED} more" if len(cells) > _MOST_NAMED else "")
    return text[0].upper() + text[1:] if capital else text
