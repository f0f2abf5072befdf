// The key that leads to a question from anywhere on the page.

import { type Question, questionKey, questionsOf } from "../../questions.ts";
import { type Context, openVariant, type Snapshot } from "../context.ts";

/** JupyterLab and the browsers leave it free, and it types nothing. */
export const ANSWER_KEY = "F8";

/** Leads to the first question, and from its card to the next. A run with no further question leaves the key to others. */
export function createAnswerKey(context: Context, frame: HTMLElement): (snapshot: Snapshot) => void {
	const { choices, signal } = context;
	let questions: readonly Question[] = [];

	function onKey(event: KeyboardEvent): void {
		const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
		if (event.key !== ANSWER_KEY || !plain || event.defaultPrevented) return;
		const card = frame.querySelector<HTMLElement>(".anb-card.ask:focus-within");
		const at = questions.findIndex((question) => questionKey(question) === card?.dataset.question);
		const next = questions[(at + 1) % questions.length];
		if (!next || next === questions[at] || !mayAnswer()) return;
		event.preventDefault();
		choices.question = questionKey(next);
		openVariant(context, next.variant);
	}

	function mayAnswer(): boolean {
		return !choices.replay && frame.checkVisibility();
	}

	window.addEventListener("keydown", onKey, { capture: true, signal });
	return ({ variants }) => {
		questions = questionsOf(variants);
	};
}
