// The head of a card that asks: the question, its place in the queue, and Edit.

import { h, icon, setText, withCode } from "../../dom.ts";
import { ANSWER_KEY } from "./approval-key.ts";

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
	const away = h("span", { class: "anb-reach" }, h("kbd", { class: "anb-kbd" }, ANSWER_KEY), " to answer");
	const acts = h("div", { class: "acts" }, away, queue, button);
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
		offer(answers: boolean, editable: boolean, editing: boolean) {
			away.hidden = !answers;
			button.hidden = !answers || !editable;
			pencil.toggleAttribute("hidden", editing);
			setText(label, editing ? "Done" : "Edit");
			setText(key, editing ? "Esc" : "E");
			button.setAttribute("aria-keyshortcuts", editing ? "Escape" : "e");
		},
	};
}
