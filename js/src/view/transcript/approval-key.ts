// The key that leads to a question from anywhere on the page.

import { type Question, questionKey, questionsOf } from "../../questions.ts";
import type { Context, Snapshot } from "../context.ts";
import { openVariant } from "../variants/variant-parts.ts";

/** JupyterLab and the browsers leave it free, and it types nothing. */
export const ANSWER_KEY = "F8";

/** Of several runs on the page that ask, the first takes the key, unless the focus is on its card already. */
export function createAnswerKey(context: Context, frame: HTMLElement): (snapshot: Snapshot) => void {
	const { choices, run, signal } = context;
	let first: Question | undefined;

	function onKey(event: KeyboardEvent): void {
		const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
		if (event.key !== ANSWER_KEY || !plain || event.defaultPrevented || !first) return;
		const here = frame.querySelector(".anb-card.ask:focus-within") !== null;
		if (here || choices.replay || run.state?.owner === false || !frame.checkVisibility()) return;
		event.preventDefault();
		choices.question = questionKey(first);
		openVariant(context, first.variant);
	}

	window.addEventListener("keydown", onKey, { capture: true, signal });
	return ({ variants }) => {
		first = questionsOf(variants)[0];
	};
}
