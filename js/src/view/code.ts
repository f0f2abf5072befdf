// The file as text, with line numbers; coloured once it is complete, plain while it is being written.

import { h, setText } from "../dom.ts";
import { highlight } from "../highlight.ts";
import { presentFiles, shownFile } from "../shown.ts";
import type { Context, Moment } from "./context.ts";
import { createTree } from "./tree.ts";

const MOST_COLOURED = 300_000;

export function createCode(context: Context) {
	const numbers = h("pre", { class: "ln", "aria-hidden": "true" });
	const code = h("pre", { class: "src" });
	const lines = h(
		"div",
		{ class: "anb-lines", tabindex: 0, role: "region", "aria-label": "Code" },
		numbers,
		code,
	);
	const tree = createTree(context);
	const ide = h("div", { class: "anb-ide" }, tree.element, lines);
	const empty = h("div", { class: "anb-empty" }, h("span", null, "Nothing has been written yet."));
	const element = h("div", { class: "anb-stage plain" }, ide, empty);
	let drawn = { path: "", text: "", coloured: false };
	let lineCount = 0;

	function draw(path: string, text: string, live: boolean): void {
		const grows = live && path === drawn.path && !drawn.coloured && text.startsWith(drawn.text);
		if (grows) code.append(text.slice(drawn.text.length));
		else code.replaceChildren(text);
		drawn = { path, text, coloured: false };
		const wanted = text.split("\n").length;
		if (!grows || wanted < lineCount) lineCount = 0;
		const more = Array.from({ length: wanted - lineCount }, (_, index) => `${lineCount + index + 1}\n`).join(
			"",
		);
		if (lineCount === 0) setText(numbers, more);
		else numbers.append(more);
		lineCount = wanted;
	}

	function colour(path: string, text: string): void {
		drawn.coloured = true;
		const nodes = text.length > MOST_COLOURED ? null : highlight(path, text);
		if (nodes) code.replaceChildren(...nodes);
	}

	return {
		element,
		update({ state }: Moment) {
			const shown = shownFile(state, context.choices);
			const many = presentFiles(state).length > 1;
			tree.element.hidden = !many;
			ide.classList.toggle("many", many);
			if (many) tree.update(state, shown?.file.path ?? "");
			ide.hidden = !shown;
			empty.hidden = shown !== null;
			if (!shown) return;
			const path = shown.file.path;
			const text = shown.text ?? "(a binary file: see Preview or Files)";
			if (drawn.path !== path || drawn.text !== text) {
				if (drawn.path !== path) lines.scrollTop = 0;
				draw(path, text, shown.live);
			}
			if (!shown.live && !drawn.coloured) colour(path, text);
		},
	};
}
