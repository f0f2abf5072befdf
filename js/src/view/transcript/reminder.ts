// Leads to a question whose card is not on screen: by the tab's title, the cell's prompt, and a notification where the
// user has already allowed them.

import { printable } from "../../printable.ts";
import { type Question, questionKey, questionsOf } from "../../questions.ts";
import type { Context, Snapshot } from "../context.ts";

const PREFIX = "Approval needed · ";
const [WAITS, ASKS] = ["[*]:", "[?]:"];
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
		const isAway = open.length > 0 && (document.hidden || !seen);
		if (isAway) away.add(frame);
		else away.delete(frame);
		setTitle();
		setPrompt(frame, isAway);
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

/** The prompt of the cell whose output has this frame, while the cell runs. */
function setPrompt(frame: HTMLElement, asks: boolean): void {
	const { host } = frame.getRootNode() as ShadowRoot;
	const prompt = host?.closest(".jp-Cell")?.querySelector(".jp-InputPrompt");
	const [from, to] = asks ? [WAITS, ASKS] : [ASKS, WAITS];
	if (prompt?.textContent === from) prompt.textContent = to;
}
