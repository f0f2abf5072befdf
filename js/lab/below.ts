// Buttons below cells that have just been run in this window.

import { h } from "../src/dom.ts";
import { isPress, isWritable } from "./cells.ts";
import type { Cell, NotebookModule, NotebookPanel, Tracker } from "./jupyter.ts";
import { isOff } from "./off.ts";

export type Actions = NotebookModule["NotebookActions"];

interface ButtonBelow {
	/** The class of its line. */
	readonly name: string;
	readonly label: string;
	suits(cell: Cell, panel: NotebookPanel): boolean;
	press(cell: Cell, panel: NotebookPanel, button: HTMLButtonElement): unknown;
}

/** Adds the button to cells that it suits, in writable notebooks. It goes when the cell runs again. */
export function addButtonBelow(tracker: Tracker, actions: Actions, row: ButtonBelow): void {
	const remove = (cell: Cell) => cell.node.querySelector(`.${row.name}`)?.remove();
	actions.executionScheduled.connect((_, { cell }) => remove(cell));
	actions.executed.connect((_, { notebook, cell }) => {
		const panel = tracker.find(({ content }) => content === notebook);
		remove(cell);
		if (!panel || !isWritable(panel) || !row.suits(cell, panel)) return;
		const onclick = (press: MouseEvent): unknown =>
			isPress(press) && mayChange(panel) && row.press(cell, panel, button);
		const button = h("button", { onclick }, row.label);
		const line = h("div", { class: `anb-below ${row.name}` }, button);
		cell.node.querySelector(".jp-Cell-outputArea")?.append(line);
	});
}

export function mayChange(panel: NotebookPanel): boolean {
	return isWritable(panel) && !isOff(panel);
}
