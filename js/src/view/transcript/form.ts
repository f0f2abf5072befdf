// A call as a form: a field for each argument, made from the tool's schema.

import { h, showText } from "../../base/dom.ts";
import { readable, sameJson } from "../../base/json.ts";
import { original, printable } from "../../base/printable.ts";
import type { Json } from "../../run/events.ts";
import type { Form } from "../choices.ts";
import { coloured, fieldSchema, languageOf, remarksOn } from "./arguments.ts";

/** Counter for element ids that labels and descriptions refer to. */
let created = 0;

export function createForm(args: Json, schema: Json, secrets: readonly string[] = []): Form {
	const fields = fieldsOf(args, schema);
	const rows = new Map(
		fields.map((field) => [field.name, createRow(field, secrets, () => changed(field.name))]),
	);
	const element = h("div", { class: "anb-form" }, ...[...rows.values()].map((row) => row.element));

	function changed(name: string): void {
		const { args: next, problems } = readFields(fields, args, (field) => rows.get(field.name)!.text());
		// A problem reported by the kernel stays until its field changes.
		rows.get(name)?.setProblem(problems[name] ?? "");
		form.onChange(next, problems);
	}

	const form: Form = {
		element,
		onChange() {},
		refuse(problems) {
			const unmatched: string[] = [];
			for (const [path, problem] of Object.entries(problems)) {
				const [name = "", ...inside] = path
					.split("/")
					.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
				const sentence = inside.length ? `${inside.join(" / ")}: ${problem}` : problem;
				const row = rows.get(name);
				if (row) row.setProblem(sentence);
				else unmatched.push(problem);
			}
			return unmatched;
		},
		focus() {
			const all = [...rows.values()];
			(all.find((row) => row.hasProblem()) ?? all[0])?.focus();
		},
	};
	return form;
}

function createRow(field: Field, secrets: readonly string[], changed: () => void) {
	const id = `anb-field-${++created}`;
	const control = CONTROLS[field.kind](field, () => {
		remark();
		changed();
	});
	const mark = h("span", null, field.given ? "" : "optional");
	const name = h("label", { class: "field", for: id }, printable(field.name), mark);
	const about = h("p", { class: "anb-cap", id: `${id}-about` }, printable(field.description));
	const problem = h("p", { class: "problem", id: `${id}-problem`, role: "alert" });
	const remarks = h("p", { class: "anb-cap" });
	const remark = (): void => showText(remarks, remarksOn(control.text(), secrets).join(" "));
	remark();
	control.input.id = id;
	control.input.setAttribute("aria-describedby", `${id}-about ${id}-problem`);
	about.hidden = field.description === "";
	return {
		element: h("div", { class: field.kind }, name, control.element, problem, remarks, about),
		text: control.text,
		focus: () => control.input.focus(),
		hasProblem: () => problem.textContent !== "",
		setProblem(text: string) {
			if (problem.textContent !== text) problem.textContent = text;
			control.input.setAttribute("aria-invalid", String(text !== ""));
		},
	};
}

interface Control {
	readonly element: HTMLElement;
	/** The focusable element. */
	readonly input: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
	text(): string;
}

/** The control of a field: an input, a select, or an editor that grows with its text and highlights it. */
const CONTROLS: Record<Kind, (field: Field, changed: () => void) => Control> = {
	line: createInput,
	number: createNumber,
	switch: createSwitch,
	choice: createChoice,
	text: createEditor,
	json: createEditor,
};

function createInput(field: Field, changed: () => void, more: object = { type: "text" }): Control {
	const placeholder = field.given ? null : readable(field.schema.default);
	const input = h("input", { class: "anb-input", placeholder, oninput: changed, ...more });
	input.value = field.initial;
	return { element: input, input, text: () => input.value };
}

/** An invalid number input has an empty value; `-` is used instead, which is not a number either. */
function createNumber(field: Field, changed: () => void): Control {
	const { type, minimum, maximum } = field.schema;
	const limits = { min: minimum, max: maximum, step: type === "integer" ? 1 : "any" };
	const control = createInput(field, changed, { type: "number", ...limits });
	const { input } = control;
	return { ...control, text: () => (input.validity.badInput ? "-" : input.value) };
}

function createSwitch(field: Field, changed: () => void): Control {
	const input = h("input", { type: "checkbox", oninput: changed });
	input.checked = field.initial === "true";
	return { element: input, input, text: () => String(input.checked) };
}

function createChoice(field: Field, changed: () => void): Control {
	const options = field.choices.map((choice) =>
		h("option", { value: choice, selected: choice === field.initial }, labelOf(choice, field)),
	);
	const input = h("select", { class: "anb-input", oninput: changed }, ...options);
	return { element: input, input, text: () => input.value };
}

function labelOf(choice: string, { schema }: Field): string {
	const usual = readable(schema.default);
	if (choice === "") return usual ? `not given: ${printable(usual)}` : "not given";
	const value: unknown = JSON.parse(choice);
	return printable(typeof value === "string" ? value : choice);
}

/** An editor with a highlighted copy of the text over the transparent text that is edited. */
function createEditor(field: Field, changed: () => void): Control {
	const code = field.language !== null;
	const plain = code ? { spellcheck: "false", autocapitalize: "off", autocomplete: "off" } : {};
	const input = h("textarea", { rows: 1, oninput, onkeydown: code && indent, ...plain });
	const copy = h("pre", { "aria-hidden": "true" });
	input.value = field.initial;

	function draw(): void {
		// The last line needs a character to take up space.
		copy.replaceChildren(...coloured(field.language ?? "", `${input.value}\n`));
	}
	function oninput(): void {
		draw();
		changed();
	}
	draw();
	return {
		element: h("div", { class: code ? "anb-editor code" : "anb-editor" }, input, copy),
		input,
		text: () => input.value,
	};
}

/** Indents a new line like the previous one, or further after a colon. */
function indent(event: KeyboardEvent): void {
	const input = event.target as HTMLTextAreaElement;
	const { key, isComposing, shiftKey, ctrlKey, metaKey, altKey } = event;
	if (key !== "Enter" || isComposing || shiftKey || ctrlKey || metaKey || altKey) return;
	const line = input.value.slice(0, input.selectionStart).split("\n").at(-1) ?? "";
	const [space = ""] = /^[ \t]*/.exec(line) ?? [];
	const more = line.trimEnd().endsWith(":") ? "    " : "";
	event.preventDefault();
	// The only way to insert text that Undo can revert.
	document.execCommand("insertText", false, `\n${space}${more}`);
}

type Kind = "line" | "text" | "number" | "switch" | "choice" | "json";

interface Field {
	readonly name: string;
	readonly kind: Kind;
	readonly description: string;
	readonly required: boolean;
	/** Whether the model set a value. */
	readonly given: boolean;
	/** The proposed value as printable text; empty if unset. */
	readonly initial: string;
	/** The file suffix for its language; null for prose. */
	readonly language: string | null;
	/** The values of a choice, as JSON. */
	readonly choices: readonly string[];
	readonly schema: Json;
}

/** Maximum characters of a one-line text. */
const LONGEST_LINE = 60;
/** Arguments with these names are code, whatever their length. */
const CODE = /^(?:code|command|cmd|sql|query|script|source|expression)$/;

/** The fields of a call: their kinds, from the tool's schema and the proposed values, and how to parse their text. */
export function fieldsOf(args: Json, schema: Json): Field[] {
	const properties = (schema.properties as Json | undefined) ?? {};
	const names = new Set([...Object.keys(args), ...Object.keys(properties)]);
	return [...names].map((name) => fieldOf(name, args, schema));
}

function fieldOf(name: string, args: Json, schema: Json): Field {
	const property = resolved(schema, fieldSchema(schema, name));
	const value = args[name] ?? null;
	const given = name in args;
	const kind = kindOf(name, value, property);
	const language = languageOf(name, { properties: { [name]: property } });
	return {
		name,
		kind,
		given,
		description: String(property.description ?? ""),
		required: ((schema.required as string[] | undefined) ?? []).includes(name),
		initial: given ? textOf(kind, value) : "",
		language: kind === "json" ? "json" : language || (CODE.test(name) ? "" : null),
		choices: kind === "choice" ? choicesOf(property, given, value) : [],
		schema: property,
	};
}

/** A property with its reference resolved, and without the null that makes it optional. */
function resolved(root: Json, schema: Json, depth = 0): Json {
	const name = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(schema.$ref ?? ""));
	const target = name && ((root[name[1]!] as Json | undefined)?.[name[2]!] as Json | undefined);
	if (target && depth < 5) {
		const { $ref: _, ...rest } = schema;
		return resolved(root, { ...target, ...rest }, depth + 1);
	}
	const options = ((schema.anyOf ?? schema.oneOf) as Json[] | undefined)?.filter(
		({ type }) => type !== "null",
	);
	if (options?.length === 1 && depth < 5) {
		const { anyOf: _, oneOf: __, ...rest } = schema;
		return resolved(root, { ...options[0], ...rest }, depth + 1);
	}
	const types = Array.isArray(schema.type) ? schema.type.filter((type) => type !== "null") : [schema.type];
	return { ...schema, type: types.length === 1 ? types[0] : undefined };
}

function kindOf(name: string, value: unknown, property: Json): Kind {
	const { type, enum: values } = property;
	if (Array.isArray(values) || (type === "boolean" && value === null)) return "choice";
	const declared = type === "integer" ? "number" : (type ?? "string");
	// A value of an undeclared type is edited as JSON, so that it is shown as it is.
	const actual = value === null && type !== undefined ? declared : typeof value;
	if (actual !== declared) return "json";
	if (declared === "boolean") return "switch";
	if (declared === "number") return "number";
	return declared === "string" ? kindOfText(name, String(value ?? ""), property) : "json";
}

function kindOfText(name: string, text: string, { contentMediaType }: Json): Kind {
	const long = text.length > LONGEST_LINE || text.includes("\n");
	return long || contentMediaType || CODE.test(name) ? "text" : "line";
}

/** Everything but a plain text is written as JSON. */
function textOf(kind: Kind, value: unknown): string {
	if (kind === "choice") return JSON.stringify(value);
	if (kind === "json") return printable(JSON.stringify(value, null, 2));
	return value === null ? "" : printable(readable(value));
}

function choicesOf({ enum: values }: Json, given: boolean, value: unknown): string[] {
	const options = (Array.isArray(values) ? values : [true, false]).map((one) => JSON.stringify(one));
	return [...new Set(given ? [...options, JSON.stringify(value)] : ["", ...options])];
}

/** Parses the text of a field: a value, unset, or a problem. */
type Meaning = { value: unknown } | { problem: string } | null;

function meaningOf({ kind, required, schema }: Field, text: string): Meaning {
	if (kind === "line" || kind === "text") return { value: original(text) };
	if (text.trim() === "") return required ? { problem: "A value is needed." } : null;
	if (kind === "number") return numberOf(text, schema.type === "integer");
	try {
		return { value: JSON.parse(kind === "json" ? original(text) : text) };
	} catch (error) {
		return { problem: `Not JSON: ${(error as Error).message}` };
	}
}

function numberOf(text: string, integer: boolean): Meaning {
	const value = Number(text);
	if (!Number.isFinite(value)) return { problem: "Not a number." };
	return integer && !Number.isInteger(value) ? { problem: "Not a whole number." } : { value };
}

/** The edited arguments, from the fields; null if they are unchanged. */
export function readFields(fields: readonly Field[], args: Json, textIn: (field: Field) => string) {
	const next: Json = { ...args };
	const problems: Record<string, string> = {};
	for (const field of fields) {
		const text = textIn(field);
		if (text === field.initial) continue;
		const meaning = meaningOf(field, text);
		if (meaning === null) delete next[field.name];
		else if ("problem" in meaning) problems[field.name] = meaning.problem;
		else next[field.name] = meaning.value;
	}
	return { args: sameJson(next, args) ? null : next, problems };
}
