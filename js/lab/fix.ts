// A button below the error of a failed cell that inserts `%agent fix` below it and runs it.

import { type CellSource, cellSource } from "../src/cell-source.ts";
import { h } from "../src/dom.ts";
import { insertCells, isPress, isWritable, runCell } from "./cells.ts";
import type { Cell, NotebookModule, NotebookPanel, Tracker } from "./jupyter.ts";

type Actions = NotebookModule["NotebookActions"];

const CLASS = "anb-fix";

/** Adds the button to failed cells, in writable notebooks that use agent_nb. */
export function addFixButtons(tracker: Tracker, actions: Actions): void {
	actions.executionScheduled.connect((_, { cell }) => cell.node.querySelector(`.${CLASS}`)?.remove());
	actions.executed.connect((_, { notebook, cell }) => {
		const panel = tracker.find(({ content }) => content === notebook);
		cell.node.querySelector(`.${CLASS}`)?.remove();
		if (!panel || !fixSource(cell) || !usesAgent(panel)) return;
		const onclick = (press: MouseEvent) => isPress(press) && fixCell(actions, panel, cell);
		const line = h("div", { class: CLASS }, h("button", { onclick }, "Fix with agent"));
		cell.node.querySelector(".jp-Cell-outputArea")?.append(line);
	});
}

/** The cell that fixes a failed cell; null for any other, and for a prompt, which has its own button. */
export function fixSource(cell: Cell | null): CellSource | null {
	if (!cell) return null;
	const { model } = cell;
	const outputs = (model.outputs?.toJSON() ?? []) as { output_type?: string }[];
	const failed = outputs.some(({ output_type }) => output_type === "error");
	const isPrompt = /^\s*%%?agent\b/.test(model.sharedModel.getSource());
	return failed && !isPrompt ? cellSource("fix", { count: model.executionCount }) : null;
}

export function fixCell(actions: Actions, panel: NotebookPanel, cell: Cell): void {
	const source = fixSource(cell);
	if (!source) return;
	const id = insertCells(panel, panel.content.widgets.indexOf(cell) + 1, [{ kind: "code", source }]);
	if (id !== null) runCell(actions, panel, id);
}

function usesAgent(panel: NotebookPanel): boolean {
	const uses = panel.content.widgets.some((cell) => cell.model.sharedModel.getSource().includes("agent_nb"));
	return uses && isWritable(panel);
}
