// Leads to a question whose card is not on screen: by the tab's title, and a notification where the user has already allowed
// them.

import { printable } from "../../printable.ts";
import { type Question, questionKey, questionsOf } from "../../questions.ts";
import type { Context, Snapshot } from "../context.ts";

const PREFIX = "Approval needed · ";
/** The frames whose question is not on screen. */
const away = new Set<HTMLElement>();

export function createReminder({ choices, signal }: Context, frame: HTMLElement) {
	const notified = new Set<string>();
	let open: readonly Question[] = [];
	let seen = false;
	let card: Element | null = null;
	const observer = new IntersectionObserver((entries) => {
		seen = entries.at(-1)?.isIntersecting ?? false;
		mark();
	});

	function mark(): void {
		if (open.length > 0 && (document.hidden || !seen)) away.add(frame);
		else away.delete(frame);
		setTitle();
		for (const question of document.hidden ? open : []) notify(question);
	}

	function notify(question: Question): void {
		const key = questionKey(question);
		if (notified.has(key) || globalThis.Notification?.permission !== "granted") return;
		notified.add(key);
		const body = printable(question.row.title);
		new Notification("Approval needed", { body, tag: key }).onclick = () => window.focus();
	}

	document.addEventListener("visibilitychange", mark, { signal });
	// JupyterLab sets the title too.
	const titles = new MutationObserver(setTitle);
	titles.observe(document.head, { subtree: true, childList: true, characterData: true });
	signal.addEventListener("abort", () => {
		observer.disconnect();
		titles.disconnect();
		open = [];
		mark();
	});

	return ({ variants }: Snapshot): void => {
		open = choices.replay ? [] : questionsOf(variants);
		const shown = open.length > 0 ? frame.querySelector(".anb-card.ask:not([hidden])") : null;
		if (shown !== card) {
			observer.disconnect();
			card = shown;
			seen = false;
			if (card) observer.observe(card);
		}
		mark();
	};
}

function setTitle(): void {
	const title = document.title.replaceAll(PREFIX, "");
	const wanted = away.size > 0 ? PREFIX + title : title;
	if (document.title !== wanted) document.title = wanted;
}
