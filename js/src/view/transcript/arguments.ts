// The arguments to approve, as text: nothing is hidden, and it reads exactly as it runs.

import { h, withCode } from "../../base/dom.ts";
import { plural } from "../../base/format.ts";
import { colouredText } from "../../base/highlight.ts";
import { readable, sameJson } from "../../base/json.ts";
import { pieces, printable } from "../../base/printable.ts";
import type { Json } from "../../run/events.ts";
import { createDiffTable, diffOf, MOST, parseUnifiedDiff } from "../shared/diff-table.ts";

/** Maximum characters of a value on the same line as its name. */
const LONGEST_SHORT = 24;

/** Maximum kinds of characters to name. */
const MOST_NAMED = 6;

/** The placeholder for a secret. */
const MASK = "•••";

/** The file suffix for the language of an argument; empty for plain text. */
export function languageOf(name: string, schema: Json): string {
	const type = String(fieldSchema(schema, name).contentMediaType ?? (name === "code" ? "python" : ""));
	return LANGUAGES.find(([pattern]) => pattern.test(type))?.[1] ?? "";
}

const LANGUAGES: readonly [RegExp, string][] = [
	[/python/, "py"],
	[/html|xml|svg/, "html"],
	[/css/, "css"],
	[/javascript|typescript/, "js"],
	[/json/, "json"],
	[/markdown/, "md"],
];

export function fieldSchema(schema: Json, name: string): Json {
	return ((schema.properties as Json | undefined)?.[name] as Json | undefined) ?? {};
}

/** What `•••` stands for; empty for no secrets. A text may also contain `•••` itself. */
export function secretsNote(secrets: readonly string[], then: string): string[] {
	return secrets.length ? [`${MASK} stands for the value of ${printable(secrets.join(", "))}. ${then}`] : [];
}

/** Warnings about a text: escaped characters and replaced secrets. */
export function remarksOn(shown: string, secrets: readonly string[]): string[] {
	const written = [...new Set(pieces(shown).filter((_, index) => index % 2))];
	const names = written.slice(0, MOST_NAMED).join(", ") + (written.length > MOST_NAMED ? ", …" : "");
	const line = written.includes("<U+000D>") ? " <U+000D> begins a new line." : "";
	return [
		...(written.length ? [`Invisible characters are written out: ${names}.${line}`] : []),
		...(shown.includes(MASK) ? secretsNote(secrets, "The call runs with it.") : []),
	];
}

/** Highlighted text, or plain text with escaped characters marked. */
export function coloured(language: string, text: string): (Node | string)[] {
	const parts = pieces(text);
	if (parts.length > 1)
		return parts.map((part, index) => (index % 2 ? h("mark", { class: "anb-written" }, part) : part));
	return colouredText(language, text);
}

/** The label of the button that shows a long call to its end. */
export function showAllLabel(args: Json): string {
	const lines = Object.values(args).flatMap((value) => readable(value, 2).split("\n"));
	return lines.length > 1 ? `Show all ${lines.length} lines to approve` : "Show all to approve";
}

/** Arguments wrap and never scroll sideways. Changes are shown as a complete diff. */
export function createArguments(
	proposed: Json,
	args: Json,
	schema: Json,
	secrets: readonly string[] = [],
): HTMLElement[] {
	const names = new Set([...Object.keys(proposed), ...Object.keys(args)]);
	return [...names].flatMap((name) => {
		const same = sameJson(proposed[name], args[name]);
		const lines = readable(args[name], 2).split("\n").length;
		const about = same ? (lines > 1 ? plural(lines, "line") : "") : "changed";
		const label = h("div", { class: "field" }, printable(name), h("span", null, about));
		const value = same ? createValue(name, args[name], schema) : createChange(name, proposed, args);
		const remarks = remarksOn(printable(readable(args[name], 2)), secrets);
		return [label, value, ...remarks.map((remark) => h("p", { class: "anb-cap" }, ...withCode(remark)))];
	});
}

function createValue(name: string, value: unknown, schema: Json): HTMLElement {
	const language =
		typeof value === "string" ? languageOf(name, schema) : typeof value === "object" ? "json" : "";
	const text = printable(readable(value, 2));
	if (name === "diff" && isDiff(text)) return createDiffTable(parseUnifiedDiff(text));
	const short = text.length <= LONGEST_SHORT && !text.includes("\n") && !language;
	const look = short ? { class: "anb-ask short" } : { class: "anb-ask", tabindex: 0 };
	return h("pre", look, ...coloured(language, text));
}

/** Whether a table shows every line of a text: only for a unified diff that is not very long. */
function isDiff(text: string): boolean {
	const lines = text.split("\n");
	return (
		/^--- .*\n\+\+\+ .*\n@@ /.test(text) &&
		lines.length < MOST &&
		lines.every((line) => /^([-+ @]|$)/.test(line))
	);
}

/** How one argument was changed. */
export function createChange(name: string, before: Json, after: Json): HTMLElement {
	const text = (args: Json): string => printable(readable(args[name], 2));
	const lines = diffOf(text(before), text(after));
	const absent = name in before ? (name in after ? "" : "+") : "-";
	const table = createDiffTable(lines.filter(({ sign }) => sign !== absent));
	table.setAttribute("role", "group");
	table.setAttribute("aria-label", `Changes to ${printable(name)}`);
	return table;
}
