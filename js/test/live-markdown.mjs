// Writes the HTML that the page makes of Markdown, for a test that compares it with the saved form.
// In: a list of texts. Out: the texts, which are those and the examples of CommonMark, and of each: its HTML by the
// specification (null for the given ones), and the HTML of the page for pieces of each size.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import spec from "commonmark-spec";
import * as esbuild from "esbuild";
import { Window } from "happy-dom";
import { LEAN } from "../bundling.mjs";

const SIZES = [Number.POSITIVE_INFINITY, 1, 7];

const { outputFiles } = await esbuild.build({
	entryPoints: [fileURLToPath(new URL("../src/base/markdown.ts", import.meta.url))],
	bundle: true,
	write: false,
	format: "esm",
	alias: LEAN,
});
const window = new Window();
Object.assign(globalThis, { document: window.document, Element: window.Element, Text: window.Text });
const { Markdown } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

function live(text, size) {
	const element = document.createElement("div");
	const markdown = new Markdown(element);
	for (let end = size; end < text.length; end += size) markdown.set(text.slice(0, end), false);
	markdown.set(text, true);
	return element.innerHTML;
}

const given = JSON.parse(readFileSync(0, "utf8")).map((markdown) => ({ markdown, html: null }));
const examples = spec.tests.map(({ markdown, html }) => ({
	markdown: markdown.replaceAll("→", "\t"),
	html: html.replaceAll("→", "\t"),
}));
// Relative addresses are blocked, so that a second form of each example shows how links are parsed.
const linked = examples
	.map(({ markdown }) => ({
		markdown: markdown.replace(/(?<![\w/])\/(?=u)/g, "https://a.example/"),
		html: null,
	}))
	.filter(({ markdown }, index) => markdown !== examples[index].markdown);
const all = [...given, ...examples, ...linked].map(({ markdown, html }) => ({
	markdown,
	html,
	live: SIZES.map((size) => live(markdown, size)),
}));
process.stdout.write(JSON.stringify(all));
