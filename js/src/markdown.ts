// Markdown as it streams. Safe by construction: no HTML parser ever sees the model's text. The parser names
// tokens, this file makes elements from a fixed list, and the only attribute that carries text is a checked link.

import * as smd from "streaming-markdown";

const TAGS: Partial<Record<smd.Token, keyof HTMLElementTagNameMap>> = {
	[smd.PARAGRAPH]: "p",
	[smd.HEADING_1]: "h5",
	[smd.HEADING_2]: "h5",
	[smd.HEADING_3]: "h6",
	[smd.HEADING_4]: "h6",
	[smd.HEADING_5]: "h6",
	[smd.HEADING_6]: "h6",
	[smd.CODE_INLINE]: "code",
	[smd.ITALIC_AST]: "em",
	[smd.ITALIC_UND]: "em",
	[smd.STRONG_AST]: "strong",
	[smd.STRONG_UND]: "strong",
	[smd.STRIKE]: "s",
	[smd.LINK]: "a",
	[smd.RAW_URL]: "a",
	[smd.BLOCKQUOTE]: "blockquote",
	[smd.LINE_BREAK]: "br",
	[smd.RULE]: "hr",
	[smd.LIST_UNORDERED]: "ul",
	[smd.LIST_ORDERED]: "ol",
	[smd.LIST_ITEM]: "li",
	[smd.TABLE]: "table",
	[smd.TABLE_ROW]: "tr",
	[smd.TABLE_CELL]: "td",
	[smd.CODE_BLOCK]: "pre",
	[smd.CODE_FENCE]: "pre",
};

/** How many elements may be nested, as in the saved form: browsers crash on thousands. */
const DEEPEST = 20;
/** Tokens that can be nested without end, and the text that is shown instead of one that is too deep. */
const MARKS: Partial<Record<smd.Token, string>> = {
	[smd.BLOCKQUOTE]: ">",
	[smd.LIST_UNORDERED]: "",
	[smd.LIST_ORDERED]: "",
	[smd.PARAGRAPH]: "",
	[smd.ITALIC_AST]: "*",
	[smd.ITALIC_UND]: "_",
	[smd.STRONG_AST]: "**",
	[smd.STRONG_UND]: "__",
	[smd.STRIKE]: "~~",
	[smd.LINK]: "[",
	[smd.IMAGE]: "![",
	[smd.EQUATION_INLINE]: "$",
	[smd.EQUATION_BLOCK]: "$$",
};
const CONTAINERS: readonly number[] = [smd.BLOCKQUOTE, smd.LIST_UNORDERED, smd.LIST_ORDERED];
/** What the parser has room for: the deepest token, a table cell in it, and code in that. */
const ROOM = 32;

/** The address of a link, or null if it is not safe to follow. */
export function safeLink(address: string): string | null {
	try {
		const url = new URL(address.trim());
		return ["https:", "http:", "mailto:"].includes(url.protocol) ? url.href : null;
	} catch {
		return null;
	}
}

/** Characters to wait for the end of an address before giving up. */
const LONGEST_REST = 2000;

/** How many brackets an address leaves open. */
function openBrackets(address: string): number {
	let open = 0;
	for (const char of address) open += char === "(" ? 1 : char === ")" ? -1 : 0;
	return open;
}

/** A link whose address contains brackets: the parser ends the address at the first `)`. */
interface Cut {
	readonly link: HTMLElement;
	address: string;
	/** Brackets of the address that are still open. */
	open: number;
	/** Text held back until it is clear whether it belongs to the address. */
	held: string;
}

class Builder {
	readonly #path: Node[];
	readonly parser: smd.Parser;
	#cut: Cut | null = null;

	constructor(root: HTMLElement) {
		this.#path = [root];
		this.parser = smd.parser({
			data: this,
			add_token: (builder: Builder, token) => builder.open(token),
			end_token: (builder: Builder) => builder.close(),
			add_text: (builder: Builder, text) => builder.text(text),
			set_attr: (builder: Builder, name, value) => builder.attribute(name, value),
		});
		const tokens = new Uint32Array(ROOM);
		tokens[0] = smd.DOCUMENT;
		Object.assign(this.parser, { tokens, spaces: new Uint8Array(ROOM) });
	}

	open(token: smd.Token): void {
		if (token === smd.DOCUMENT) return;
		this.end();
		const mark = this.#tooDeep(token);
		if (mark === null) this.#add(token);
		else this.#flatten(token, mark);
	}

	/** The text of a token that is nested too deep; null for any other. */
	#tooDeep(token: smd.Token): string | null {
		const { len, tokens, pending } = this.parser;
		const parent = tokens[len - 1] as number;
		// Also an item whose list was too deep.
		if (token === smd.LIST_ITEM) return CONTAINERS.includes(parent) ? null : `${pending.trim()} `;
		// A list needs room for its items.
		if (len <= (CONTAINERS.includes(token) ? DEEPEST - 2 : DEEPEST)) return null;
		// The parser relies on a paragraph for text in a container.
		if (token === smd.PARAGRAPH && [...CONTAINERS, smd.LIST_ITEM].includes(parent)) return null;
		return MARKS[token] ?? null;
	}

	/** Makes the parser go on as if a token were text: of a paragraph, if it is a container, else of its parent. */
	#flatten(token: smd.Token, mark: string): void {
		const { parser } = this;
		if (CONTAINERS.includes(token)) {
			if (token === smd.BLOCKQUOTE) parser.blockquote_idx--;
			parser.token = parser.tokens[parser.len] = smd.PARAGRAPH;
			this.#add(smd.PARAGRAPH);
		} else {
			parser.len--;
			parser.token = parser.tokens[parser.len] as smd.Token;
			if (token === smd.PARAGRAPH) this.#here.appendChild(document.createElement("br"));
		}
		this.#append(mark);
	}

	#add(token: smd.Token): void {
		const tag = TAGS[token] ?? "span";
		const element = document.createElement(tag);
		this.#here.appendChild(element);
		this.#path.push(element);
		if (token === smd.CHECKBOX) element.textContent = "☐";
	}

	close(): void {
		if (this.#here !== this.#cut?.link) this.end();
		if (this.#path.length > 1) this.#path.pop();
	}

	/** No more text will follow here. */
	end(): void {
		if (this.#cut) this.#append(this.#giveUp(this.#cut));
	}

	text(text: string): void {
		this.#append(this.#cut ? this.#complete(this.#cut, text) : text);
	}

	#append(text: string): void {
		if (!text) return;
		const last = this.#here.lastChild;
		if (last?.nodeType === Node.TEXT_NODE) (last as Text).appendData(text);
		else this.#here.appendChild(document.createTextNode(text));
	}

	attribute(name: smd.Attr, value: string): void {
		const element = this.#here as HTMLElement;
		if (name === smd.HREF && element.localName === "a") {
			this.#link(element, value);
			const open = openBrackets(value);
			if (open > 0) this.#cut = { link: element, address: `${value})`, open: open - 1, held: "" };
		} else if (name === smd.START && /^\d{1,9}$/.test(value)) {
			element.setAttribute("start", value);
		} else if (name === smd.CHECKED) {
			element.textContent = "☑";
		} else if (name === smd.SRC && safeLink(value)) {
			// Loading an image would tell its server who reads this, so its address is shown instead.
			this.text(` (image: ${value})`);
		}
	}

	#link(element: HTMLElement, value: string): void {
		const address = safeLink(value);
		if (address === null) return;
		element.setAttribute("href", address);
		element.setAttribute("target", "_blank");
		element.setAttribute("rel", "noopener noreferrer");
	}

	/** Takes the rest of a link's address out of the text and returns the remaining text. */
	#complete(cut: Cut, text: string): string {
		for (let at = 0; at < text.length; at++) {
			const char = text.charAt(at);
			if (/\s/.test(char) || cut.held.length > LONGEST_REST) return this.#giveUp(cut) + text.slice(at);
			if (char === ")" && cut.open === 0) {
				this.#link(cut.link, cut.address);
				this.#cut = null;
				return text.slice(at + 1);
			}
			cut.open += char === "(" ? 1 : char === ")" ? -1 : 0;
			cut.address += char;
			cut.held += char;
		}
		return "";
	}

	/** The address had ended after all: returns what was held back as text. */
	#giveUp(cut: Cut): string {
		this.#cut = null;
		return cut.held;
	}

	get #here(): Node {
		return this.#path[this.#path.length - 1] as Node;
	}
}

/** Markdown that grows: `set` appends what is new, and starts over if the text is a different one. */
export class Markdown {
	readonly element: HTMLElement;
	#builder: Builder | null = null;
	#text = "";

	constructor(element: HTMLElement) {
		this.element = element;
	}

	set(text: string, done: boolean): void {
		if (text.length < this.#text.length || !text.startsWith(this.#text)) this.#reset();
		if (text.length > this.#text.length) {
			this.#builder ??= this.#begin();
			smd.parser_write(this.#builder.parser, text.slice(this.#text.length));
			this.#text = text;
		}
		if (done && this.#builder) {
			smd.parser_end(this.#builder.parser);
			this.#builder.end();
			this.#builder = null;
		}
	}

	#reset(): void {
		this.element.replaceChildren();
		this.#builder = null;
		this.#text = "";
	}

	#begin(): Builder {
		this.#reset();
		return new Builder(this.element);
	}
}
