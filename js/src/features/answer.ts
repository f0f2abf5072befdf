// An answer with a type as a small table, below the transcript.

import { h, setChildren } from "../base/dom.ts";
import { readable } from "../base/json.ts";
import { printable } from "../base/printable.ts";
import type { FeatureView, RowPart, Snapshot } from "../view/context.ts";
import { createItem } from "../view/shared/item.ts";

const MOST_ROWS = 50;
export const MOST_COLUMNS = 8;
const LONGEST = 400;

function createTypedAnswer(): RowPart {
	const box = h("div", { class: "anb-plain anb-typed", role: "group", "aria-label": "Answer" });
	const element = createItem(null, box);
	return {
		element,
		update({ state: { answer } }: Snapshot): boolean {
			setChildren(box, answer, () => (answer === null ? [] : createAnswerTable(answer)));
			return answer !== null;
		},
	};
}

export const answer: FeatureView = { row: createTypedAnswer };

function entryText(value: unknown): string {
	const text = printable(readable(value).replace(/\s+/g, " "));
	return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** A row for each field, or for each item of a list. */
function createAnswerTable(answer: unknown): HTMLElement[] {
	const [columns, rows]: [string[], Entry[][]] = Array.isArray(answer)
		? itemRows(answer)
		: [["field", "value"], Object.keys(fieldsOf(answer)).map((name) => [[name], fieldOf(answer, name)])];
	const omitted = rows.length - MOST_ROWS;
	const note =
		omitted > 0 &&
		h("p", { class: "anb-cap" }, `${omitted} more rows are in `, h("code", null, "answer"), ".");
	return [createTable(columns, rows.slice(0, MOST_ROWS)), ...(note ? [note] : [])];
}

/** A value in a table, with its JSON pointer if it is part of an answer. */
export type Entry = readonly [value: unknown, path?: string];

export function createTable(columns: readonly string[], rows: readonly (readonly Entry[])[]): HTMLElement {
	const head = columns.map((name) => h("th", { title: printable(name) }, printable(name)));
	const entry = (text: string, path: string | null): HTMLElement =>
		h("td", { title: text, "data-path": path }, text);
	const body = rows.map((row) =>
		h("tr", null, ...row.map(([value, path]) => entry(entryText(value), path ?? null))),
	);
	return h("table", null, h("thead", null, h("tr", null, ...head)), h("tbody", null, ...body));
}

/** An answer by field name. */
export function fieldsOf(answer: unknown): Record<string, unknown> {
	return isObject(answer) ? answer : { answer };
}

export function fieldOf(answer: unknown, name: string): Entry {
	const { [name]: value = "" } = fieldsOf(answer);
	return [value, isObject(answer) ? pointer("", name) : ""];
}

function isObject(answer: unknown): answer is Record<string, unknown> {
	return typeof answer === "object" && answer !== null && !Array.isArray(answer);
}

function pointer(path: string, key: string | number): string {
	return `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function itemRows(items: readonly unknown[]): [string[], Entry[][]] {
	const records = items.filter(
		(item) => item && typeof item === "object" && !Array.isArray(item),
	) as object[];
	const names = [...new Set(records.flatMap(Object.keys))];
	if (!items.length || records.length < items.length || names.length > MOST_COLUMNS)
		return [["", "value"], items.map((item, at) => [[at + 1], [item, pointer("", at)]])];
	const values = (record: object, path: string): Entry[] =>
		names.map((name) => [(record as Record<string, unknown>)[name], pointer(path, name)]);
	return [["", ...names], records.map((record, at) => [[at + 1], ...values(record, pointer("", at))])];
}
