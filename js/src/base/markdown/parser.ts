// CommonMark with tables, strikethrough and formulas: the parser of the saved form (agent_nb/render/safe_markdown.py)
// with the same rules. Only markdown-it's tokenizer is used, so the model's text never becomes HTML.

import type MarkdownIt from "markdown-it";
import * as helpers from "markdown-it/lib/helpers/index.mjs";
import ParserBlock from "markdown-it/lib/parser_block.mjs";
import ParserInline from "markdown-it/lib/parser_inline.mjs";
import reference from "markdown-it/lib/rules_block/reference.mjs";
import type StateBlock from "markdown-it/lib/rules_block/state_block.mjs";
import type StateInline from "markdown-it/lib/rules_inline/state_inline.mjs";
import type Token from "markdown-it/lib/token.mjs";

export type { Token };
/** Link definitions: `[label]: https://a.example`. */
export type References = Record<string, { href: string; title: string }>;

/** Maximum nesting of blocks, as in the saved form: browsers crash on thousands. */
const DEEPEST = 20;
const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;

const block = new ParserBlock();
const inline = new ParserInline();
const parser = {
	block,
	inline,
	helpers,
	options: { html: false, linkify: false, maxNesting: DEEPEST },
	validateLink: (address: string) => SAFE_LINK.test(address),
	normalizeLink,
	normalizeLinkText: (address: string) => address,
} as unknown as MarkdownIt;

const ENDS = ["paragraph", "reference", "blockquote", "list"];
block.ruler.before("fence", "math", formulaBlock, { alt: ENDS });
block.ruler.at("reference", definition);
block.ruler.disable("html_block");
inline.ruler.before("escape", "math", inlineFormula);
inline.ruler.disable(["linkify", "image", "html_inline"]);

const tokenize = block.tokenize.bind(block);
block.tokenize = (state, start, end) => {
	if (state.level < DEEPEST) tokenize(state, start, end);
	else flatten(state, start, end);
};

/** Parses a text into tokens. Link definitions are read from and added to `references`. */
export function parse(text: string, references: References): Token[] {
	const tokens = parseBlocks(text, references);
	for (const token of tokens) {
		if (token.type === "inline") inline.parse(token.content, parser, { references }, token.children ?? []);
	}
	return tokens;
}

/** Parses only the block structure. */
export function parseBlocks(text: string, references: References): Token[] {
	const tokens: Token[] = [];
	block.parse(text.replace(/\r\n?/g, "\n").replaceAll("\0", "\uFFFD"), parser, { references }, tokens);
	return tokens;
}

/** Percent-encodes an address; existing escapes stay. */
function normalizeLink(address: string): string {
	return encodeURI(address.replace(/\p{Surrogate}/gu, "\uFFFD")).replace(/%25(?=[\da-f]{2})/gi, "%");
}

/** A definition leaves a token, so that it counts as a block. */
function definition(state: StateBlock, start: number, end: number, silent: boolean): boolean {
	if (!reference(state, start, end, silent)) return false;
	if (silent) return true;
	const token = state.push("definition", "", 0);
	token.map = [start, state.line];
	token.hidden = true;
	return true;
}

/** Blocks beyond the deepest level become a paragraph; markdown-it itself drops them. */
function flatten(state: StateBlock, start: number, end: number): void {
	let line = start;
	while (line < end && (state.isEmpty(line) || state.sCount[line]! >= state.blkIndent)) line++;
	state.push("paragraph_open", "p", 1);
	const text = state.push("inline", "", 0);
	text.content = state.getLines(start, line, state.blkIndent, false).trim();
	text.children = [];
	state.push("paragraph_close", "p", -1);
	state.line = line;
}

/** `$$x$$`, or `$x$` without spaces inside the dollars or a digit after them, so that prices stay text. */
const FORMULA = /\$\$(?:[^$\\]|\\[\s\S])+\$\$|\$(?![\s$])(?:[^$\\]|\\[\s\S])*?(?<!\s)\$(?![\d$])/y;

/**
 * Formulas between dollars, exempt from Markdown. Same rules as in agent_nb/render/safe_markdown.py.
 */
function inlineFormula(state: StateInline, silent: boolean): boolean {
	if (state.src[state.pos] !== "$") return false;
	FORMULA.lastIndex = state.pos;
	const formula = FORMULA.exec(state.src.slice(0, state.posMax))?.[0];
	if (!formula) return false;
	if (!silent) state.push("math", "", 0).content = formula;
	state.pos += formula.length;
	return true;
}

/** A paragraph from a line `$$` to a line that ends with `$$`, with any lines between. */
function formulaBlock(state: StateBlock, start: number, end: number, silent: boolean): boolean {
	const line = (at: number): string =>
		state.src.slice(state.bMarks[at]! + state.tShift[at]!, state.eMarks[at]).trim();
	if (state.sCount[start]! - state.blkIndent >= 4 || line(start) !== "$$") return false;
	if (silent) return true;
	let next = start + 1;
	while (next < end && !state.isEmpty(next) && state.sCount[next]! >= state.blkIndent) {
		next++;
		if (line(next - 1).endsWith("$$")) break;
	}
	state.line = next;
	state.push("paragraph_open", "p", 1).map = [start, next];
	const inline = state.push("inline", "", 0);
	inline.content = state.getLines(start, next, state.blkIndent, false).trim();
	inline.map = [start, next];
	inline.children = [];
	state.push("paragraph_close", "p", -1);
	return true;
}
