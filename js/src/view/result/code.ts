// The file as text with line numbers: plain while it is being written, coloured once it is complete.

import { h, moveFocus } from "../../dom.ts";
import { highlight } from "../../highlight.ts";
import { type ShownFile, shownFile } from "../../shown.ts";
import type { Context, Snapshot } from "../context.ts";
import { Lines } from "../shared/numbered-lines.ts";
import { createTree } from "./file-tree.ts";

/** Characters to colour at most: it happens in one go, and the browser would hang on more. */
const MOST_COLOURED = 100_000;

export function createCode(context: Context) {
	const source = createSource();
	const tree = createTree(context);
	const ide = h("div", { class: "anb-ide" }, tree.element, source.element);
	const empty = h("div", { class: "anb-empty" }, h("span", null, "Nothing has been written yet."));
	const element = h("div", { class: "anb-stage plain" }, ide, empty);

	return {
		element,
		update({ state }: Snapshot) {
			const shown = shownFile(state, context.choices);
			ide.classList.toggle("many", tree.update(state, shown?.file.path ?? ""));
			ide.hidden = !shown;
			empty.hidden = shown !== null;
			if (shown) source.update(shown);
			const { line } = context.choices;
			if (shown && line !== null) source.goTo(line);
			context.choices.line = null;
		},
	};
}

function createSource() {
	const lines = new Lines(
		h("div", { class: "anb-lines", tabindex: 0, role: "region", "aria-label": "Code" }),
	);
	let drawn = { path: "", text: "", epoch: -1, coloured: false };

	function draw(path: string, text: string, epoch: number): void {
		// Going back in a replay leaves less of the same stream.
		const more = epoch === drawn.epoch && text.length >= drawn.text.length;
		const grows = path === drawn.path && more && !drawn.coloured;
		if (!grows) lines.clear();
		lines.append(grows ? text.slice(drawn.text.length) : text);
		drawn = { path, text, epoch, coloured: false };
	}

	function colour(): void {
		drawn.coloured = true;
		const coloured = drawn.text.length > MOST_COLOURED ? null : highlight(drawn.path, drawn.text);
		if (coloured) lines.colour(coloured);
	}

	return {
		element: lines.element,
		goTo(line: number) {
			lines.goTo(line);
			moveFocus(lines.element);
		},
		update(shown: ShownFile) {
			const { path } = shown.file;
			const text = shown.text ?? "(a binary file: see Preview or Files)";
			if (drawn.path !== path) lines.element.scrollTop = 0;
			if (drawn.path !== path || drawn.text !== text) draw(path, text, shown.epoch ?? -1);
			if (!shown.live && !drawn.coloured) colour();
		},
	};
}
