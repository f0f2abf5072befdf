// Colours for code. This reads the highlighter's token tree and never uses its HTML.

import hljs from "highlight.js/lib/core";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import xml from "highlight.js/lib/languages/xml";
import { css } from "./css.ts";
import { python } from "./python.ts";

const LANGUAGES = { css, javascript, json, markdown, python, xml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const BY_ENDING: Record<string, keyof typeof LANGUAGES> = {
	html: "xml",
	htm: "xml",
	xml: "xml",
	svg: "xml",
	vue: "xml",
	css: "css",
	js: "javascript",
	mjs: "javascript",
	jsx: "javascript",
	ts: "javascript",
	tsx: "javascript",
	json: "json",
	md: "markdown",
	py: "python",
};

/** One of five colours for each of the highlighter's scopes. */
const COLOURS: Record<string, string> = {
	tag: "t",
	name: "t",
	"selector-tag": "t",
	"selector-class": "t",
	"selector-id": "t",
	section: "t",
	attr: "a",
	attribute: "a",
	property: "a",
	variable: "a",
	"title.function": "a",
	"title.class": "a",
	string: "s",
	regexp: "s",
	number: "s",
	symbol: "s",
	link: "s",
	keyword: "k",
	built_in: "k",
	literal: "k",
	meta: "k",
	comment: "c",
	quote: "c",
};

interface TreeNode {
	scope?: string;
	children: (TreeNode | string)[];
}

export interface Token {
	colour: string;
	text: string;
}

/** The text as lines of coloured tokens; null if the language is unknown. */
export function highlight(path: string, text: string): Token[][] | null {
	const language = BY_ENDING[path.split(".").at(-1)?.toLowerCase() ?? ""];
	if (!language) return null;
	const result = hljs.highlight(text, { language, ignoreIllegals: true });
	const root = (result._emitter as unknown as { root?: TreeNode }).root;
	if (!root) return null;
	const lines: Token[][] = [[]];
	collect(root, "", lines);
	return lines;
}

function collect(node: TreeNode, colour: string, lines: Token[][]): void {
	for (const child of node.children) {
		if (typeof child !== "string") {
			collect(child, COLOURS[child.scope ?? ""] ?? colour, lines);
			continue;
		}
		for (const [index, text] of child.split("\n").entries()) {
			if (index > 0) lines.push([]);
			if (text) lines.at(-1)?.push({ colour, text });
		}
	}
}
