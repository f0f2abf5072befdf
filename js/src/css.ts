// CSS for the highlighter, by its structure. The library's own grammar lists every property and tag, which is 5 KB
// of the bundle, and leaves new ones without colour.

import type { HLJSApi, Language, Mode } from "highlight.js";

/** A name and what follows up to the end of the declaration; `a:hover {` is none. */
const DECLARATION = /[-\w]+(?=\s*:[^{};]*(?:[;}]|$))/;

export function css(hljs: HLJSApi): Language {
	const comment = hljs.C_BLOCK_COMMENT_MODE;
	const strings = [hljs.APOS_STRING_MODE, hljs.QUOTE_STRING_MODE];
	const number: Mode = {
		className: "number",
		begin: /[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:%|[a-z]+)?|#[\da-f]{3,8}\b/,
	};
	const address: Mode = {
		begin: /url\(/,
		end: /\)/,
		keywords: { built_in: "url" },
		contains: [...strings, { className: "string", begin: /[^)]/, endsWithParent: true, excludeEnd: true }],
	};
	const value: Mode = {
		end: /[;}]/,
		contains: [
			comment,
			...strings,
			address,
			number,
			{ className: "meta", begin: /!important/ },
			{ className: "variable", begin: /--[-\w]+/ },
			{ className: "built_in", begin: /[-\w]+(?=\()/ },
		],
	};
	const rule: Mode = {
		begin: /(?=@)/,
		end: /[{;]/,
		contains: [
			{ className: "keyword", begin: /@[-\w]+/ },
			{ className: "attribute", begin: /[-a-z]+(?=\s*:)/ },
			...strings,
			address,
			number,
		],
		keywords: { $pattern: /[a-z]+/, keyword: "and or not only" },
	};
	return {
		name: "CSS",
		case_insensitive: true,
		contains: [
			comment,
			rule,
			{ className: "attribute", begin: DECLARATION, starts: value },
			{ begin: /\[/, end: /\]/, contains: strings },
			{ className: "selector-id", begin: /#[-\w]+/ },
			{ className: "selector-class", begin: /\.[a-z_-][-\w]*/ },
			{ begin: /::?[-\w]+/ },
			{ className: "number", begin: /\b\d+(?:\.\d+)?%/ },
			{ className: "selector-tag", begin: /[a-z][-\w]*/ },
		],
	};
}
