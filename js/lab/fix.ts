// A button below the error of a failed cell that inserts `%agent fix` below it and runs it.

import { h } from "../src/dom.ts";
import { insertCells, isPress, runCell } from "./cells.ts";
import type { Cell, NotebookModule, NotebookPanel, Tracker } from "./jupyter.ts";

type Actions = NotebookModule["NotebookActions"];

const CLASS = "anb-fix";

/** Adds the button to failed cells, in writable notebooks that use agent_nb. */
export function addFixButtons(tracker: Tracker, actions: Actions): void {
	actions.executionScheduled.connect((_, { cell }) => cell.node.querySelector(`.${CLASS}`)?.remove());
	actions.executed.connect((_, { notebook, cell }) => {
		const panel = tracker.find(({ content }) => content === notebook);
		cell.node.querySelector(`.${CLASS}`)?.remove();
		if (!panel || !hasFailed(cell) || !usesAgent(panel)) return;
		const onclick = (press: MouseEvent) => isPress(press) && fixCell(actions, panel, cell);
		const line = h("div", { class: CLASS }, h("button", { onclick }, "Fix with agent"));
		cell.node.querySelector(".jp-Cell-outputArea")?.append(line);
	});
}

/** Whether a cell has an error and is not a prompt, which has its own button. */
export function hasFailed({ model }: Cell): boolean {
	const outputs = (model.outputs?.toJSON() ?? []) as { output_type?: string }[];
	const failed = outputs.some(({ output_type }) => output_type === "error");
	return failed && !/^\s*%%?agent\b/.test(model.sharedModel.getSource());
}

export function fixCell(actions: Actions, panel: NotebookPanel, cell: Cell): void {
	const { content } = panel;
	if (content.model?.readOnly !== false || !hasFailed(cell)) return;
	const source = `%agent fix ${cell.model.executionCount ?? ""}`.trim();
	const id = insertCells(panel, content.widgets.indexOf(cell) + 1, [{ kind: "code", source }]);
	runCell(actions, panel, id);
}

function usesAgent({ content }: NotebookPanel): boolean {
	const uses = content.widgets.some((cell) => cell.model.sharedModel.getSource().includes("agent_nb"));
	return uses && content.model?.readOnly === false;
}
