// The last card of `%agent fix`: what the answer changes in the failed cell, and buttons that change it.

import { canInsert, replaceCell } from "../../cells.ts";
import { h, icon } from "../../dom.ts";
import type { Fix } from "../../events.ts";
import { printable } from "../../printable.ts";
import type { Context, Snapshot } from "../context.ts";
import { createInsertButton } from "../shared/cell-button.ts";
import { createDiffTable, diffOf } from "../shared/diff-table.ts";

export function createFixCard(context: Context) {
	const element = h("li", { class: "anb-item" });
	let drawn: Fix | null = null;
	return {
		element,
		/** Whether there is a new one to show. */
		update({ run }: Snapshot): boolean {
			const fix = run.ready?.variant === context.choices.variant ? (run.ready.fix ?? null) : null;
			if (fix === drawn) return false;
			drawn = fix;
			if (!fix) element.remove();
			else element.replaceChildren(h("span", { class: "anb-node" }, icon("edit")), createCard(context, fix));
			return fix !== null;
		},
	};
}

function createCard(context: Context, fix: Fix): HTMLElement {
	const same = fix.before.trimEnd() === fix.after;
	const title = h("h4", null, same ? "The answer does not change the cell" : "The cell, corrected");
	const lines = diffOf(printable(fix.before.trimEnd()), printable(fix.after));
	const acts = h("div", { class: "anb-names" });
	if (!same) acts.append(...createButtons(context, fix));
	const header = h("header", null, h("div", null, title));
	return h("div", { class: "anb-card" }, header, createDiffTable(lines), acts);
}

function createButtons(context: Context, fix: Fix): HTMLElement[] {
	if (!canInsert(context.run)) return [createInsertButton(context, "Copy", fix.after)];
	const onclick = (press: MouseEvent): void => {
		if (replaceCell(context.run, press, fix)) context.announce("Replaced: press Shift+Enter to run it");
		else context.notify("Not replaced: the failed cell was changed or is not in this notebook");
	};
	const replace = h("button", { class: "anb-btn sm", onclick }, "Replace");
	return [replace, createInsertButton(context, "Insert below", fix.after)];
}
