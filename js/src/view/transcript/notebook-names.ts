// What code did to the names of the notebook, in a line that offers to undo it and to insert the code as a cell.

import { isName } from "../../cells.ts";
import { h, listen, setText } from "../../dom.ts";
import type { Row } from "../../state.ts";
import { type Context, follow, STOP_HINT } from "../context.ts";
import { insertOnClick } from "../shared/cell-button.ts";

export const NAMES_TYPE = "application/vnd.agent-nb.names+json";

export interface Names {
	bound: string[];
	changed: string[];
	deleted: string[];
	code: string;
	notes?: string[];
	/** What the names hold now: `pandas.DataFrame, 12 rows x 3 columns`. */
	kinds?: Record<string, string>;
	/** Names the call for the kernel; missing if it changed no names. */
	undo?: string;
}

export function createNames(
	context: Context,
	{ bound, changed, deleted, code, notes, undo }: Names,
): HTMLElement {
	const status = h("span", { role: "status" });
	const undoButton = h(
		"button",
		{
			class: "anb-btn sm",
			type: "button",
			hidden: !undo,
			title: "Put these names back. Changes inside objects stay.",
		},
		"Undo",
	);
	const insert = h(
		"button",
		{ class: "anb-btn sm", type: "button", title: "Insert the code below" },
		"Insert as a cell",
	);
	insertOnClick(context, insert, () => code);
	listen(undoButton, "click", context.signal, () => {
		const reply = context.run.command("undo_python", { token: undo });
		undoButton.disabled = true;
		follow(context, reply, STOP_HINT, ({ done }) => {
			undoButton.hidden = done;
		});
		void reply.then((answer) => setText(status, String(answer.ok ? answer.text : answer.error)));
	});
	return h(
		"div",
		{ class: "anb-names" },
		...namesIn("bound", bound),
		...namesIn("changed", changed),
		...namesIn("deleted", deleted),
		...(notes ?? []).map((note) => h("span", null, note)),
		undoButton,
		insert,
		status,
	);
}

/** What the code of a run has left in the notebook; each name inserts a cell that shows it. Null if there is none. */
export function createLeft(context: Context, rows: readonly Row[]): HTMLElement | null {
	const left = namesLeft(rows);
	if (left.size === 0) return null;
	const items = [...left].map(([name, kind]) => {
		const button = h("button", { class: "anb-btn sm", type: "button", title: "Insert a cell that shows it" });
		button.append(h("code", null, name));
		insertOnClick(context, button, () => name);
		return h("span", null, button, ` ${kind}`);
	});
	return h("div", { class: "anb-names left" }, "In the notebook:", ...items);
}

function namesLeft(rows: readonly Row[]): Map<string, string> {
	const left = new Map<string, string>();
	for (const bundle of rows.flatMap((row) => (row.kind === "tool" ? row.outputs : []))) {
		const { deleted = [], kinds = {} } = (bundle[NAMES_TYPE] ?? {}) as Partial<Names>;
		for (const name of [...deleted, ...Object.keys(kinds)]) left.delete(name);
		for (const [name, kind] of Object.entries(kinds)) if (isName(name)) left.set(name, kind);
	}
	return left;
}

/** `bound df, total` */
function namesIn(verb: string, names: readonly string[]): HTMLElement[] {
	if (names.length === 0) return [];
	const codes = names.flatMap((name, at) => [at ? ", " : "", h("code", null, name)]);
	return [h("span", null, `${verb} `, ...codes)];
}
