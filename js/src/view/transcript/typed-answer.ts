// An answer with a type as a small table, below the transcript.

import { h, setChildren } from "../../dom.ts";
import { readable } from "../../json.ts";
import { printable } from "../../printable.ts";
import type { Snapshot } from "../context.ts";

const MOST_ROWS = 50;
const MOST_COLUMNS = 8;
const LONGEST = 400;

export function createTypedAnswer() {
	const box = h("div", { class: "anb-plain anb-typed", role: "group", "aria-label": "Answer" });
	const element = h("li", { class: "anb-item" }, h("span", { class: "anb-node pt" }), box);
	return {
		element,
		/** Returns whether there is one. */
		update({ state: { answer } }: Snapshot): boolean {
			setChildren(box, answer, () => (answer === null ? [] : createAnswerTable(answer)));
			return answer !== null;
		},
	};
}

export function entryText(value: unknown): string {
	const text = printable(readable(value).replace(/\s+/g, " "));
	return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** A row for each field, or for each item of a list. */
function createAnswerTable(answer: unknown): HTMLElement[] {
	const [columns, rows] = Array.isArray(answer) ? itemRows(answer) : fieldRows(answer);
	const omitted = rows.length - MOST_ROWS;
	const note =
		omitted > 0 &&
		h("p", { class: "anb-cap" }, `${omitted} more rows are in `, h("code", null, "answer"), ".");
	return [createTable(columns, rows.slice(0, MOST_ROWS)), ...(note ? [note] : [])];
}

export function createTable(columns: readonly string[], rows: readonly (readonly unknown[])[]): HTMLElement {
	const head = columns.map((name) => h("th", null, printable(name)));
	const body = rows.map((row) => h("tr", null, ...row.map((value) => h("td", null, entryText(value)))));
	return h("table", null, h("thead", null, h("tr", null, ...head)), h("tbody", null, ...body));
}

function fieldRows(answer: unknown): [string[], unknown[][]] {
	const fields = typeof answer === "object" ? Object.entries(answer as object) : [["answer", answer]];
	return [["field", "value"], fields];
}

function itemRows(items: readonly unknown[]): [string[], unknown[][]] {
	const records = items.filter(
		(item) => item && typeof item === "object" && !Array.isArray(item),
	) as object[];
	const names = [...new Set(records.flatMap(Object.keys))];
	if (!items.length || records.length < items.length || names.length > MOST_COLUMNS)
		return [["", "value"], items.map((item, index) => [index + 1, item])];
	const values = (record: object): unknown[] =>
		names.map((name) => (record as Record<string, unknown>)[name]);
	return [["", ...names], records.map((record, index) => [index + 1, ...values(record)])];
}
