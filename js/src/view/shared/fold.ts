// A row that opens and closes automatically until the user toggles it. An empty one is a plain line.

import { h, hasFocus } from "../../base/dom.ts";
import type { Context } from "../context.ts";

export function createFold(context: Context, summary: HTMLElement, detail: HTMLElement) {
	const details = h("details", null, summary, detail);
	summary.onclick = () => context.choices.rows.set(key, !details.open);
	const line = h("div", { class: "anb-row still" });
	let element: HTMLElement = details;
	let key = "";

	function swap(next: HTMLElement): void {
		const [from, to] = next === line ? [summary, line] : [line, summary];
		next.hidden = element.hidden;
		to.append(...from.childNodes);
		element.replaceWith(next);
		element = next;
	}

	return {
		get element() {
			return element;
		},
		/** `ended` means that the content is final. */
		set(rowKey: string, open: boolean, ended = false) {
			key = rowKey;
			const isOpen = context.choices.rows.get(key) ?? open;
			if (details.open !== isOpen) details.open = isOpen;
			const next = ended && !detail.hasChildNodes() && !hasFocus(summary) ? line : details;
			if (next !== element) swap(next);
		},
	};
}
