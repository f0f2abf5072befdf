"""Cells of the notebook as the model sees them, from the open page or the saved file.

Both are untrusted: any field may have any type or length, and every text is only text.
"""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from agent_nb._base.text import fenced, printable_line, shortened
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.core.messages import Image
from agent_nb.files.cell_changes import CellType
from agent_nb.images.convert import to_image
from agent_nb.notebook.values.cells import COLOUR, mask_named
from agent_nb.notebook.values.describe_values import CELL_LIMIT, TEXT_LIMIT, limited
from agent_nb.render.outputs import text_of

MOST_LISTED = 500
MOST_TEXT = 40_000
"""Characters of all cells that one call describes; the first cell is always described."""
MOST_FIGURES = 10
FIRST_LINE = 80
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NUMBERS = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
_FIGURES = ("image/png", "image/jpeg")
_LANGUAGES = {"code": "python", "markdown": "markdown"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CellContent:
    number: int
    """Its position in the notebook, from 1."""
    id: str
    """Empty if it has none that is valid, unique and not a number: then it can be read, but not changed."""
    kind: CellType
    source: str
    count: int | None
    """The execution count; None if it has not run."""
    outputs: tuple[Json, ...]
    is_cut: bool = False
    """Whether the page has cut the source."""
    is_edited: bool = False
    """Whether it has been edited since it ran, as far as the page knows."""


class DescribedCells(NamedTuple):
    text: str
    images: tuple[Image, ...]
    shortened: tuple[int, ...] = ()
    """The numbers of the cells of which a part is missing."""


def read_notebook_cells(cells: Any) -> list[CellContent]:
    """Read cells in the notebook format. Anything that is not a cell is skipped, but counted."""
    read = [_cell(number, row) for number, row in enumerate(_list(cells), 1) if isinstance(row, dict)]
    uses = Counter(cell.id for cell in read)
    return [cell if uses[cell.id] == 1 else replace(cell, id="") for cell in read]


def _cell(position: int, row: Json) -> CellContent:
    name, kind, outputs = row.get("id"), row.get("cell_type"), row.get("outputs")
    is_id = isinstance(name, str) and _ID.fullmatch(name) and not _NUMBERS.fullmatch(name)
    return CellContent(
        number=_count(row.get("number")) or position,
        id=str(name) if is_id else "",
        kind="code" if kind == "code" else "markdown" if kind == "markdown" else "raw",
        source=text_of(row.get("source") or ""),
        count=_count(row.get("execution_count")),
        outputs=tuple(item for item in _list(outputs) if isinstance(item, dict)),
        is_cut=row.get("cut") is True,
        is_edited=row.get("edited") is True,
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


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
        line = shortened(mask_named(printable_line(_first_line(cell.source)), secrets), FIRST_LINE)
        kinds = ", ".join(dict.fromkeys(kind for output in cell.outputs for kind in _kinds(output)))
        words = [f"[{cell.number}]", cell.id or "(no id)", cell.kind, _runs(cell), f"`{line}`"]
        words += [f"({shortened(printable_line(kinds), FIRST_LINE)})"] if kinds else []
        words += ["(the cell of this run)"] if cell.id and cell.id == own else []
        lines.append(" ".join(filter(None, words)))
    if len(cells) > MOST_LISTED:
        lines.append(f"and {len(cells) - MOST_LISTED:,} more")
    return "\n".join(lines)


def _first_line(source: str) -> str:
    return next((line for line in source[:10_000].splitlines() if line.strip()), "")


def _runs(cell: CellContent) -> str:
    return f"In[{cell.count}]" if cell.count else "not run" if cell.kind == "code" else ""


def _kinds(output: Json) -> Iterator[str]:
    kind, data = str(output.get("output_type")), output.get("data")
    yield from (
        map(str, data) if isinstance(data, dict) else [kind if kind in ("stream", "error") else "other"]
    )


def describe_cells(
    cells: Sequence[CellContent], secrets: Collection[str], most: int = MOST_TEXT
) -> DescribedCells:
    """Sources, text outputs, errors and figures, with secrets masked. Call it off the loop.

    The text says what was cut or left out.
    """
    blocks: list[str] = []
    images: list[Image] = []
    shortened: list[int] = []
    for cell in cells:
        figures = describe_figures(cell, MOST_FIGURES - len(images))
        block = "\n".join(filter(None, (_block(cell, secrets), figures.text)))
        if blocks and sum(map(len, blocks)) + len(block) > most:
            numbers = f"{cell.number} to {cells[-1].number}" if cell is not cells[-1] else f"{cell.number}"
            blocks.append(f"(Not read, because the text would be too long: cells {numbers}.)")
            shortened += [cell.number for cell in cells[len(blocks) - 1 :]]
            break
        blocks.append(block)
        images += figures.images
        shortened += [cell.number] if figures.shortened or _is_shortened(cell) else []
    return DescribedCells("\n\n".join(blocks), tuple(images), tuple(shortened))


def describe_figures(cell: CellContent, most: int = MOST_FIGURES) -> DescribedCells:
    """The figures of a cell, and a line that says how many of them are attached; empty if it has none."""
    count = sum(1 for output in cell.outputs if _figure(output) is not None)
    images = tuple(itertools.islice(_images(cell), most))
    text = f"Figures: {count}, {len(images) or 'none'} of them attached." if count else ""
    return DescribedCells(text, images, (cell.number,) if len(images) < count else ())


def _is_shortened(cell: CellContent) -> bool:
    texts = (_text(output)[1] for output in cell.outputs)
    return cell.is_cut or len(cell.source) > TEXT_LIMIT or any(len(text) > CELL_LIMIT for text in texts)


def _block(cell: CellContent, secrets: Collection[str]) -> str:
    name = f"id {cell.id}" if cell.id else "no id"
    edited = "edited since it ran" if cell.is_edited else ""
    facts = ", ".join(filter(None, (name, cell.kind, _runs(cell), edited)))
    source = _masked(cell.source, TEXT_LIMIT, secrets)
    cut = " (cut)" if cell.is_cut else ""
    lines = [f"Cell {cell.number} ({facts}){cut}:", fenced(source, _LANGUAGES.get(cell.kind, ""))]
    for output in cell.outputs:
        title, text = _text(output)
        text = _masked(COLOUR.sub("", text), CELL_LIMIT, secrets)
        lines += [f"{title}:", fenced(text)] if text.strip() else []
    return "\n".join(lines)


def _masked(text: str, most: int, secrets: Collection[str]) -> str:
    """The beginning of a text. Masked before it is cut, but not all of a very long one."""
    masked = limited(mask_named(text[: 5 * most], secrets), most)
    return masked if len(text) <= 5 * most else f"{masked[:most]}\n… ({len(text) - most:,} more characters)"


def _text(output: Json) -> tuple[str, str]:
    if output.get("output_type") == "stream":
        return "Output", text_of(output.get("text") or "")
    if output.get("output_type") == "error":
        message = f"{output.get('ename')}: {output.get('evalue')}"
        traceback = output.get("traceback")
        return "Error", "\n".join(map(str, traceback)) if isinstance(
            traceback, list
        ) and traceback else message
    data = output.get("data")
    if not isinstance(data, dict) or _figure(output) is not None:
        return "", ""
    texts = (text_of(data[kind] or "") for kind in ("text/markdown", "text/plain") if kind in data)
    return "Output", next(filter(None, texts), f"({', '.join(map(str, data))})" if data else "")


def _figure(output: Json) -> str | None:
    """The base64 data of a figure, empty if it was too large to send; None for other outputs."""
    data = output.get("data")
    kinds = [kind for kind in _FIGURES if kind in data] if isinstance(data, dict) else []
    return text_of(data[kinds[0]] or "") if kinds and isinstance(data, dict) else None


def _images(cell: CellContent) -> Iterator[Image]:
    figures = [figure for output in cell.outputs if (figure := _figure(output))]
    for number, figure in enumerate(figures, 1):
        name = f"cell {cell.number}" + (f", figure {number}" if len(figures) > 1 else "")
        try:
            yield to_image(f"data:image/png;base64,{''.join(figure.split())}", name)
        except ConfigError:  # not an image
            continue
