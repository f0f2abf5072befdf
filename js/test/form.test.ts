// A call as a form: which field an argument gets, and what is read from it.

import { describe, expect, test } from "vitest";
import type { Problems } from "../src/view/choices.ts";
import { createForm, fieldsOf, readFields } from "../src/view/transcript/form.ts";

const SCHEMA = {
	type: "object",
	properties: {
		code: { type: "string" },
		title: { type: "string" },
		body: { type: "string" },
		page: { type: "string", contentMediaType: "text/html" },
		count: { type: "integer" },
		price: { type: ["number", "null"] },
		express: { type: "boolean" },
		gift: { anyOf: [{ type: "boolean" }, { type: "null" }] },
		size: { $ref: "#/$defs/Size" },
		place: { type: "object" },
		either: { anyOf: [{ type: "integer" }, { type: "string" }] },
	},
	required: ["code", "count", "place"],
	$defs: { Size: { enum: ["small", 2, null], description: "How large." } },
};
const ARGS = {
	code: "x",
	title: "Hi",
	body: "one\ntwo",
	page: "<p>",
	count: 3,
	price: null,
	express: true,
	size: "small",
	place: { city: "Lyon" },
	either: 4,
	extra: [1],
};
const FIELDS = fieldsOf(ARGS, SCHEMA);
const field = (name: string) => FIELDS.find((one) => one.name === name)!;

function read(typed: Record<string, string>) {
	return readFields(FIELDS, ARGS, ({ name, initial }) => typed[name] ?? initial);
}

test("the schema and the value decide which field an argument gets", () => {
	expect(Object.fromEntries(FIELDS.map(({ name, kind }) => [name, kind]))).toEqual({
		code: "text",
		title: "line",
		body: "text",
		page: "text",
		count: "number",
		price: "number",
		express: "switch",
		gift: "choice",
		size: "choice",
		place: "json",
		either: "json",
		extra: "json",
	});
	expect(field("size")).toMatchObject({ choices: ['"small"', "2", "null"], description: "How large." });
	expect(field("gift").choices).toEqual(["", "true", "false"]);
	expect(["code", "page", "body", "place"].map((name) => field(name).language)).toEqual([
		"py",
		"html",
		null,
		"json",
	]);
	const wrong = fieldsOf({ count: "three" }, SCHEMA).find(({ name }) => name === "count");
	expect(wrong).toMatchObject({ kind: "json", initial: '"three"' });
});

describe("reading the fields", () => {
	test("nothing has changed until a value has", () => {
		expect(read({})).toEqual({ args: null, problems: {} });
		expect(read({ place: '{"city":"Lyon"}', count: "3.0" })).toEqual({ args: null, problems: {} });
	});

	test("changes keep everything else as it was proposed", () => {
		const typed = { title: "", count: "4", express: "false", size: "2", gift: "true", either: '"x"' };
		const { args, problems } = read(typed);
		const changed = { title: "", count: 4, express: false, size: 2, gift: true, either: "x" };
		expect(args).toEqual({ ...ARGS, ...changed });
		expect(problems).toEqual({});
	});

	test("an emptied field takes an optional argument away and is a problem for a required one", () => {
		const { args, problems } = read({ either: "", count: " ", place: "" });
		expect(args).not.toHaveProperty("either");
		expect(problems).toEqual({ count: "A value is needed.", place: "A value is needed." });
	});

	test("what is no number or no JSON is a problem", () => {
		const { args, problems } = read({ count: "2.5", price: "-", place: "{" });
		expect(args).toBeNull();
		expect(problems).toMatchObject({ count: "Not a whole number.", price: "Not a number." });
		expect(problems.place).toMatch(/^Not JSON: /);
	});
});

test("a problem is said at its field until the field changes", () => {
	const form = createForm(ARGS, SCHEMA);
	const told: Problems[] = [];
	form.onChange = (_, problems) => told.push(problems);
	expect(form.refuse({ count: "Too many.", "place/zip~1code": "This is required.", other: "What?" })).toEqual(
		["What?"],
	);
	const input = (name: string): HTMLInputElement => {
		const label = [...form.element.querySelectorAll("label")].find(
			(one) => one.firstChild?.textContent === name,
		);
		return form.element.querySelector(`#${label?.htmlFor}`)!;
	};
	const problem = (name: string): string => {
		const ids = input(name).getAttribute("aria-describedby")!.split(" ");
		return form.element.querySelector(`#${ids.at(-1)}[role=alert]`)!.textContent;
	};
	expect([problem("count"), problem("place")]).toEqual(["Too many.", "zip/code: This is required."]);
	expect(input("count").getAttribute("aria-invalid")).toBe("true");
	input("count").value = "2";
	input("count").dispatchEvent(new Event("input"));
	expect([problem("count"), problem("place")]).toEqual(["", "zip/code: This is required."]);
	expect(told).toEqual([{}]);
});

test("characters that are written out are named below their field", () => {
	const form = createForm({ title: "a\u202eb\u202e" }, { properties: { title: { type: "string" } } });
	const input = form.element.querySelector("input")!;
	const notes = (): string[] =>
		[...form.element.querySelectorAll<HTMLElement>(".anb-cap:not([hidden])")].map((one) => one.textContent);
	expect(notes()).toEqual(["Invisible characters are written out: <U+202E>."]);
	input.value = "ab";
	input.dispatchEvent(new Event("input"));
	expect(notes()).toEqual([]);
});

test("an argument that was not given shows what it is otherwise", () => {
	const size = { enum: ["small", "large"], default: "small" };
	const form = createForm({}, { properties: { count: { type: "integer", default: 3 }, size } });
	expect(form.element.querySelector("input")?.placeholder).toBe("3");
	expect([...form.element.querySelectorAll("option")].map((one) => one.textContent)).toEqual([
		"not given: small",
		"small",
		"large",
	]);
});
