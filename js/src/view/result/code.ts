// The file as text with line numbers: plain while it is being written, highlighted once it is complete.

import { h, moveFocus } from "../../base/dom.ts";
import { highlight, type Token } from "../../base/highlight.ts";
import type { Context, Snapshot } from "../context.ts";
import { type ShownFile, shownFile } from "../shown.ts";
import { createBesideTree } from "./file-tree.ts";

/** Maximum characters to highlight: highlighting blocks the page. */
const MOST_COLOURED = 100_000;

export function createCode(context: Context) {
	const source = createSource();
	const tree = createBesideTree(context, source.element);
	const empty = h("div", { class: "anb-empty" }, h("span", null, "Nothing has been written yet."));
	const element = h("div", { class: "anb-stage plain" }, tree.element, empty);

	return {
		element,
		update({ state }: Snapshot) {
			const shown = shownFile(state, context.choices);
			tree.update(state, shown?.file.path);
			tree.element.hidden = !shown;
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
		// Going back in a replay shortens the text of the same stream.
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

const BLOCK = 80;

/**
 * Text with line numbers, in blocks of lines. The browser lays out only the visible blocks, so the cost does not grow
 * with the length of the file.
 */
export class Lines {
	#block: HTMLElement | null = null;
	#line: HTMLElement | null = null;
	#count = 0;

	constructor(readonly element: HTMLElement) {}

	clear(): void {
		this.element.replaceChildren();
		this.#block = this.#line = null;
		this.#count = 0;
	}

	/** Appends text; its first line continues the current last line. */
	append(text: string): void {
		const [first = "", ...rest] = text.split("\n");
		if (this.#count === 0) this.#begin();
		this.#line?.append(first);
		for (const line of rest) {
			this.#begin();
			this.#line?.append(line);
		}
	}

	/** Replaces the text with highlighted lines. */
	colour(lines: readonly (readonly Token[])[]): void {
		this.clear();
		for (const line of lines) {
			this.#begin();
			for (const { colour, text } of line)
				this.#line?.append(colour ? h("span", { class: colour }, text) : text);
		}
	}

	/** Scrolls to a line and marks it. */
	goTo(number: number): void {
		const block = this.element.children[Math.floor((number - 1) / BLOCK)];
		const line = block?.children[(number - 1) % BLOCK];
		this.element.querySelector(".anb-at")?.classList.remove("anb-at");
		if (!line) return;
		line.classList.add("anb-at");
		const above = line.getBoundingClientRect().top - this.element.getBoundingClientRect().top;
		this.element.scrollTop += above - this.element.clientHeight / 3;
	}

	/** Starts a line. The style sheet numbers the lines from the block's first number: blocks have separate counters. */
	#begin(): void {
		this.#line?.append("\n");
		this.#line = h("span");
		if (this.#count++ % BLOCK === 0) {
			this.#line.style.counterSet = `line ${this.#count}`;
			this.#block = h("pre", { class: "anb-block" });
			this.element.append(this.#block);
		}
		this.#block?.append(this.#line);
	}
}
