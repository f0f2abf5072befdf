// Colours for code. The highlighter's own tree becomes elements: its HTML text is never used.

import hljs from "highlight.js/lib/core";
import css from "highlight.js/lib/languages/css";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import xml from "highlight.js/lib/languages/xml";
import { h } from "./dom.ts";

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

/** The five colours we have, by the highlighter's word. */
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

/** The text as coloured pieces; null when its language is not known here. */
export function highlight(path: string, text: string): Node[] | null {
	const language = BY_ENDING[path.split(".").at(-1)?.toLowerCase() ?? ""];
	if (!language) return null;
	const result = hljs.highlight(text, { language, ignoreIllegals: true });
	const root = (result._emitter as unknown as { root?: TreeNode }).root;
	return root ? root.children.map(toNode) : null;
}

function toNode(piece: TreeNode | string): Node {
	if (typeof piece === "string") return document.createTextNode(piece);
	const colour = COLOURS[piece.scope ?? ""];
	return h("span", colour ? { class: colour } : null, ...piece.children.map(toNode));
}
