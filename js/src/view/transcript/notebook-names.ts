// The notebook names that code has set, in a line with buttons to undo it and to insert the code as a cell.

import { h, setText } from "../../base/dom.ts";
import { plural } from "../../base/format.ts";
import { printable } from "../../base/printable.ts";
import { isName } from "../../run/cell-source.ts";
import { type CellText, canInsert, placeCells } from "../../run/cells.ts";
import type { Row } from "../../run/state.ts";
import { type Context, follow, STOP_HINT } from "../context.ts";
import { textButton } from "../shared/buttons.ts";
import { createInsertButton } from "../shared/cell-button.ts";

export const NAMES_TYPE = "application/vnd.agent-nb.names+json";

export interface Names {
	bound: string[];
	changed: string[];
	deleted: string[];
	/** What changed inside objects, by name: `+ revenue`. */
	in_place?: Record<string, string>;
	code: string;
	notes?: string[];
	/** The current values of the names: `pandas.DataFrame, 12 rows x 3 columns`. */
	kinds?: Record<string, string>;
	/** The kernel's id for the call; missing if it changed no names. */
	undo?: string;
}

/** The import that the kernel puts above code with its helper. */
const IMPORT = /^from agent_nb\.files\.contents import to_file(?: as _to_file)?\n\n/;

/** `shown` is the code above the line: only that can be inserted. */
export function createNames(context: Context, names: Names, shown: string | null): HTMLElement {
	const { code, undo } = names;
	const isShown = shown !== null && [code, code.replace(IMPORT, "")].includes(shown);
	const status = h("span", { role: "status" });
	const title = "Put these names back. Changes inside objects stay.";
	const undoButton = h("button", { class: "anb-btn sm", title, onclick: takeBack }, "Undo");
	undoButton.hidden = !undo || undoneIn(context).some((entry) => entry.startsWith(`${undo} `));
	const insert = createInsertButton(
		context,
		"Insert as a cell",
		isShown ? code : "",
		"Insert the code below",
	);
	function takeBack(): void {
		const reply = context.run.command("undo_python", { token: undo });
		undoButton.disabled = true;
		follow(context, reply, STOP_HINT, ({ done }) => {
			undoButton.hidden = done;
		});
		void reply.then((answer) => setText(status, String(answer.ok ? answer.text : answer.error)));
	}
	return h("div", { class: "anb-names" }, ...createNameChanges(names), undoButton, insert, status);
}

/** The names that code has set, changed or deleted, what it changed in place, and notes. */
export function createNameChanges({
	bound,
	code,
	changed,
	deleted,
	in_place = {},
	notes,
}: Names): HTMLElement[] {
	return [
		...namesIn(
			"set",
			bound.filter((name) => !isName(name) || !isImport(code, name)),
		),
		...namesIn("changed", changed),
		...namesIn("deleted", deleted),
		...Object.entries(in_place).map(([name, change]) =>
			h("span", null, h("code", null, printable(name)), `: ${printable(String(change))}`),
		),
		...(notes ?? []).map((note) => h("span", null, note)),
	];
}

/** The names that a run's code has left in the notebook, each with a button that inserts a cell to display it. */
/** `buttons` are those of features. */
export function createLeft(context: Context, rows: readonly Row[], ...buttons: HTMLElement[]): HTMLElement {
	const names = namesLeft(rows, undoneIn(context));
	const isBranch = context.run.state?.variants.get(context.choices.variant)?.settings.branch === true;
	const items = [...names].map(([name, kind]) => {
		const code = h("code", null, name);
		const button = isBranch ? code : createInsertButton(context, code, name, "Insert a cell that shows it");
		return h("span", null, button, ` ${kind}`);
	});
	const lead = names.size > 0 && (isBranch ? "In the branch:" : "In the notebook:");
	return h("div", { class: "anb-names left" }, lead, ...items, createKeep(context, buttons));
}

/** Inserts the code of the run as cells with their outputs, or writes them to a notebook file. */
function createKeep(context: Context, buttons: readonly HTMLElement[]): HTMLElement {
	const inserts = canInsert(context.run);
	const label = inserts ? "Keep as cells" : "Keep as a notebook";
	const title = inserts
		? "Insert the code below, with its outputs"
		: "Write the code and its outputs to a file";
	const keep = textButton(label, async (press) => {
		const { variant } = context.choices;
		const reply = await context.run.command(inserts ? "cells" : "keep", { variant });
		if (!reply.ok) return context.notify(String(reply.error));
		if (!inserts) return context.notify(String(reply.text));
		const cells = reply.cells as CellText[];
		const placed = await placeCells(context.run, press, cells, keep);
		if (placed === "copied") context.notify("Copied: paste it into a cell");
		else if (placed === "inserted") context.notify(`Inserted below: ${plural(cells.length, "cell")}`);
		else context.notify("Not inserted: a cell contains invisible characters");
	});
	keep.title = title;
	return h("div", { class: "all" }, keep, ...buttons, ...createVerify(context));
}

/** Runs the cells in a fresh kernel and reports the differences. */
function createVerify(context: Context): HTMLElement[] {
	const badge = h("span", { class: "told", role: "status" });
	const verify = textButton("Verify", async () => {
		verify.disabled = true;
		setText(badge, "Running in a fresh kernel");
		const reply = await context.run.command("verify", { variant: context.choices.variant });
		setText(badge, printable(String(reply.ok ? reply.text : reply.error)));
		badge.classList.toggle("ok", reply.ok && reply.equal === true);
		verify.disabled = false;
	});
	verify.title = "Run the cells in a fresh kernel and compare";
	return [verify, badge];
}

function undoneIn({ run }: Context): readonly string[] {
	return run.state?.meta.undone ?? [];
}

function namesLeft(rows: readonly Row[], undone: readonly string[]): Map<string, string> {
	const remaining = new Map<string, string>();
	for (const bundle of rows.flatMap((row) => (row.kind === "tool" ? row.outputs : []))) {
		const { deleted = [], kinds = {}, undo } = (bundle[NAMES_TYPE] ?? {}) as Partial<Names>;
		const stays = (name: string): boolean => !undone.includes(`${undo} ${name}`);
		for (const name of [...deleted, ...Object.keys(kinds)].filter(stays)) remaining.delete(name);
		for (const [name, kind] of Object.entries(kinds))
			if (isName(name) && stays(name)) remaining.set(name, kind);
	}
	return remaining;
}

/** Whether code imports the name: nothing to keep. */
function isImport(code: string, name: string): boolean {
	return new RegExp(`^ *(?:from .+ )?import (?:.*[ ,(])?${name}\\b`, "m").test(code);
}

/** `set df, total` */
function namesIn(verb: string, names: readonly string[]): HTMLElement[] {
	if (names.length === 0) return [];
	const codes = names.flatMap((name, at) => [at ? ", " : "", h("code", null, name)]);
	return [h("span", null, `${verb} `, ...codes)];
}
