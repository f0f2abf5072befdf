// Python for the highlighter, by its structure. The library's own grammar lists every built-in function.

import type { HLJSApi, Language, Mode } from "highlight.js";

const KEYWORDS = {
	keyword:
		"and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
	literal: "None True False",
	built_in: "self cls",
};

export function python(hljs: HLJSApi): Language {
	const strings = [/"""/, /'''/, /"/, /'/].map(
		(quote, at): Mode => ({
			className: "string",
			begin: new RegExp(`(?:\\b[bfrtuBFRTU]{1,2})?${quote.source}`),
			end: at < 2 ? quote : new RegExp(`${quote.source}|$`),
			contains: [hljs.BACKSLASH_ESCAPE],
		}),
	);
	return {
		name: "Python",
		keywords: KEYWORDS,
		contains: [
			hljs.HASH_COMMENT_MODE,
			...strings,
			{ className: "number", begin: /\b(?:0[xob][\da-fA-F_]+|\d[\d_]*(?:\.[\d_]*)?(?:e[-+]?\d+)?j?)/ },
			{ className: "meta", begin: /^\s*@[\w.]+/ },
			{ begin: [/\bclass/, /\s+/, /\w+/], scope: { 1: "keyword", 3: "title.class" } },
			{ className: "title.function", begin: /\b[A-Za-z_]\w*(?=\()/, keywords: KEYWORDS },
		],
	};
}
