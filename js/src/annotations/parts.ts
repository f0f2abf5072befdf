// The parts of the notes' view: marks on the slider, the line that counts the notes, and the cards.

import { h, setAttribute, setText } from "../dom.ts";
import type { Annotation } from "../events.ts";
import type { Replay } from "../ui.ts";
import type { Context } from "../view/context.ts";
import { iconButton } from "../view/shared/buttons.ts";
import { type Answers, answersOf } from "./answers.ts";
import { createCard } from "./card.ts";
import { comparePositions, type Place } from "./places.ts";

/** A mark for each place on the slider: stops that wait for an answer differ from notes. */
export function createMarks(track: HTMLElement) {
	const element = h("div", { class: "marks", "aria-hidden": "true" });
	track.prepend(element);
	let marked: readonly Place[] = [];
	let marks: HTMLElement[] = [];

	function draw({ isOpen }: Answers): void {
		for (const [index, mark] of marks.entries())
			mark.classList.toggle("stop", marked[index]?.annotations.some(isOpen) ?? false);
	}

	return {
		draw,
		update(places: readonly Place[], seconds: number, answers: Answers) {
			if (marked === places) return;
			marked = places;
			marks = places.map(() => h("i", { class: "note" }));
			for (const [index, mark] of marks.entries())
				mark.style.setProperty("--at", String((places[index]?.time ?? 0) / (seconds || 1)));
			element.replaceChildren(...marks);
			draw(answers);
		},
	};
}

/** The line above the cards: which note this is, the way to the others, and the button that saves the answers. */
export function createBar(context: Context, step: (by: 1 | -1) => void) {
	const { run } = context;
	const label = h("span", { class: "which" });
	const back = iconButton(context, "left", "Previous note", () => step(-1));
	const forward = iconButton(context, "right", "Next note", () => step(1));
	const save = h(
		"button",
		{
			class: "anb-btn sm",
			type: "button",
			title: "Save the questions and your answers to a file. They are sent to nobody.",
			onclick: () => run.state && answersOf(run).save(run.state.meta),
		},
		"Save my answers",
	);
	return {
		element: h("header", null, label, back, forward, h("span", { class: "sp" }), save),
		update(places: readonly Place[], replay: Replay) {
			const reached = places.filter((place) => comparePositions(place, replay) <= 0).length;
			setText(label, reached ? `Note ${reached} of ${places.length}` : counted(places.length));
			const [first, last] = [places[0], places.at(-1)];
			// Not `disabled`: a focused button would lose the focus.
			const isFirst = !first || comparePositions(first, replay) >= 0;
			const isLast = !last || comparePositions(last, replay) <= 0;
			setAttribute(back, "aria-disabled", isFirst ? "true" : null);
			setAttribute(forward, "aria-disabled", isLast ? "true" : null);
			const { of } = answersOf(run);
			save.hidden = !run.state?.meta.annotations.some((one) => one.ask && of(one));
		},
	};
}

function counted(places: number): string {
	return places === 1 ? "1 note" : `${places} notes`;
}

/** What stands at the moment, or stood at the last moment that had a note. */
export function createCards(
	{ run }: Context,
	give: (question: Annotation, answer: string) => void,
	proceed: () => void,
) {
	const element = h("div", {
		class: "cards",
		tabindex: 0,
		role: "group",
		"aria-label": "Note",
		hidden: true,
	});
	const goOn = h("button", { class: "anb-btn primary sm", type: "button", onclick: proceed }, "Go on");
	const next = h("div", { class: "next" }, goOn);
	let shown: Place | null = null;

	function draw(place: Place | null): void {
		shown = place;
		const answers = answersOf(run);
		const cards = (place?.annotations ?? []).map((annotation) =>
			createCard(annotation, answers, (answer) => give(annotation, answer)),
		);
		element.hidden = cards.length === 0;
		next.hidden = !place?.annotations.some(({ ask }) => ask) || place.annotations.some(answers.isOpen);
		element.replaceChildren(...cards, next);
		element.scrollTop = 0;
	}

	return {
		element,
		draw,
		/** The button stands only where the replay waits. */
		update({ tape, count, time, playing }: Replay) {
			const here = shown !== null && comparePositions(shown, { count, time }) === 0;
			goOn.hidden = playing || !here || count >= tape.length;
		},
		focus() {
			const target = next.hidden || goOn.hidden ? element : goOn;
			target.focus({ preventScroll: true });
		},
	};
}
