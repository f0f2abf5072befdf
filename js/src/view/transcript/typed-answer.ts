// An answer with a type as a small table, below the transcript.

import { h, setChildren } from "../../dom.ts";
import { readable } from "../../json.ts";
import { printable } from "../../printable.ts";
import type { Snapshot } from "../context.ts";

const MOST_ROWS = 50;
export const MOST_COLUMNS = 8;
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

function entryText(value: unknown): string {
	const text = printable(readable(value).replace(/\s+/g, " "));
	return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** A row for each field, or for each item of a list. */
function createAnswerTable(answer: unknown): HTMLElement[] {
	const [columns, rows] = Array.isArray(answer)
		? itemRows(answer)
		: [["field", "value"], Object.entries(fieldsOf(answer))];
	const omitted = rows.length - MOST_ROWS;
	const note =
		omitted > 0 &&
		h("p", { class: "anb-cap" }, `${omitted} more rows are in `, h("code", null, "answer"), ".");
	return [createTable(columns, rows.slice(0, MOST_ROWS)), ...(note ? [note] : [])];
}

export function createTable(columns: readonly string[], rows: readonly (readonly unknown[])[]): HTMLElement {
	const head = columns.map((name) => h("th", { title: printable(name) }, printable(name)));
	const entry = (text: string): HTMLElement => h("td", { title: text }, text);
	const body = rows.map((row) => h("tr", null, ...row.map((value) => entry(entryText(value)))));
	return h("table", null, h("thead", null, h("tr", null, ...head)), h("tbody", null, ...body));
}

/** An answer by field name. */
export function fieldsOf(answer: unknown): Record<string, unknown> {
	const isObject = typeof answer === "object" && answer !== null && !Array.isArray(answer);
	return isObject ? (answer as Record<string, unknown>) : { answer };
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
