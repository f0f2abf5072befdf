// Consecutive edits of one file as one row, which unfolds to the single edits.

import { h, icon, KeyedList, type View } from "../../dom.ts";
import type { Row, ToolRow } from "../../state.ts";
import type { Context, Ticking } from "../context.ts";
import { createFold } from "../shared/fold.ts";
import { createToolRow } from "./tool-row.ts";

export interface Edits {
	readonly kind: "edits";
	readonly key: string;
	readonly path: string;
	readonly rows: readonly ToolRow[];
}

function editedPath(item: { kind: string }): string | null {
	const row = item as Row;
	return row.kind === "tool" && row.status === "ok" && row.change?.action === "edited"
		? row.change.path
		: null;
}

/** The same items, with two or more consecutive edits of a file as one. */
export function foldEdits<T extends { kind: string; key: string }>(items: readonly T[]): (T | Edits)[] {
	const folded: (T | Edits)[] = [];
	for (let first = 0; first < items.length; ) {
		const item = items[first] as T;
		const path = editedPath(item);
		let end = first + 1;
		while (path !== null && end < items.length && editedPath(items[end] as T) === path) end++;
		const rows = items.slice(first, end) as unknown as ToolRow[];
		folded.push(
			path === null || rows.length === 1 ? item : { kind: "edits", key: `edits-${item.key}`, path, rows },
		);
		first = end;
	}
	return folded;
}

export function createEdits(context: Context, ticking: Ticking): View<Edits> {
	const label = h("span", { class: "lab" });
	const facts = h("span", { class: "facts" });
	const mark = h("span", { class: "mark" }, h("span", { class: "ok" }, icon("check")));
	const done = h("span", { class: "anb-sr" }, "succeeded");
	const end = h("span", { class: "end num" }, facts, mark, done);
	const log = h("ol", { class: "anb-log anb-edits" });
	const summary = h("summary", { class: "anb-row" }, label, icon("right", "chev"), end);
	const fold = createFold(context, summary, log);
	const list = new KeyedList<ToolRow>(
		log,
		(row) => row.key,
		(row) => createToolRow(context, row, ticking),
	);
	let drawn: readonly ToolRow[] = [];
	return {
		element: h("li", { class: "anb-item" }, h("span", { class: "anb-node" }, icon("edit")), fold.element),
		update({ key, path, rows }) {
			fold.set(key, false);
			// `foldEdits` makes a new item for each draw.
			if (rows.length === drawn.length && rows.every((row, index) => row === drawn[index])) return;
			drawn = rows;
			label.replaceChildren(`${rows.length} edits of `, h("code", null, path));
			facts.replaceChildren(
				h("span", { class: "add" }, `+${sumOf(rows, "added")}`),
				h("span", { class: "del" }, `−${sumOf(rows, "removed")}`),
			);
			list.update(rows);
		},
	};
}

function sumOf(rows: readonly ToolRow[], side: "added" | "removed"): number {
	return rows.reduce((total, row) => total + (row.change?.[side] ?? 0), 0);
}
