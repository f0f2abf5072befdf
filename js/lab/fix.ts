// A button below the error of a failed cell that inserts `%agent fix` below it and runs it.

import { type CellSource, cellSource } from "../src/run/cell-source.ts";
import { type Actions, addButtonBelow } from "./below.ts";
import { insertCells, outputsOf, runCell } from "./cells.ts";
import type { Cell, NotebookPanel, Tracker } from "./jupyter.ts";

/** Adds the button to failed cells, in notebooks that use agent_nb. */
export function addFixButtons(tracker: Tracker, actions: Actions): void {
	addButtonBelow(tracker, actions, {
		name: "anb-fix",
		label: "Fix with agent",
		suits: (cell, { content }) =>
			fixSource(cell) !== null &&
			content.widgets.some(({ model }) => model.sharedModel.getSource().includes("agent_nb")),
		press: (cell, panel) => fixCell(actions, panel, cell),
	});
}

/** The cell that fixes a failed cell; null for any other, and for a prompt, which has its own button. */
export function fixSource(cell: Cell | null): CellSource | null {
	if (!cell) return null;
	const failed = outputsOf(cell).some(({ output_type }) => output_type === "error");
	const isPrompt = /^\s*%%?agent\b/.test(cell.model.sharedModel.getSource());
	return failed && !isPrompt ? cellSource("fix", { count: cell.model.executionCount }) : null;
}

export function fixCell(actions: Actions, panel: NotebookPanel, cell: Cell): void {
	const source = fixSource(cell);
	if (!source) return;
	const id = insertCells(panel, panel.content.widgets.indexOf(cell) + 1, [{ kind: "code", source }]);
	if (id !== null) runCell(actions, panel, id);
}
