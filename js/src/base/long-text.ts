// Long texts: the beginning is drawn at once, the rest as plain text when its fold is opened.

import { h, icon, setText } from "./dom.ts";
import { bytes, plural } from "./format.ts";

/** Maximum characters to draw at once. */
const FIRST = 20_000;
/** Lines that are drawn at once of a text with more than `MOST_LINES`. */
const FIRST_LINES = 30;
const MOST_LINES = 40;
/** Characters per element of the rest. The browser lays out only the visible ones. */
const PIECE = 20_000;
/** Extra characters that a piece may have to end with a line. */
const SLACK = 2_000;

/** The end of the part of a text that is drawn at once. It does not change as the text grows. */
export function endOfFirst(text: string): number {
	return endOfPiece(text, 0, FIRST);
}

/** The end of a piece of about `size` characters. */
function endOfPiece(text: string, start: number, size: number): number {
	const line = text.slice(start + size, start + size + SLACK).indexOf("\n") + 1;
	return Math.min(text.length, start + size + (line || SLACK));
}

/** The elements of a text from a tool. */
export function createLongText(text: string): HTMLElement[] {
	const lines = text.trimEnd().split("\n");
	const head = lines.length > MOST_LINES ? lines.slice(0, FIRST_LINES).join("\n").length + 1 : FIRST;
	const end = Math.min(head, endOfFirst(text));
	const rest = createRest();
	rest.set(text, end, lines.length - text.slice(0, end).trimEnd().split("\n").length);
	return [h("div", { class: "anb-code" }, h("pre", null, text.slice(0, end))), rest.element];
}

/** A fold with the text from `start` on; hidden if there is none. */
export function createRest() {
	const label = h("span");
	const pieces = h("div", { class: "anb-code" });
	const summary = h("summary", null, icon("right", "chev"), label);
	const element = h("details", { class: "anb-args anb-rest", hidden: true, ontoggle: draw }, summary, pieces);
	let text = "";
	let next = 0;
	let last = h("pre");

	/** Continues the last piece, then begins others. */
	function draw(): void {
		if (!element.open) return;
		for (let end = 0; end < text.length; next = end) {
			end = endOfPiece(text, next, PIECE);
			setText(last, text.slice(next, end));
			if (last.parentElement !== pieces) pieces.append(last);
			if (end === text.length) return;
			last = h("pre");
		}
	}

	return {
		element,
		/** `lines` is the number of lines, if known. */
		set(newText: string, start: number, lines = 0): void {
			element.hidden = start >= newText.length;
			setText(label, lines > 1 ? plural(lines, "more line") : `${bytes(newText.length - start)} more`);
			// Before it is opened there is nothing to compare, and comparing takes linear time.
			if (!element.open || !newText.startsWith(text)) {
				pieces.replaceChildren();
				last = h("pre");
				next = start;
			}
			text = newText;
			draw();
		},
	};
}
