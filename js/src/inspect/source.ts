// Finds an element of the live page in the source that the page was written from.

import type { Step } from "./given.ts";

/** The steps that lead to the same place in the source; scripts may have made or moved the rest. */
export function stepsInSource(source: string, steps: readonly Step[]): readonly Step[] {
	let at: Element = new DOMParser().parseFromString(source, "text/html").documentElement;
	for (const [index, [tag, number, count]] of steps.entries()) {
		const same = [...at.children].filter((child) => child.localName === tag);
		const next = same[number - 1];
		if (!next || same.length !== count) return steps.slice(0, index);
		at = next;
	}
	return steps;
}

/** Tags that are not words. */
const WORDS: Readonly<Record<string, string>> = {
	a: "link",
	h1: "heading",
	img: "image",
	li: "list item",
	nav: "navigation",
	ol: "numbered list",
	p: "paragraph",
	svg: "drawing",
	td: "table cell",
	tr: "table row",
	ul: "list",
};

/** What a user calls an element: `the heading`, `paragraph 2 of 3`; without its place, `paragraph`. */
export function wordsFor(tag: string, place = ""): string {
	const word = WORDS[tag] ?? (/^h[2-6]$/.test(tag) ? `${tag} heading` : tag);
	return place === "1 of 1" ? `the ${word}` : `${word} ${place}`.trim();
}

export function pathOf(steps: readonly Step[]): string {
	const names = steps.map(([tag, number, count]) => (count > 1 ? `${tag}:nth-of-type(${number})` : tag));
	return names.join(" > ") || "html";
}
