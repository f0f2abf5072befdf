// One annotation: its text, and its question with the ways to answer it, or with what was answered.

import { h, icon, withCode } from "../dom.ts";
import type { Annotation } from "../events.ts";
import { Markdown } from "../markdown.ts";
import { type Answers, type Given, idOf } from "./answers.ts";

const LONGEST_ANSWER = 2000;

export function createCard(annotation: Annotation, answers: Answers, give: (answer: string) => void) {
	const { text, ask } = annotation;
	const given = answers.of(annotation);
	const element = h("div", { class: "note" });
	if (text) element.append(createText(text));
	if (ask) element.append(h("p", { class: "question", dir: "auto" }, ...withCode(ask)));
	if (given) element.append(...createVerdict(annotation, given));
	else if (annotation.choices.length) element.append(createChoices(annotation, give));
	else if (ask) element.append(createOwnWords(annotation, answers, give));
	return element;
}

function createText(text: string): HTMLElement {
	const element = h("div", { class: "anb-md", dir: "auto" });
	new Markdown(element).set(text, true);
	return element;
}

function createChoices({ ask, choices }: Annotation, give: (answer: string) => void): HTMLElement {
	const buttons = choices.map((choice) =>
		h(
			"button",
			{ class: "anb-btn", type: "button", dir: "auto", onclick: () => give(choice) },
			h("span", null, ...withCode(choice)),
		),
	);
	return h("div", { class: "choices", role: "group", "aria-label": ask }, ...buttons);
}

function createOwnWords(question: Annotation, answers: Answers, give: (answer: string) => void): HTMLElement {
	const id = idOf(question);
	const field = h("textarea", {
		class: "anb-field",
		rows: 2,
		dir: "auto",
		maxlength: LONGEST_ANSWER,
		"aria-label": question.ask,
		placeholder: "Your answer",
		oninput: () => answers.drafts.set(id, field.value),
		onkeydown: (event: KeyboardEvent) => {
			if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
		},
	});
	field.value = answers.drafts.get(id) ?? "";
	function send(): void {
		if (field.value.trim()) give(field.value.trim());
		else field.focus();
	}
	const button = h("button", { class: "anb-btn primary", type: "button", onclick: send }, "Answer");
	return h("div", { class: "own" }, field, button);
}

/** What was answered, and with an expected answer whether they are the same. */
function createVerdict({ choices, answer }: Annotation, given: Given): HTMLElement[] {
	const own = h(
		"p",
		null,
		choices.length ? "You chose: " : "You wrote: ",
		h("bdi", null, ...withCode(given.answer)),
	);
	if (!answer) return [own];
	const expected = h("bdi", null, ...withCode(answer));
	if (choices.length === 0) return [own, h("p", null, "Expected: ", expected)];
	if (given.answer === answer) return [own, h("p", { class: "right" }, icon("done"), "That is right.")];
	return [own, h("p", { class: "wrong" }, icon("error"), h("span", null, "The right answer is: ", expected))];
}

/** The verdict for a screen reader. */
export function spokenVerdict({ choices, answer }: Annotation, given: string): string {
	if (!answer) return "Answered";
	if (choices.length === 0) return `Expected: ${answer}`;
	return given === answer ? "That is right." : `The right answer is: ${answer}`;
}
