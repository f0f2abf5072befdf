// Leads to a question while the page is hidden, by a notification where the user has already allowed them.

import { printable } from "../../printable.ts";
import { type Question, questionKey, questionsOf } from "../../questions.ts";
import type { Context, Snapshot } from "../context.ts";

export function createReminder({ choices, signal }: Context) {
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

	document.addEventListener("visibilitychange", notify, { signal });

	return ({ variants }: Snapshot): void => {
		open = choices.replay ? [] : questionsOf(variants);
		notify();
	};
}
