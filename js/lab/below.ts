// Buttons below cells that have just been run in this window.

import { h } from "../src/base/dom.ts";
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

/** Milliseconds in which a cell's outputs arrive after it has run: a server that executes cells sends them separately. */
const LATE = 10_000;

/** Adds the button to cells that it suits, in writable notebooks. The next run of the cell removes it. */
export function addButtonBelow(tracker: Tracker, actions: Actions, row: ButtonBelow): void {
	const waiting = new WeakMap<Cell, () => void>();
	const forget = (cell: Cell): void => {
		waiting.get(cell)?.();
		cell.node.querySelector(`.${row.name}`)?.remove();
	};
	actions.executionScheduled.connect((_, { cell }) => forget(cell));
	actions.executed.connect((_, { notebook, cell }) => {
		const panel = tracker.find(({ content }) => content === notebook);
		forget(cell);
		if (!panel) return;
		const update = (): void => updateButton(panel, cell, row);
		const { changed } = cell.model.outputs ?? {};
		changed?.connect(update);
		waiting.set(cell, () => changed?.disconnect(update));
		setTimeout(() => changed?.disconnect(update), LATE);
		update();
	});
}

function updateButton(panel: NotebookPanel, cell: Cell, row: ButtonBelow): void {
	const line = cell.node.querySelector(`.${row.name}`);
	if (!isWritable(panel) || !row.suits(cell, panel)) {
		line?.remove();
	} else if (!line) {
		const onclick = (press: MouseEvent): unknown =>
			isPress(press) && mayChange(panel) && row.press(cell, panel, button);
		const button = h("button", { onclick }, row.label);
		const added = h("div", { class: `anb-below ${row.name}` }, button);
		cell.node.querySelector(".jp-Cell-outputArea")?.append(added);
	}
}

export function mayChange(panel: NotebookPanel): boolean {
	return isWritable(panel) && !isOff(panel);
}
