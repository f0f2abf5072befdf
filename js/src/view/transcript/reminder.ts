// Brings the user to a question: by a key from anywhere on the page, and by a notification while the page is hidden, if
// the user has already allowed them.

import { ANSWER_KEY } from "../../base/keys.ts";
import { printable } from "../../base/printable.ts";
import { labExtension } from "../../run/cells.ts";
import { type Question, questionKey, questionsOf } from "../../run/questions.ts";
import { type Context, openVariant, type Snapshot } from "../context.ts";

/**
 * The key moves the focus to the first question, or from a question's card to the next one. After the last question, other
 * runs handle the key: with JupyterLab's extension, those of all notebooks in turn.
 */
export function createReminder(context: Context, frame: HTMLElement): (snapshot: Snapshot) => void {
	const { choices, signal } = context;
	const notified = new Set<string>();
	let open: readonly Question[] = [];

	function notify(): void {
		if (!document.hidden || globalThis.Notification?.permission !== "granted") return;
		for (const question of open) {
			const key = questionKey(question);
			if (notified.has(key)) continue;
			notified.add(key);
			const body = printable(question.row.title);
			new Notification("Approval needed", { body, tag: key }).onclick = () => window.focus();
		}
	}

	function onKey(event: KeyboardEvent): void {
		const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
		if (event.key !== ANSWER_KEY || !plain || event.defaultPrevented) return;
		const card = frame.querySelector<HTMLElement>(".anb-card.ask:focus-within");
		const at = open.findIndex((question) => questionKey(question) === card?.dataset.question);
		const next = labExtension() ? at >= 0 && open[at + 1] : open[(at + 1) % open.length];
		if (!next || next === open[at] || !frame.checkVisibility()) return;
		event.preventDefault();
		choices.question = questionKey(next);
		openVariant(context, next.variant);
	}

	document.addEventListener("visibilitychange", notify, { signal });
	window.addEventListener("keydown", onKey, { capture: true, signal });
	return ({ variants }) => {
		open = choices.replay ? [] : questionsOf(variants);
		notify();
	};
}
