// Removes markup that makes a browser connect to a host even though the policy forbids loading from it. All content of a
// frame passes through here. `page_gate.py` of the package does the same for saved pages, and explains how and why.

import { integrity, tags } from "../../../agent_nb/pages/policy.json";

const KNOWN: Record<string, Record<string, string[]>> = tags;
const INTEGRITY = new Map(Object.entries(integrity));
const TAG = new RegExp(`<(${Object.keys(KNOWN).join("|")})(?=[\\t\\n\\f\\r />])`, "gi");
/** A tag whose name is incomplete. */
const UNNAMED = /<[a-z]{0,12}$/i;
const SPACE = /[\t\n\f\r ]*/y;
const BETWEEN = /[\t\n\f\r /]*/y;
const NAME = /[^\t\n\f\r "'<>/=\0]*/y;
const BARE = /(?:[^\t\n\f\r "'<>\0/]|\/(?!>))*/y;
const WORD = /[^\t\n\f\r ]+/g;
const MAX_BLOCKED = 50;
const MAX_SHOWN = 200;
/** A longer incomplete tag is parsed again only after it has grown by a quarter, to keep the time linear. */
const LONG = 4096;

interface Attribute {
	name: string;
	value: string;
	start: number;
	end: number;
}

/** Why a tag cannot be parsed: it is incomplete, or uses unusual syntax. */
type Unread = "unfinished" | "unknown";

export class Gate {
	/** Removed content worth reporting, such as the address of a frame; resource hints are not. */
	readonly blocked: string[] = [];
	#held = "";
	#enough = 0;

	/** Returns the text that is safe to write so far; an incomplete tag is held back. */
	push(piece: string, last = false): string {
		const text = this.#held + piece;
		this.#held = text;
		if (text.length < this.#enough && !last) return "";
		let [out, done, at] = ["", 0, 0];
		const edit = (start: number, end: number, put: string): void => {
			out += text.slice(done, start) + put;
			done = end;
		};
		for (let tag = tagFrom(text, at); tag; tag = tagFrom(text, at)) {
			const { index, 0: open, 1: name = "" } = tag;
			at = index + open.length;
			const attributes = readAttributes(text, at);
			if (attributes === "unfinished" && !last) return this.#hold(text, index, out + text.slice(done, index));
			if (typeof attributes === "string") edit(index + 1, index + 1, gapIn(name));
			else
				for (const attribute of attributes) {
					const source = text.slice(attribute.start, attribute.end);
					edit(attribute.start, attribute.end, this.#known(name.toLowerCase(), attribute, source));
					at = attribute.end;
				}
		}
		const unnamed = last ? -1 : text.search(UNNAMED);
		const end = unnamed < at ? text.length : unnamed;
		return this.#hold(text, end, out + text.slice(done, end));
	}

	#hold(text: string, from: number, ready: string): string {
		this.#held = text.slice(from);
		this.#enough = this.#held.length > LONG ? this.#held.length * 1.25 : 0;
		return ready;
	}

	/** The sanitized attribute, with `<` escaped; empty if it must be removed. */
	#known(tag: string, attribute: Attribute, source: string): string {
		const words = KNOWN[tag]?.[attribute.name];
		const isKnown =
			!words || (attribute.value.toLowerCase().match(WORD) ?? []).every((word) => words.includes(word));
		const hash = /^(src|href)$/.test(attribute.name) && INTEGRITY.get(attribute.value);
		const hashed = hash ? ` integrity="${hash}" crossorigin="anonymous"` : "";
		if (isKnown) return source.replace(TAG, "&lt;$1") + hashed;
		if (tag !== "link" && this.blocked.length < MAX_BLOCKED)
			this.blocked.push(`<${tag} ${source.slice(0, MAX_SHOWN)}>`);
		return "";
	}
}

/** The gap that turns a tag into text; a script that cannot be parsed does not connect by itself. */
const gapIn = (tag: string): string => (/^script$/i.test(tag) ? "" : " ");

export function gated(html: string): string {
	return new Gate().push(html, true);
}

function tagFrom(text: string, at: number): RegExpExecArray | null {
	TAG.lastIndex = at;
	return TAG.exec(text);
}

/** Parses the attributes after a tag's name, unless the tag uses unusual syntax. */
function readAttributes(text: string, from: number): Attribute[] | Unread {
	const attributes: Attribute[] = [];
	let start = endOf(BETWEEN, text, from);
	while (text[start] !== ">") {
		const attribute = readAttribute(text, start);
		if (typeof attribute === "string") return attribute;
		attributes.push(attribute);
		start = endOf(BETWEEN, text, attribute.end);
	}
	return attributes;
}

function readAttribute(text: string, start: number): Attribute | Unread {
	const nameEnd = endOf(NAME, text, start);
	const equals = endOf(SPACE, text, nameEnd);
	const name = text.slice(start, nameEnd).toLowerCase();
	if (equals === text.length) return "unfinished";
	if (!name) return "unknown";
	if (text[equals] !== "=") return { name, value: "", start, end: nameEnd };
	const begin = endOf(SPACE, text, equals + 1);
	const quote = /["']/.exec(text[begin] ?? "")?.[0] ?? "";
	const end = quote ? text.indexOf(quote, begin + 1) + 1 : endOf(BARE, text, begin);
	if (end === 0 || end === text.length) return "unfinished";
	if (end === begin) return "unknown";
	return { name, value: text.slice(begin + quote.length, end - quote.length), start, end };
}

function endOf(pattern: RegExp, text: string, at: number): number {
	pattern.lastIndex = at;
	pattern.test(text);
	return pattern.lastIndex;
}
