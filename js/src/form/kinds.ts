// The fields of a call: what kind each is, from the tool's schema and the proposed value, and what its text means.

import type { Json } from "../events.ts";
import { readable, sameJson } from "../json.ts";
import { original, printable } from "../printable.ts";
import type { Problems } from "../questions.ts";
import { fieldSchema, languageOf } from "../view/transcript/arguments.ts";

export type Kind = "line" | "text" | "number" | "switch" | "choice" | "json";

export interface Field {
	readonly name: string;
	readonly kind: Kind;
	readonly description: string;
	readonly required: boolean;
	/** Whether the model gave a value. */
	readonly given: boolean;
	/** The proposed value as text that is printable; empty if there is none. */
	readonly initial: string;
	/** The ending of files in its language; null for prose. */
	readonly language: string | null;
	/** The values of a choice, as JSON. */
	readonly choices: readonly string[];
	readonly schema: Json;
}

/** Characters of a text that fit into a line. */
const LONGEST_LINE = 60;
/** Arguments with these names are code, whatever their length. */
const CODE = /^(?:code|command|cmd|sql|query|script|source|expression)$/;

export function fieldsOf(args: Json, schema: Json): Field[] {
	const names = new Set([
		...Object.keys(args),
		...Object.keys((schema.properties as Json | undefined) ?? {}),
	]);
	return [...names].map((name) => fieldOf(name, args, schema));
}

function fieldOf(name: string, args: Json, schema: Json): Field {
	const own = resolved(schema, fieldSchema(schema, name));
	const value = args[name] ?? null;
	const given = name in args;
	const kind = kindOf(name, value, own);
	const language = languageOf(name, { properties: { [name]: own } });
	return {
		name,
		kind,
		given,
		description: String(own.description ?? ""),
		required: ((schema.required as string[] | undefined) ?? []).includes(name),
		initial: given ? textOf(kind, value) : "",
		language: kind === "json" ? "json" : language || (CODE.test(name) ? "" : null),
		choices: kind === "choice" ? choicesOf(own, given, value) : [],
		schema: own,
	};
}

/** A property with its reference followed, and without the null that makes it optional. */
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

function kindOf(name: string, value: unknown, own: Json): Kind {
	const { type, enum: values } = own;
	if (Array.isArray(values) || (type === "boolean" && value === null)) return "choice";
	const wanted = type === "integer" ? "number" : (type ?? "string");
	// A value that is not of the declared type is JSON, so that it is shown as it is.
	const actual = value === null && type !== undefined ? wanted : typeof value;
	if (actual !== wanted) return "json";
	if (wanted === "boolean") return "switch";
	if (wanted === "number") return "number";
	return wanted === "string" ? kindOfText(name, String(value ?? ""), own) : "json";
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
	const known = (Array.isArray(values) ? values : [true, false]).map((one) => JSON.stringify(one));
	return [...new Set(given ? [...known, JSON.stringify(value)] : ["", ...known])];
}

/** What a text in a field means: a value, nothing, or a problem. */
export type Meaning = { value: unknown } | { problem: string } | null;

export function meaningOf({ kind, required, schema }: Field, text: string): Meaning {
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

export interface Reading {
	/** The arguments with all changes; null if nothing has changed. */
	readonly args: Json | null;
	readonly problems: Problems;
}

/** The arguments as they are now, given what is in the fields. */
export function readFields(fields: readonly Field[], args: Json, textIn: (field: Field) => string): Reading {
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
