// A button that inserts a cell below this one and runs it, with the cell's text beside it:
//
//     const load = createCellButton(context, "Load", { runs: true });
//     footer.append(load.element);
//     load.update(cellSource("load", { rename: magic, magic, name }));   // null hides it
//
// If cells can only be copied, the button says so.

import { type Child, h, setText } from "../../base/dom.ts";
import { awaitRun } from "../../base/into-view.ts";
import { type CellSource, cellSource } from "../../run/cell-source.ts";
import { canInsert, placeCell } from "../../run/cells.ts";
import type { Context } from "../context.ts";

interface Placing {
	/** Whether to run the cell as well. */
	readonly runs?: boolean;
	/** A cell to insert and run first. */
	readonly before?: CellSource | null;
	/** Not called if the text was only copied. */
	readonly onInserted?: () => void;
}

export function createCellButton(context: Context, label: string, placing: Placing = {}) {
	const below = placing.runs ? "Insert this cell below and run it" : "Insert this cell below";
	const words = canInsert(context.run)
		? { title: below }
		: { title: "Copy this cell", "aria-label": `Copy: ${label}` };
	const button = h(
		"button",
		{ class: "anb-btn sm", onclick, ...words },
		canInsert(context.run) ? label : "Copy",
	);
	const first = h("code");
	const code = h("code");
	const codes = h("span", null, code);
	const element = h("span", { class: "anb-cell", hidden: true }, button, codes);
	let shown: { readonly text: CellSource; readonly before: CellSource | null } | null = null;

	function onclick(click: MouseEvent): void {
		if (shown) void insert(context, click, shown.text, { ...placing, before: shown.before });
	}

	return {
		element,
		button,
		/** Shows the exact text of the cell, and of the one to run first, or hides the button. */
		update(text: CellSource | null, before: CellSource | null = null) {
			shown = text && { text, before };
			element.hidden = text === null;
			if (text) setText(code, text);
			setText(first, before ?? "");
			if (before) code.before(first);
			else first.remove();
		},
	};
}

/** A button that inserts a cell whose text the user has seen, beside it or on the approval card. */
export function createInsertButton(
	context: Context,
	label: Child,
	text: string,
	title: string | null = null,
) {
	const source = cellSource("code", { code: text });
	const onclick = (click: MouseEvent): void => void (source && insert(context, click, source, {}));
	return h("button", { class: "anb-btn sm", title, onclick, hidden: source === null }, label);
}

/** Inserts the cell after a press, and announces the outcome. */
export async function insert(
	context: Context,
	press: UIEvent,
	text: CellSource,
	{ runs = false, before, onInserted }: Placing,
): Promise<void> {
	if (press.detail > 1) return; // the second click of a double click
	if (before && canInsert(context.run)) void placeCell(context.run, press, before, true);
	const placed = await placeCell(context.run, press, text, runs);
	if (placed === "run" && text.startsWith("%%")) awaitRun();
	if (placed === "copied") context.notify("Copied: paste it into a cell");
	else if (placed === "failed" && press.isTrusted) context.notify("The browser did not allow copying");
	else if (placed !== "failed") {
		tell(context, placed, runs);
		onInserted?.();
	}
}

function tell(context: Context, placed: "run" | "inserted", runs: boolean): void {
	const how = runs ? "Inserted below, not run" : "Inserted below";
	if (placed === "run") context.announce("Running below");
	// A full-screen element would hide the cell.
	else if (document.fullscreenElement) context.notify(`${how}: press Escape to see it`);
	else if (runs) context.notify(`${how}: press Shift+Enter there`);
	else context.announce(`${how}: press Shift+Enter to run it`);
}
