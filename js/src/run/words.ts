// Readable names of elements, and of what a prompt refers to.

/** Readable names of tags. */
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

/** `{{hero.element("main > section:nth-of-type(2)")}}` */
const ELEMENT =
	/\{\{[^{}"]*\.element\("(?:[^"]* )?([a-z][a-z0-9-]*)(?::nth-of-type\((\d+)\))?"[^{}]*\)\}\}/gu;

/** A readable name of an element: `the heading`, `paragraph 2 of 3`; without its position, `paragraph`. */
export function wordsFor(tag: string, place = ""): string {
	const word = WORDS[tag] ?? (/^h[2-6]$/.test(tag) ? `${tag} heading` : tag);
	return place === "1 of 1" ? `the ${word}` : `${word} ${place}`.trim();
}

/** A prompt whose references are words: `section 2: larger`. */
export function promptInWords(prompt: string): string {
	return prompt
		.replace(ELEMENT, (_, tag: string, number = "1 of 1") => wordsFor(tag, number))
		.replace(/\{\{[^{}]*\.console\[(\d+)\]\}\}/g, "error $1")
		.replace(/\{\{cell:[^{}]*\}\}/g, "a cell")
		.replace(/\{\{([^{}]*)\}\}/g, "$1");
}
