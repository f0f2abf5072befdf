"""Cells of the notebook as the model sees them, from the open page or the saved file.

Both are untrusted: any field may have any type or length, and every text is only text.
"""

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_nb._base.text import fenced, printable_line, shortened
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.core.messages import Image
from agent_nb.files.cell_changes import CellType
from agent_nb.images.convert import to_image
from agent_nb.notebook.values.cells import COLOUR, mask_named, masked_beginning
from agent_nb.notebook.values.describe_values import CELL_LIMIT, TEXT_LIMIT, Description, joined
from agent_nb.render.outputs import text_of

MOST_LISTED = 500
MOST_TEXT = 40_000
"""Maximum characters of all cells that one call describes. The first cell is always described, with fewer outputs."""
MOST_FIGURES = 10
FIRST_LINE = 80
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NUMBERS = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
_FIGURES = ("image/png", "image/jpeg")
_TEXTS = ("text/markdown", "text/plain")
_LANGUAGES = {"code": "python", "markdown": "markdown"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CellContent:
    number: int
    """The cell's position in the notebook, from 1."""
    id: str
    """Empty unless valid, unique and not a number. A cell without an id can be read, but not changed."""
    kind: CellType
    source: str
    count: int | None
    """The execution count; None if it has not run."""
    outputs: tuple[Json, ...]
    omitted: int = 0
    """How many more outputs it has, or with a text for which the page's answer had no room."""
    is_cut: bool = False
    """Whether the page has cut the source."""
    is_edited: bool = False
    """Whether it has been edited since it ran, as far as the page knows."""


def read_notebook_cells(cells: Any) -> list[CellContent]:
    """Read cells in the notebook format. Anything that is not a cell is skipped, but counted."""
    rows = enumerate(cells if isinstance(cells, list) else [], 1)
    contents = [_cell(number, row) for number, row in rows if isinstance(row, dict)]
    uses = Counter(cell.id for cell in contents)
    return [cell if uses[cell.id] == 1 else replace(cell, id="") for cell in contents]


def _cell(position: int, row: Json) -> CellContent:
    name, kind, outputs = row.get("id"), row.get("cell_type"), row.get("outputs")
    is_id = isinstance(name, str) and _ID.fullmatch(name) and not _NUMBERS.fullmatch(name)
    return CellContent(
        number=_count(row.get("number")) or position,
        id=str(name) if is_id else "",
        kind=kind if kind in ("code", "markdown") else "raw",
        source=text_of(row.get("source") or ""),
        count=_count(row.get("execution_count")),
        outputs=tuple(row for row in outputs if isinstance(row, dict)) if isinstance(outputs, list) else (),
        omitted=_count(row.get("omitted")) or 0,
        is_cut=row.get("cut") is True,
        is_edited=row.get("edited") is True,
    )


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 < value < 10**9 else None


def find_cells(cells: Sequence[CellContent], names: Iterable[str]) -> list[CellContent]:
    """The cells with these ids, numbers or ranges of numbers, in the notebook's order; raises `ToolError`."""
    numbers: set[int] = set()
    for name in names:
        match = _NUMBERS.fullmatch(name)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        named = [cell.number for cell in cells if cell.id == name or first <= cell.number <= last]
        if not named:
            raise ToolError(
                f"There is no cell {shortened(name, 80)!r}.",
                hint=f"The notebook has {len(cells)} cells; `list_cells` has their numbers and ids.",
            )
        numbers.update(named)
    return [cell for cell in cells if cell.number in numbers]


def outline(cells: Sequence[CellContent], own: str, secrets: Collection[str]) -> str:
    """One line per cell: number, id, kind, execution count, first line, kinds of output."""
    lines = [f"{len(cells)} cells:"]
    for cell in cells[:MOST_LISTED]:
        first_line = next((line for line in cell.source[:10_000].splitlines() if line.strip()), "")
        line = shortened(mask_named(printable_line(first_line), secrets), FIRST_LINE)
        kinds = ", ".join(dict.fromkeys(kind for output in cell.outputs for kind in _kinds(output)))
        words = [f"[{cell.number}]", cell.id or "(no id)", cell.kind, _runs(cell), f"`{line}`"]
        words += [f"({shortened(printable_line(kinds), FIRST_LINE)})"] if kinds else []
        words += ["(the cell of this run)"] if cell.id and cell.id == own else []
        lines.append(" ".join(filter(None, words)))
    if len(cells) > MOST_LISTED:
        lines.append(f"and {len(cells) - MOST_LISTED:,} more")
    return "\n".join(lines)


def _runs(cell: CellContent) -> str:
    return f"In[{cell.count}]" if cell.count else "not run" if cell.kind == "code" else ""


def _kinds(output: Json) -> Iterable[str]:
    kind, data = output.get("output_type"), output.get("data")
    return map(str, data) if isinstance(data, dict) else [kind if kind in ("stream", "error") else "other"]


def describe_cells(cells: Sequence[CellContent], secrets: Collection[str]) -> Description:
    """Sources, text outputs, errors and figures, with secrets masked. Call it off the loop.

    The text says what was cut or left out.
    """
    parts: list[Description] = []
    for number, cell in enumerate(cells):
        part = _describe_cell(cell, secrets, MOST_FIGURES - sum(len(part.images) for part in parts))
        if parts and sum(len(part.text) for part in parts) + len(part.text) > MOST_TEXT:
            numbers = " to ".join(dict.fromkeys((str(cell.number), str(cells[-1].number))))
            text = f"(Not read, because the text would be too long: cells {numbers}.)"
            parts.append(Description(text, shortened=tuple(map(_name, cells[number:]))))
            break
        parts.append(part)
    return joined("\n\n".join(part.text for part in parts), parts)


def _name(cell: CellContent) -> str:
    return f"cell {cell.number} of the notebook"


def _describe_cell(cell: CellContent, secrets: Collection[str], most_figures: int) -> Description:
    edited = "edited since it ran" if cell.is_edited else ""
    facts = ", ".join(filter(None, (f"id {cell.id}" if cell.id else "no id", cell.kind, _runs(cell), edited)))
    source = fenced(masked_beginning(cell.source, TEXT_LIMIT, secrets), _LANGUAGES.get(cell.kind, ""))
    lines = [f"Cell {cell.number} ({facts}){' (cut)' if cell.is_cut else ''}:", source]
    is_shortened = cell.is_cut or len(cell.source) > TEXT_LIMIT
    length, omitted = len(source), cell.omitted
    for index, (title, text, _) in enumerate(map(_read_output, cell.outputs)):
        if length > MOST_TEXT:
            omitted += len(cell.outputs) - index
            break
        if text.strip():
            lines += [f"{title}:", fenced(masked_beginning(COLOUR.sub("", text), CELL_LIMIT, secrets))]
            length += len(lines[-1])
        is_shortened |= len(text) > CELL_LIMIT
    if omitted:
        lines.append(f"(Not read, because the text would be too long: {omitted:,} more outputs.)")
        is_shortened = True
    figures = describe_figures(cell, most_figures)
    text = "\n".join(filter(None, (*lines, figures.text)))
    return replace(figures, text=text, shortened=(_name(cell),) if is_shortened else figures.shortened)


def describe_figures(cell: CellContent, most: int = MOST_FIGURES) -> Description:
    """The figures of a cell, and a line that says how many of them are attached; empty if it has none."""
    figures = [figure for _, _, figure in map(_read_output, cell.outputs) if figure is not None]
    images = tuple(itertools.islice(_images(cell, [*filter(None, figures)]), most))
    text = f"Figures: {len(figures)}, {len(images) or 'none'} of them attached." if figures else ""
    return Description(text, images, shortened=(_name(cell),) if len(images) < len(figures) else ())


def _images(cell: CellContent, figures: Sequence[str]) -> Iterator[Image]:
    for number, figure in enumerate(figures, 1):
        name = f"cell {cell.number}" + (f", figure {number}" if len(figures) > 1 else "")
        with contextlib.suppress(ConfigError):  # not an image
            yield to_image(f"data:image/png;base64,{''.join(figure.split())}", name)


def _read_output(output: Json) -> tuple[str, str, str | None]:
    """The title and text of an output, and the data of a figure in base64, empty if it was too large to send."""
    kind, data = output.get("output_type"), output.get("data")
    if kind == "stream":
        return "Output", text_of(output.get("text") or ""), None
    if kind == "error":
        message, lines = f"{output.get('ename')}: {output.get('evalue')}", output.get("traceback")
        return "Error", "\n".join(map(str, lines if isinstance(lines, list) else ())) or message, None
    contents = data.items() if isinstance(data, dict) else ()
    texts = {str(kind): text_of(content or "") for kind, content in contents}
    figures = [texts[kind] for kind in _FIGURES if kind in texts]
    shown = filter(None, map(texts.get, _TEXTS))
    text = "" if figures else next(shown, f"({', '.join(texts)})" if texts else "")
    return "Output", text, figures[0] if figures else None
