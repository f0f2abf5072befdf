"""Cells of the notebook as the model sees them."""

import contextlib
import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from agent_nb._base.secrets import safe_line, shortened
from agent_nb._base.text import fenced, printable_line
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.core.messages import Image
from agent_nb.engine.description import Description, joined
from agent_nb.files.notebook_cells import NUMBERS, CellContent, text_of
from agent_nb.images.convert import to_image
from agent_nb.notebook.values.cells import COLOUR, mask_named, masked_beginning
from agent_nb.notebook.values.describe_values import CELL_LIMIT, TEXT_LIMIT

MOST_LISTED = 500
MOST_TEXT = 40_000
"""Maximum characters of all cells that one call describes. The first cell is always described, with fewer outputs."""
_NOTE = 300
"""Characters for what is said about the rest."""
MOST_FIGURES = 10
FIRST_LINE = 80
_FIGURES = ("image/png", "image/jpeg")
_TEXTS = ("text/markdown", "text/plain")
_LANGUAGES = {"code": "python", "markdown": "markdown"}


class CellsRead(NamedTuple):
    cells: list[CellContent]
    time: str = ""
    """When the file was written: `14:03`, or with the date if that was not today; empty for the open notebook."""
    left_out: int = 0
    """How many more cells the open notebook has below these, which the page does not send."""

    @property
    def note(self) -> str:
        """A line for the model if these are not the cells of the notebook as it is now."""
        if self.time:
            return f"The notebook as saved at {self.time}; later changes are not in it.\n"
        if self.left_out:
            return f"The notebook has {self.left_out:,} more cells below these, which cannot be listed.\n"
        return ""


def find_cells(cells: Sequence[CellContent], names: Iterable[str]) -> list[CellContent]:
    """The cells with these ids, numbers or ranges of numbers, in the notebook's order; raises `ToolError`."""
    numbers: set[int] = set()
    for name in names:
        match = NUMBERS.fullmatch(name)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        named = [cell.number for cell in cells if cell.id == name or first <= cell.number <= last]
        if not named:
            raise ToolError(
                f"There is no cell {shortened(name, 80)!r}.",
                hint=f"`list_cells` has {len(cells):,} cells, with their numbers and ids.",
            )
        numbers.update(named)
    return [cell for cell in cells if cell.number in numbers]


def outline(cells: Sequence[CellContent], own: str, secrets: Collection[str]) -> str:
    """One line per cell: number, id, kind, execution count, first line, kinds of output."""
    lines, length = [f"{len(cells)} cells:"], _NOTE
    for cell in cells[:MOST_LISTED]:
        first_line = next((line for line in cell.source[:10_000].splitlines() if line.strip()), "")
        line = shortened(mask_named(printable_line(first_line), secrets), FIRST_LINE)
        kinds = ", ".join(dict.fromkeys(kind for output in cell.outputs for kind in _kinds(output)))
        words = [f"[{cell.number}]", cell.id or "(no id)", cell.kind, _runs(cell), f"`{line}`"]
        words += [f"({safe_line(kinds, FIRST_LINE)})"] if kinds else []
        words += ["(the cell of this run)"] if cell.id and cell.id == own else []
        words = [*filter(None, words)]
        length += sum(map(len, words)) + len(words)
        if length > MOST_TEXT:
            break
        lines.append(" ".join(words))
    if len(cells) >= len(lines):
        lines.append(f"and {len(cells) - len(lines) + 1:,} more")
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
    length = _NOTE
    for number, cell in enumerate(cells):
        part = _describe_cell(cell, secrets, MOST_FIGURES - sum(len(part.images) for part in parts))
        length += len(part.text) + len("\n\n")
        if parts and length > MOST_TEXT:
            numbers = " to ".join(dict.fromkeys((str(cell.number), str(cells[-1].number))))
            text = f"(Not read, because the text would be too long: cells {numbers}.)"
            parts.append(Description(text, shortened=tuple(map(_name, cells[number:]))))
            break
        parts.append(part)
    return joined("\n\n".join(part.text for part in parts), parts)


def label_of(cell: CellContent) -> str:
    """`cell 4`, or `cell [3]` for one that is known only from the history."""
    return f"cell {cell.number}" if cell.number else f"cell [{cell.count}]"


def _name(cell: CellContent) -> str:
    return f"{label_of(cell)} of the notebook"


def _describe_cell(cell: CellContent, secrets: Collection[str], most_figures: int) -> Description:
    edited = "edited since it ran" if cell.is_edited else ""
    facts = ", ".join(filter(None, (f"id {cell.id}" if cell.id else "no id", cell.kind, _runs(cell), edited)))
    source = fenced(masked_beginning(cell.source, TEXT_LIMIT, secrets), _LANGUAGES.get(cell.kind, ""))
    lines = [f"{label_of(cell).capitalize()} ({facts}){' (cut)' if cell.is_cut else ''}:", source]
    is_shortened = cell.is_cut or len(cell.source) > TEXT_LIMIT
    length, omitted = _NOTE + len(lines[0]) + len(source), cell.omitted
    for index, (title, text, _) in enumerate(map(_read_output, cell.outputs)):
        block = fenced(masked_beginning(COLOUR.sub("", text), CELL_LIMIT, secrets)) if text.strip() else ""
        length += len(f"{title}:\n{block}\n") if block else 0
        if length > MOST_TEXT:
            omitted += len(cell.outputs) - index
            break
        lines += [f"{title}:", block] if block else []
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
