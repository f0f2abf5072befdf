// Syntax highlighting. Handwritten, because a library was a sixth of the bundle and mostly added languages and token
// kinds that the page has no colours for.

import { h } from "./dom.ts";
import { CSS, JAVASCRIPT, JSON_RULES, MARKDOWN, MARKUP, PYTHON, type Rule } from "./languages.ts";

/** The rules by file name extension, and by the info string of a Markdown fence. */
const LANGUAGES: readonly [readonly Rule[], string][] = [
	[MARKUP, "html htm xml svg vue"],
	[CSS, "css"],
	[JAVASCRIPT, "js mjs jsx ts tsx javascript typescript"],
	[JSON_RULES, "json"],
	[MARKDOWN, "md markdown"],
	[PYTHON, "py python ipython"],
];
const BY_NAME = new Map(
	LANGUAGES.flatMap(([rules, names]) => names.split(" ").map((name) => [name, rules] as const)),
);

/** Maximum characters to highlight: it blocks the page. */
const MOST_COLOURED = 50_000;

/** An embedded script or style sheet: its tag, and its text in another language. */
const EMBEDDED = /(<(script|style)\b[^>]*>)([\s\S]*?)(?=<\/\2|(?![\s\S]))/gi;

export interface Token {
	colour: string;
	text: string;
}

type Emit = (text: string, colour: string) => void;

/** Splits a text into lines of coloured tokens; null if the language is unknown. */
export function highlight(path: string, text: string): Token[][] | null {
	const rules = BY_NAME.get(path.split(".").at(-1)?.toLowerCase() ?? "");
	if (!rules) return null;
	const lines: Token[][] = [[]];
	const emit: Emit = (piece, colour) => {
		for (const [index, line] of piece.split("\n").entries()) {
			if (index > 0) lines.push([]);
			if (line) lines.at(-1)?.push({ colour, text: line });
		}
	};
	if (rules === MARKUP) markup(text, emit);
	else tokenize(text, rules, "", emit);
	return lines;
}

/** Highlights a text in its language. */
export function colouredText(language: string, text: string): (Node | string)[] {
	const lines = text.length > MOST_COLOURED ? null : highlight(`.${language}`, text);
	if (!lines) return [text];
	return lines.flatMap((line, index) => [
		index ? "\n" : "",
		...line.map(({ colour, text: piece }) => (colour ? h("span", { class: colour }, piece) : piece)),
	]);
}

function markup(text: string, emit: Emit): void {
	let done = 0;
	for (const { index, 0: whole, 1: tag = "", 2: name = "", 3: body = "" } of text.matchAll(EMBEDDED)) {
		tokenize(text.slice(done, index) + tag, MARKUP, "", emit);
		tokenize(body, embedded(name, tag), "", emit);
		done = index + whole.length;
	}
	tokenize(text.slice(done), MARKUP, "", emit);
}

function embedded(name: string, tag: string): readonly Rule[] {
	if (name.toLowerCase() === "style") return CSS;
	return /\b(?:json|importmap)\b/.test(tag) ? JSON_RULES : JAVASCRIPT;
}

function tokenize(text: string, rules: readonly Rule[], colour: string, emit: Emit): void {
	let done = 0;
	for (const match of text.matchAll(patternOf(rules))) {
		if (match.index > done) emit(text.slice(done, match.index), colour);
		const rule = rules.findIndex((_, number) => match.groups?.[`r${number}`] !== undefined);
		const [ruleColour, , inside] = rules[rule] as Rule;
		if (inside) tokenize(match[0], inside, ruleColour || colour, emit);
		else if (match[0]) emit(match[0], ruleColour || colour);
		done = match.index + match[0].length;
	}
	if (done < text.length) emit(text.slice(done), colour);
}

const patterns = new Map<readonly Rule[], RegExp>();

/** Combines all rules into one pattern; the group `r2` belongs to the third rule. */
function patternOf(rules: readonly Rule[]): RegExp {
	const cached = patterns.get(rules);
	if (cached) return cached;
	const sources = rules.map(([, { source }], number) => `(?<r${number}>${source})`);
	const pattern = new RegExp(
		sources.join("|"),
		rules.some(([, { ignoreCase }]) => ignoreCase) ? "gim" : "gm",
	);
	patterns.set(rules, pattern);
	return pattern;
}
