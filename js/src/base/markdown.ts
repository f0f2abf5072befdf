// Streaming Markdown: finished blocks are parsed once, the last blocks again whenever text is added to them.

import { h } from "./dom.ts";
import { colouredText } from "./highlight.ts";
import { createRest, endOfFirst } from "./long-text.ts";
import { parse, parseBlocks, type References, type Token } from "./markdown/parser.ts";
import { createFormula, typesetFormulas } from "./markdown/typeset.ts";

/** Growing Markdown: `set` draws the added text, or starts over if the text is not a continuation. */
export class Markdown {
	/** A fold with the end of a long text. */
	readonly rest = createRest();
	#text = "";
	#ended = false;
	/** The length of the finished blocks in characters and in nodes. */
	#finished = 0;
	#nodes = 0;
	#references: References = {};

	constructor(readonly element: HTMLElement) {}

	set(whole: string, done: boolean): void {
		const end = endOfFirst(whole);
		this.rest.set(whole, end);
		this.#set(whole.slice(0, end), done || end < whole.length);
	}

	#set(text: string, done: boolean): void {
		if (text === this.#text && done === this.#ended) return;
		if (this.#ended || !text.startsWith(this.#text)) this.#startOver();
		this.#text = text;
		this.#ended = done;
		this.#draw();
	}

	#startOver(): void {
		this.#finished = this.#nodes = 0;
		this.#references = {};
	}

	#draw(): void {
		const remaining = this.#text.slice(this.#finished);
		const references: References = Object.create(this.#references);
		const tokens = parse(remaining, references);
		// A link definition also applies to the text before it.
		if (this.#ended && this.#finished && anyIn(references)) {
			this.#startOver();
			this.#draw();
			return;
		}
		replaceFrom(this.element, this.#nodes, createElements(tokens, this.#ended));
		if (this.#ended) typesetFormulas(this.element);
		else this.#finish(remaining, tokens);
	}

	/** Marks the blocks that no further text can change as finished. */
	#finish(remaining: string, tokens: readonly Token[]): void {
		const ends = [...remaining.matchAll(/\r\n?|\n/g)].map(({ index, 0: { length } }) => index + length);
		const blocks = tokens.filter(({ level, nesting }) => level === 0 && nesting >= 0);
		const last = blocks.findLastIndex((block, index) => isSettled(block, blocks[index - 1], ends.length));
		const end = ends[(blocks[last]?.map?.[0] ?? 0) - 1];
		if (!end) return;
		parseBlocks(remaining.slice(0, end), this.#references);
		this.#finished += end;
		this.#nodes += blocks.slice(0, last).filter(({ hidden }) => !hidden).length;
	}
}

/**
 * Whether the start of a block is final. That is certain from its second line on, which may turn the first into a table
 * header; a line after a link definition may become its title.
 */
function isSettled({ map }: Token, before: Token | undefined, lines: number): boolean {
	if (!map || map[0] + 2 > lines) return false;
	return before?.type !== "definition" || before.map?.[1] !== map[0];
}

function anyIn(references: References): boolean {
	for (const _ in references) return true;
	return false;
}

const HEADINGS = { h1: "h5", h2: "h5", h3: "h6", h4: "h6", h5: "h6", h6: "h6" };
const SAME = "p code em strong s a blockquote br hr ul ol li table thead tbody tr th td".split(" ");
const TAGS: Readonly<Record<string, string>> = {
	...HEADINGS,
	...Object.fromEntries(SAME.map((tag) => [tag, tag])),
};
/** Maximum nesting of elements. Deeper content is shown without an element of its own. */
const DEEPEST = 60;

/** Converts a text to elements. The last block is highlighted only if it is complete. */
function createElements(tokens: readonly Token[], complete: boolean): Node[] {
	const root = document.createElement("div");
	const last = complete
		? tokens.length
		: tokens.findLastIndex(({ level, nesting }) => level === 0 && nesting >= 0);
	add(tokens.slice(0, last), [root], true);
	add(tokens.slice(last), [root], complete);
	return [...root.childNodes];
}

function add(tokens: readonly Token[], path: Node[], complete: boolean): void {
	for (const token of tokens) {
		const here = path.at(-1) as Node;
		if (token.type === "inline") add(token.children ?? [], path, complete);
		else if (token.hidden) continue;
		else if (token.nesting > 0) path.push(path.length < DEEPEST ? open(token, here) : here);
		else if (token.nesting < 0) path.pop();
		else append(here, createLeaf(token, complete));
	}
}

/** Appends a node; a text node is merged into a preceding one. */
function append(parent: Node, node: Node): void {
	const last = parent.lastChild;
	if (last instanceof Text && node instanceof Text) last.appendData(node.data);
	else parent.appendChild(node);
}

function open(token: Token, parent: Node): HTMLElement {
	const element = document.createElement(TAGS[token.tag] ?? "span");
	const address = token.attrGet("href"); // empty for all but web and mail addresses: the parser checks it
	if (address) {
		element.setAttribute("href", address);
		element.setAttribute("target", "_blank");
		element.setAttribute("rel", "noopener noreferrer");
	}
	const start = String(token.attrGet("start") ?? "");
	if (/^\d{1,9}$/.test(start)) element.setAttribute("start", start);
	const align = /^text-align:(left|center|right)$/.exec(String(token.attrGet("style") ?? ""))?.[1];
	if (align) element.style.textAlign = align;
	parent.appendChild(element);
	return element;
}

function createLeaf(token: Token, complete: boolean): Node {
	switch (token.type) {
		case "softbreak":
			return document.createTextNode("\n");
		case "hardbreak":
			return h("br");
		case "hr":
			return h("hr");
		case "code_inline":
			return h("code", null, token.content);
		case "fence":
		case "code_block":
			return createCodeBlock(token, complete);
		case "math":
			return createFormula(token.content, complete);
		default:
			return document.createTextNode(token.content);
	}
}

function createCodeBlock({ info, content }: Token, complete: boolean): HTMLElement {
	const language = info.trim().split(/\s/, 1)[0] ?? "";
	const isPython = /^(?:i?python3?|py)$/i.test(language);
	const code = h("code", null, ...(complete ? colouredText(language, content) : [content]));
	return h("pre", { class: isPython && "py" }, code);
}

/** Replaces the children of a node from an index on. Equal nodes stay, to keep the selection in them. */
function replaceFrom(parent: Node, start: number, nodes: readonly Node[]): void {
	for (const [index, node] of nodes.entries()) {
		const old = parent.childNodes[start + index];
		if (!old) parent.appendChild(node);
		else if (old instanceof Text && node instanceof Text) continueText(old, node.data);
		else if (outside(old) === outside(node)) replaceFrom(old, 0, [...node.childNodes]);
		else parent.replaceChild(node, old);
	}
	while (parent.childNodes.length > start + nodes.length) parent.lastChild?.remove();
}

function continueText(node: Text, text: string): void {
	if (text.startsWith(node.data)) node.appendData(text.slice(node.length));
	else node.data = text;
}

/** A node's own identity, without its children. */
function outside(node: Node): string {
	const attributes = node instanceof Element ? [...node.attributes] : [];
	return [node.nodeName, ...attributes.map(({ name, value }) => `${name}=${value}`)].join("\n");
}
