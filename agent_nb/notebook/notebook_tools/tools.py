"""`list_cells` and `read_cells`, and the tools that offer changes: `change_cell`, `insert_cell`, `delete_cell`."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args
from uuid import uuid4

from agent_nb._base.constants import CHANGE_TYPE
from agent_nb._base.secrets import MASK, own_values, shortened
from agent_nb._base.text import fenced
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json, to_wire
from agent_nb.core.errors import ToolError
from agent_nb.files.cell_changes import CellAction, CellChange, CellType
from agent_nb.files.notebook_cells import CellContent
from agent_nb.notebook.front_end import cell_id
from agent_nb.notebook.notebook_tools.cells import CellsRead, describe_cells, find_cells, outline
from agent_nb.notebook.notebook_tools.open_notebook import NotOpenError, open_notebook
from agent_nb.notebook.notebook_tools.proposals import proposals
from agent_nb.notebook.notebook_tools.saved_cells import open_or_saved_cells
from agent_nb.notebook.session import Session
from agent_nb.notebook.values.cells import mask_named
from agent_nb.tools.base import SCHEMA_PHRASES, Tool, ToolContext, ToolOutput
from agent_nb.tools.file_tools import SHORT_FILE, apply_edit, nearest_lines
from agent_nb.tools.function import to_output
from agent_nb.tools.schema import described, tool_spec

NOTEBOOK = "notebook"
MOST_SOURCE = 100_000
"""Maximum characters of a new or changed cell. The page cuts longer ones, so they cannot be changed."""
MOST_ABOVE = 50
"""Maximum cells above a new one that are stored, in case the nearest is deleted before the change is accepted."""
_REVIEW = " Nothing in the notebook changes: the user reviews each change and accepts or refuses it."
_READS = " Reads only. Secrets are masked."
_CELL = described("string", "The cell's id, as `list_cells` shows it.")
_CELLS = "Ids, numbers, or ranges of numbers such as 3-7."
_OLD = "Text to replace, exactly as in the cell; empty for an empty cell."
_TITLES = (
    "Cell ",
    "The failed cell.",
    *(
        f"New {kind} cell {place}"
        for kind in ("code", "Markdown", "raw")
        for place in ("below cell ", "at the top.")
    ),
)
SCHEMA_PHRASES.update(
    ("no cells", "[", *(f"] {kind}\n" for kind in get_args(CellType)), ".", "deleted."),
    (f"{state}: {title}" for state in ("Offered", "Withdrawn") for title in _TITLES),
)
_OPTIONAL = ("after", "kind")
_AFTER = "The id of the cell above it; `top` for none. By default the cell of this run."


def notebook_tools(session: Session, *, schema_only: bool = False) -> tuple[Tool, ...]:
    """Tools for the notebook of the cell that runs now. With `schema_only`, sources and outputs are not read."""
    tools = _NotebookTools(session, schema_only)
    return (
        tools.tool(
            "list_cells",
            "List the cells of the user's notebook: number, id, kind, whether it has run, first line, and kinds of"
            f" output.{_READS}",
            {},
            tools.list_cells,
        ),
        tools.tool(
            "read_cells",
            f"Read cells of the user's notebook: source, text outputs, errors, and figures as images.{_READS}",
            {"cells": described("array", _CELLS, items={"type": "string"}, minItems=1)},
            tools.read_cells,
        ),
        tools.tool(
            "change_cell",
            f"Offer a change of a cell: replace exact text in its source.{_REVIEW}",
            {"cell": _CELL, "old": described("string", _OLD), "new": described("string", "The replacement.")},
            tools.change_cell,
        ),
        tools.tool(
            "insert_cell",
            f"Offer a new cell.{_REVIEW}",
            {
                "after": described("string", _AFTER),
                "kind": described("string", "By default code.", enum=["code", "markdown"]),
                "source": described("string", "Its whole text.", minLength=1),
            },
            tools.insert_cell,
        ),
        tools.tool("delete_cell", f"Offer to delete a cell.{_REVIEW}", {"cell": _CELL}, tools.delete_cell),
    )


class _NotebookTools:
    """The tools of one run. Its variants share them, and each has a proposal of its own."""

    def __init__(self, session: Session, schema_only: bool) -> None:
        self._session, self._schema_only = session, schema_only
        self._own = cell_id(session.shell)
        self._offered: defaultdict[int, dict[str, CellChange]] = defaultdict(dict)
        """The changes of each variant, by the cell's id."""
        self._offering = asyncio.Lock()
        self._numbers: dict[str, int] = {}
        """The numbers of the cells by their ids, as they were read last."""

    def tool(
        self, name: str, description: str, fields: Json, run: Callable[[Json, ToolContext], Any]
    ) -> Tool:
        verb, _, noun = name.partition("_")

        def title(args: Json) -> str:
            return f"{verb} {self._title(args) or noun}"

        async def one_by_one(args: Json, context: ToolContext) -> Any:
            # Calls of one turn run at the same time, and each change builds on those before it.
            async with self._offering:
                return await run(args, context)

        required = [field for field in fields if field not in _OPTIONAL]
        spec, alone = tool_spec(name, description, fields, required), run if noun == "cells" else one_by_one
        return Tool(spec=spec, run=alone, packaged=True, title=title)

    def _title(self, args: Json) -> str:
        """What a call is about, as its proposal says it: `cell 3` or `Markdown cell below cell 3`."""
        if "source" in args:
            after = args.get("after") or self._own
            kind = "Markdown cell" if args.get("kind") == "markdown" else "cell"
            return f"{kind} {'at the top' if after == 'top' else f'below {self._name(after)}'}"
        if "cells" in args:
            numbers = [str(self._numbers.get(name) or shortened(name, 9)) for name in args["cells"]]
            return f"cells {', '.join(numbers)}"
        return self._name(args["cell"]) if "cell" in args else ""

    def _name(self, cell: str) -> str:
        """`cell 3`, or `the new cell below cell 3` for one that the run offers."""
        changes = [offered[cell] for offered in self._offered.values() if cell in offered]
        if changes and changes[0].action == "insert":
            return f"the {changes[0].title[0].lower()}{changes[0].title[1:]}"
        return f"cell {self._numbers.get(cell) or shortened(cell, 9)}"

    async def list_cells(self, args: Json, context: ToolContext) -> ToolOutput:
        read = await self._cells()
        cells = read.cells
        counts = Counter(cell.kind for cell in cells)
        text = await off_loop(lambda: outline(cells, self._own, own_values()))
        return ToolOutput(
            text=f"{read.note}{text}",
            summary=", ".join(f"{count} {kind}" for kind, count in counts.items()) or "no cells",
            schema=tuple(f"[{cell.number}] {cell.kind}\n" for cell in cells) or ("no cells",),
        )

    async def read_cells(self, args: Json, context: ToolContext) -> ToolOutput:
        self._check_values()
        read = await self._cells()
        chosen = find_cells(read.cells, args["cells"])
        if not read.time:
            # Only ids of the whole notebook are known to be unique.
            ids = {cell.number: cell.id for cell in chosen}
            whole = await self._open_cells([*ids])
            chosen = [replace(cell, id=ids.get(cell.number, "")) for cell in whole]
        description = await off_loop(lambda: describe_cells(chosen, own_values()))
        images = to_output([*description.images]) if description.images else ToolOutput(text="")
        summary = f"{len(chosen)} cells" if len(chosen) != 1 else f"cell {chosen[0].number}"
        return replace(images, text=f"{read.note}{description.text}", summary=summary)

    async def change_cell(self, args: Json, context: ToolContext) -> ToolOutput:
        change = self._offered[context.variant].get(args["cell"])
        if change is None or change.action != "insert":
            cell = await self._writable(args["cell"])
            # A cell that the user has edited since is no longer the one that an earlier change was about.
            if change is None or change.action != "change" or change.before != cell.source:
                change = _change(cell, "change", change)
        if args["old"] == args["new"]:
            raise ToolError("This changes nothing.", hint="Give a `new` that differs from `old`.")
        is_edit = args["old"] or change.after.strip()
        after = apply_edit(change.after, args, change.title, _now) if is_edit else args["new"]
        return await self._offer(context, replace(change, after=after), args["new"])

    async def insert_cell(self, args: Json, context: ToolContext) -> ToolOutput:
        cells, offered = await self._open_cells(), self._offered[context.variant]
        after = args.get("after") or self._own
        number = 0
        if after != "top":
            number = (offered[after] if after in offered else _find_one(cells, after)).number
        new = [change for change in offered.values() if (change.action, change.number) == ("insert", number)]
        above = [*(cell.id for cell in cells[:number] if cell.id), *(change.cell_id for change in new)]
        change = CellChange(
            id=uuid4().hex,
            action="insert",
            cell_id=f"agent-{uuid4().hex[:8]}",
            number=number,
            place=len(new),
            kind=args.get("kind", "code"),
            after=args["source"],
        )
        return await self._offer(context, change, args["source"], above[: -MOST_ABOVE - 1 : -1])

    async def delete_cell(self, args: Json, context: ToolContext) -> ToolOutput:
        change = self._offered[context.variant].get(args["cell"])
        if change is None or change.action != "insert":
            change = _change(await self._writable(args["cell"]), "delete", change)
        return await self._offer(context, replace(change, after=""))

    async def _offer(
        self, context: ToolContext, change: CellChange, new: str = "", above: Sequence[str] = ()
    ) -> ToolOutput:
        """Add a change to the proposal; refuse a text with a secret, which the review cannot show, or with a mask."""
        if len(change.after) > MOST_SOURCE:
            raise ToolError(
                f"The cell would have {len(change.after):,} characters; at most {MOST_SOURCE:,} are allowed."
            )
        secrets, texts = await off_loop(own_values), (new, change.before, change.after)
        new, before, after = (mask_named(text, secrets) for text in texts)
        if MASK in new:
            raise ToolError(
                f"The new text has a secret in it, or {MASK} in place of one.",
                hint="Leave such lines out of `old` and `new`, and read secrets from the environment.",
            )
        self._offered[context.variant][change.cell_id] = change
        proposals.offer(change, above)
        masked = replace(change, before=before, after=after)
        offered = f"{'Offered' if change.is_one else 'Withdrawn'}: {change.title}"
        id_note = f" Its id will be {change.cell_id}." if change.action == "insert" and change.is_one else ""
        return ToolOutput(
            text=f"{offered}.{id_note} The user has not accepted it yet.\n{masked.diff}",
            summary=offered,
            outputs=({CHANGE_TYPE: to_wire(masked), "text/x-diff": masked.diff},),
            schema=(f"{offered}.",),
        )

    def _check_values(self) -> None:
        if self._schema_only:
            raise ToolError(
                "This run sends no values, and cells have values in them.",
                hint="`list_cells` gives numbers and kinds.",
            )

    async def _cells(self) -> CellsRead:
        """The cells of the open notebook, or of the saved one."""
        try:
            read = await open_or_saved_cells(self._session, self._own)
        except NotOpenError as error:
            raise ToolError(f"The notebook cannot be read: {error}.") from None
        self._learn(read.cells)
        return read

    async def _open_cells(self, only: Sequence[int | str] | None = None) -> list[CellContent]:
        try:
            cells = (await open_notebook.cells(self._own, only)).cells
        except NotOpenError as error:
            why = f"Changes of cells cannot be offered here: {error}."
            raise ToolError(why, hint="Show the new code in your answer instead.") from None
        self._learn(cells)
        return cells

    def _learn(self, cells: Sequence[CellContent]) -> None:
        self._numbers.update({cell.id: cell.number for cell in cells if cell.id})

    async def _writable(self, name: str) -> CellContent:
        """The cell with that id as it is now, complete; raises `ToolError` if it must not be changed."""
        self._check_values()
        cell = _find_one(await self._open_cells([name]) or await self._open_cells(), name)
        if cell.id == self._own:
            raise ToolError("That is the cell of this run, which cannot change itself.")
        if cell.is_cut:
            raise ToolError(f"Cell {cell.number} is too long to be changed.")
        return cell


def _change(cell: CellContent, action: CellAction, previous: CellChange | None) -> CellChange:
    return CellChange(
        id=previous.id if previous else uuid4().hex,
        action=action,
        cell_id=cell.id,
        number=cell.number,
        kind=cell.kind,
        before=cell.source,
        after=cell.source,
    )


def _find_one(cells: Sequence[CellContent], name: str) -> CellContent:
    """The cell with that id. A number is not enough: it changes as soon as a cell is inserted above."""
    for cell in cells:
        if cell.id == name != "":
            return cell
    numbered = [cell.id for cell in cells if str(cell.number) == name and cell.id]
    hint = f"Cell {name} has the id {numbered[0]}." if numbered else "`list_cells` has the ids."
    raise ToolError(f"There is no cell with the id {name[:80]!r}.", hint=hint)


def _now(text: str, old: str) -> str:
    return f"The cell now:\n{fenced(text)}" if len(text) < SHORT_FILE else nearest_lines(text, old)
