// Text as it is shown where a user decides: the same as in the kernel, and what is edited is what was shown.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { original, printable } from "../src/base/printable.ts";
import { createArguments } from "../src/view/transcript/arguments.ts";
import { createForm } from "../src/view/transcript/form.ts";

interface Table {
	readonly cases: readonly [string, string][];
	readonly hidden: readonly string[];
}

// The kernel's test reads it too: tests/unit/_base/test_text.py
const { cases, hidden } = JSON.parse(readFileSync("../tests/support/printable.json", "utf8")) as Table;

test.each(cases)("%j is shown as %j, and reads back", (text, shown) => {
	expect(printable(text)).toBe(shown);
	expect(original(shown)).toBe(text);
});

test("every character of the table is written out, and no other", () => {
	const ranges: string[] = [];
	let first = -1;
	for (let code = 0; code <= 0x110000; code++) {
		const written = code < 0x110000 && printable(String.fromCodePoint(code)).startsWith("<U+");
		if (written && first < 0) first = code;
		if (written || first < 0) continue;
		ranges.push([...new Set([first, code - 1])].map(hex).join("-"));
		first = -1;
	}
	expect(ranges).toEqual(hidden);
});

function hex(code: number): string {
	return code.toString(16).toUpperCase().padStart(4, "0");
}

const SCHEMA = {
	properties: { code: { type: "string" }, title: { type: "string" }, list: { type: "array" } },
};

test.each(cases)("%j is edited as it is shown", (text) => {
	const args = { code: text, title: text, list: [text] };
	const form = createForm(args, SCHEMA);
	let edited: unknown = "nothing";
	form.onChange = (next) => {
		edited = next;
	};
	const fields = form.element.querySelectorAll<HTMLInputElement>("input, textarea");
	for (const field of fields) field.dispatchEvent(new Event("input"));
	expect(edited).toBeNull();
	for (const field of [...fields].slice(0, 2)) {
		expect(field.value).toBe(printable(text));
		field.value += "!";
		field.dispatchEvent(new Event("input"));
	}
	expect(edited).toEqual({ code: `${text}!`, title: `${text}!`, list: [text] });
});

test("a hidden line stands out: it is marked, named and not coloured as the comment that it seems to be", () => {
	const [, code, remark] = createArguments({ code: "# a\rb" }, { code: "# a\rb" }, SCHEMA);
	expect(code!.innerHTML).toBe('# a<mark class="anb-written">&lt;U+000D&gt;</mark>b');
	expect(remark!.textContent).toBe(
		"Invisible characters are written out: <U+000D>. <U+000D> begins a new line.",
	);
});

test("the card names the secrets that it does not show, and takes no other dots for one", () => {
	const args = { code: "key = '•••'" };
	const [, , remark] = createArguments(args, args, SCHEMA, ["`key`", "`to\u202eken` in `x`"]);
	expect(remark!.textContent).toBe(
		"••• stands for the value of key, to<U+202E>ken in x. The call runs with it.",
	);
	expect(createArguments(args, args, SCHEMA)).toHaveLength(2);
});

test("a diff is a table only if the table shows all of it", () => {
	const drawn = (diff: string): HTMLElement => createArguments({ diff }, { diff }, {})[1]!;
	const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n";
	expect(drawn(diff).querySelectorAll("tr").length).toBe(3);
	for (const hiding of [`${diff}rm -r ~`, `rm -r ~\n${diff}`, diff + "+x\n".repeat(2000)])
		expect(drawn(hiding).tagName).toBe("PRE");
});
