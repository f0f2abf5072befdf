// The languages for syntax highlighting, as lists of rules: the first match at a position wins.
// Colours: t tags and headings, a names, s values, k keywords, c comments.
//
// The patterns run on whatever a model writes, so none may take more than linear time: alternatives of a loop begin
// with different characters, a loop that can fail is bounded, and a word is only tried from its start.

/** A colour, the pattern it applies to, and the rules for nested parts, if any. */
export type Rule = readonly [colour: string, pattern: RegExp, inside?: readonly Rule[]];

const DOUBLE: Rule = ["s", /"(?:\\.|[^"\\\n])*"?/];
const SINGLE: Rule = ["s", /'(?:\\.|[^'\\\n])*'?/];
const NUMBER: Rule = ["s", /(?<![\w$])\d[\w.]*/];
const BLOCK_COMMENT: Rule = ["c", /\/\*[\s\S]*?(?:\*\/|(?![\s\S]))/];
const ADDRESS: Rule = ["s", /(?<=\burl\()[^)"']*/];

function words(list: string): RegExp {
	return new RegExp(`(?<![\\w$.])(?:${list.trim().split(/\s+/).join("|")})(?![\\w$])`);
}

const VALUE: readonly Rule[] = [
	BLOCK_COMMENT,
	DOUBLE,
	SINGLE,
	ADDRESS,
	["a", /--[-\w]+/],
	["k", /!important|(?<![-\w])[-a-z]+(?=\()/i],
	["s", /#[\da-f]{3,8}\b|(?<![-\w])[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:%|[a-z]+)?/i],
];

export const CSS: readonly Rule[] = [
	BLOCK_COMMENT,
	["", /@[-\w]+[^{;]*/, [["k", /^@[-\w]+|\b(?:and|or|not|only)\b/], ["a", /[-a-z]+(?=\s*:)/], ...VALUE]],
	[
		"",
		/(?<![-\w.#:])[-\w]+\s*:(?:url\([^)]{0,4000}\)|u(?!rl\()|"[^"\n]*"|'[^'\n]*'|[^{};"'u]){0,500}(?=[;}]|(?![\s\S]))/,
		[["a", /^[-\w]+/], ...VALUE],
	],
	["", /\[[^\]{}]*\]/, [DOUBLE, SINGLE]],
	["", /::?[-\w]+/],
	["s", /\b\d+(?:\.\d+)?%/],
	["t", /[#.]?[a-z_-][-\w]*/i],
];

export const JAVASCRIPT: readonly Rule[] = [
	BLOCK_COMMENT,
	["c", /\/\/.*/],
	DOUBLE,
	SINGLE,
	["s", /`(?:\\[\s\S]|[^`\\])*`?/],
	["s", /(?<=[=(,:;!&|?{}[]\s{0,9})\/(?![/*\s])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[]){1,500}\/[a-z]*/],
	["a", /(?<![\w$])[A-Za-z_$][\w$]*(?=:)/],
	[
		"k",
		words(`as async await break case catch class const continue debugger default delete do else enum export extends
			false finally for from function get if implements import in instanceof interface let new null of private
			protected public readonly return set static super switch this throw true try type typeof undefined var void
			while with yield`),
	],
	["a", /(?<![\w$])[A-Za-z_$][\w$]*(?=\()/],
	NUMBER,
];

export const JSON_RULES: readonly Rule[] = [
	["a", /"(?:\\.|[^"\\\n])*"(?=\s*:)/],
	DOUBLE,
	["k", words("true false null")],
	NUMBER,
];

export const PYTHON: readonly Rule[] = [
	["c", /#.*/],
	["s", /(?:\b[a-zA-Z]{1,2})?(?:"""[\s\S]*?(?:"""|(?![\s\S]))|'''[\s\S]*?(?:'''|(?![\s\S])))/],
	["s", /(?:\b[a-zA-Z]{1,2})?(?:"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/],
	["k", /^[ \t]*@[\w.]+/],
	["a", /(?<=\b(?:def|class)\s)\w+/],
	[
		"k",
		words(`and as assert async await break case class continue def del elif else except False finally for from global
			if import in is lambda match None nonlocal not or pass raise return self True try while with yield`),
	],
	["a", /(?<!\w)[A-Za-z_]\w*(?=\()/],
	NUMBER,
];

export const MARKDOWN: readonly Rule[] = [
	["", /^```[\s\S]*?(?:^```|(?![\s\S]))|^~~~[\s\S]*?(?:^~~~|(?![\s\S]))/],
	["t", /^#{1,6} .*/],
	["c", /^> .*/],
	["s", /(?<=\]\()[^)\s]{1,300}(?=\))/],
];

/** A tag; its quoted attributes may contain `>`. */
const TAG: Rule = [
	"",
	/<\/?[a-z](?:"[^"]*"?|'[^']*'?|[^"'>])*>?/i,
	[
		["s", /(?<==\s{0,9})(?:"[^"]*"?|'[^']*'?|[^\s"'>]+)/],
		["t", /^<\/?[^\s>]*|\/?>$/],
		["a", /[^\s=>"'/]+/],
	],
];

export const MARKUP: readonly Rule[] = [
	["c", /<!--[\s\S]*?(?:-->|(?![\s\S]))/],
	["k", /<[!?][^>]*>?/],
	TAG,
	["s", /&(?:#x?[\da-f]+|[a-z]+\d*);/i],
];
