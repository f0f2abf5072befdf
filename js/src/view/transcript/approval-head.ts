// The head of a card that asks: the question, its place in the queue, and Edit.

import { h, icon, setText, withCode } from "../../dom.ts";

export function createCardHead(edit: () => void, next: () => void) {
	const heading = h("h4");
	const sub = h("p", { class: "sub" });
	const count = h("span", { class: "num" });
	const queue = h(
		"span",
		{ class: "anb-queue", hidden: true },
		count,
		h(
			"button",
			{ class: "anb-btn sm", type: "button", "aria-label": "Next question", onclick: next },
			"Next",
		),
	);
	const label = h("span");
	const key = h("span", { class: "anb-kbd", "aria-hidden": "true" });
	const pencil = icon("edit");
	const button = h("button", { class: "anb-btn sm", type: "button", onclick: edit }, pencil, label, key);
	const acts = h("div", { class: "acts" }, queue, button);
	return {
		element: h("header", null, h("div", null, heading, sub), acts),
		ask(title: string, description: readonly Node[]) {
			heading.replaceChildren(...withCode(`Allow “${title}”?`));
			sub.replaceChildren(...description);
		},
		/** The position counts from 0. */
		setQueue(position: number, total: number) {
			queue.hidden = total < 2 || position < 0;
			setText(count, `${position + 1} of ${total}`);
		},
		offer(editable: boolean, editing: boolean) {
			button.hidden = !editable;
			pencil.toggleAttribute("hidden", editing);
			setText(label, editing ? "Done" : "Edit");
			setText(key, editing ? "Esc" : "E");
			button.setAttribute("aria-keyshortcuts", editing ? "Escape" : "e");
		},
	};
}
