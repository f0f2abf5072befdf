// The annotations of a replay: marks on the scrubber, cards at the current moment, and stops, where the replay waits
// until the reader has chosen an answer.

import { h, icon, moveFocus, setAttribute, setText, withCode } from "../../base/dom.ts";
import { plural } from "../../base/format.ts";
import { Markdown } from "../../base/markdown.ts";
import { load, store } from "../../base/storage.ts";
import type { Annotation } from "../../run/events.ts";
import type { Tape } from "../../run/tape.ts";
import type { Position, Replay } from "../choices.ts";
import type { Context } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";
import type { Player, Stops } from "./player.ts";

/** Maximum characters of a note for the screen reader. */
const LONGEST_SPOKEN = 400;
const CARDS = { class: "cards", tabindex: 0, role: "group", "aria-label": "Note", hidden: true };

/** The reader's answers, also in browsers that block storage. They are sent nowhere. */
const answers = new Map<string, string>();

/** All annotations at one moment. */
interface AnnotatedMoment extends Position {
	readonly annotations: readonly Annotation[];
}

interface Slider {
	readonly element: HTMLElement;
	focus(): void;
}

export class Annotations implements Stops {
	readonly element: HTMLElement;
	readonly #context: Context;
	readonly #player: Player;
	readonly #marks = h("div", { class: "marks", "aria-hidden": "true" });
	readonly #label = h("span", { class: "which" });
	readonly #back: HTMLElement;
	readonly #forward: HTMLElement;
	readonly #cards = h("div", CARDS);
	readonly #button = h("button", { class: "anb-btn primary sm" }, "Go on");
	#tape: Tape | null = null;
	#moments: readonly AnnotatedMoment[] = [];
	#shown: AnnotatedMoment | undefined;

	constructor(context: Context, player: Player, slider: Slider) {
		this.#context = context;
		this.#player = player;
		slider.element.prepend(this.#marks);
		this.#back = iconButton("left", "Previous note", () => this.#step(-1));
		this.#forward = iconButton("right", "Next note", () => this.#step(1));
		const header = h("header", null, this.#label, this.#back, this.#forward);
		this.element = h("section", { class: "anb-noted", "aria-label": "Notes" }, header, this.#cards);
		// The scrubber's shortcuts are disabled here: arrow keys scroll a long note.
		this.element.onkeydown = (event) => {
			event.stopPropagation();
			if (event.key === "Escape") slider.focus();
		};
		this.#button.onclick = () => {
			player.toggle();
			slider.focus();
		};
	}

	update(replay: Replay): void {
		const moments = this.#momentsOf(replay);
		const reached = moments.filter((moment) => comparePositions(moment, replay) <= 0);
		const current = reached.at(-1);
		const isHere = current !== undefined && comparePositions(current, replay) === 0;
		if (current !== this.#shown) {
			this.#shown = current;
			this.#drawCards();
			// Not while the slider is dragged past it.
			if (current && (isHere || replay.playing)) this.#context.announce(spoken(current));
		}
		this.element.hidden = moments.length === 0;
		const count = plural(moments.length, "note");
		setText(this.#label, current ? `Note ${reached.length} of ${moments.length}` : count);
		// Not `disabled`: a focused button would lose the focus.
		setAttribute(this.#back, "aria-disabled", this.#next(replay, -1) ? null : "true");
		setAttribute(this.#forward, "aria-disabled", this.#next(replay, 1) ? null : "true");
		const isAnswered = isHere && current.annotations.some(isQuestion) && !this.#isOpen(current);
		this.#button.hidden = !isAnswered || replay.playing || replay.count >= replay.tape.length;
	}

	between(replay: Replay, to: Position): Position | null {
		const stop = this.#momentsOf(replay).find(
			(moment) =>
				comparePositions(moment, replay) >= 0 && comparePositions(moment, to) <= 0 && this.#isOpen(moment),
		);
		return stop ? { count: stop.count, time: stop.time } : null;
	}

	insist(): void {
		this.#context.announce("Answer the question to go on.");
		moveFocus(this.#cards);
	}

	#momentsOf({ tape }: Replay): readonly AnnotatedMoment[] {
		if (this.#tape !== tape) {
			const { run, choices } = this.#context;
			this.#tape = tape;
			this.#moments = annotatedMoments(run.state?.meta.annotations ?? [], choices.variant, tape);
			this.#drawMarks();
		}
		return this.#moments;
	}

	#next(replay: Replay, by: 1 | -1): AnnotatedMoment | undefined {
		const isAhead = (moment: AnnotatedMoment): boolean => comparePositions(moment, replay) * by > 0;
		return by > 0 ? this.#moments.find(isAhead) : this.#moments.findLast(isAhead);
	}

	#step(by: 1 | -1): void {
		const { replay } = this.#context.choices;
		const next = replay && this.#next(replay, by);
		if (next) this.#player.goTo(next);
	}

	/** Whether a moment has a question without an answer. */
	#isOpen({ annotations }: AnnotatedMoment): boolean {
		return annotations.some((annotation) => isQuestion(annotation) && !this.#answerTo(annotation));
	}

	#answerTo(question: Annotation): string | undefined {
		const key = this.#keyOf(question);
		const answer = answers.get(key) ?? load("localStorage", key);
		return question.choices.find((choice) => choice === answer);
	}

	#keyOf({ variant, at, ask }: Annotation): string {
		const { key, digest } = this.#context.run;
		return `agent_nb.answer ${key} ${digest} ${variant} ${at} ${ask}`;
	}

	#give(question: Annotation, answer: string): void {
		const key = this.#keyOf(question);
		answers.set(key, answer);
		store("localStorage", key, answer);
		const verdict = createVerdict(question, answer);
		this.#context.announce(verdict.map(({ textContent }) => textContent).join(". "));
		this.#drawMarks();
		this.#drawCards();
		const { replay } = this.#context.choices;
		if (replay) this.update(replay);
		moveFocus(this.#button.hidden ? this.#cards : this.#button);
	}

	/** A mark for each moment; those that wait for an answer look different. */
	#drawMarks(): void {
		const seconds = this.#tape?.seconds || 1;
		const marks = this.#moments.map((moment) => {
			const mark = h("i", { class: this.#isOpen(moment) ? "note stop" : "note" });
			mark.style.setProperty("--at", String(moment.time / seconds));
			return mark;
		});
		this.#marks.replaceChildren(...marks);
	}

	#drawCards(): void {
		const annotations = this.#shown?.annotations ?? [];
		const cards = annotations.map((annotation) =>
			createCard(annotation, this.#answerTo(annotation), (answer) => this.#give(annotation, answer)),
		);
		this.#cards.hidden = cards.length === 0;
		this.#cards.replaceChildren(...cards, this.#button);
		this.#cards.scrollTop = 0;
	}
}

/** Older files have questions without choices, which are notes. */
function isQuestion({ choices }: Annotation): boolean {
	return choices.length > 0;
}

function spoken({ annotations }: AnnotatedMoment): string {
	const texts = annotations.flatMap(({ text, ask }) => [text && `Note: ${text}`, ask && `Question: ${ask}`]);
	return texts.filter(Boolean).join(" ").slice(0, LONGEST_SPOKEN);
}

/** One annotation: its text, and its question with the choices or with the reader's answer. */
function createCard(annotation: Annotation, chosen: string | undefined, give: (answer: string) => void) {
	const { text, ask, choices } = annotation;
	const body = h("div", { class: "anb-md", dir: "auto" });
	new Markdown(body).set(text, true);
	const question = h("p", { class: "question", dir: "auto" }, ...withCode(ask));
	const buttons = choices.map((choice) => {
		const label = h("span", null, ...withCode(choice));
		return h("button", { class: "anb-btn", dir: "auto", onclick: () => give(choice) }, label);
	});
	const group = h("div", { class: "choices", role: "group", "aria-label": ask }, ...buttons);
	const reply = chosen === undefined ? [group] : createVerdict(annotation, chosen);
	const parts = [...(text ? [body] : []), ...(ask ? [question] : []), ...(choices.length ? reply : [])];
	return h("div", { class: "note" }, ...parts);
}

/** The reader's answer, and whether it is the expected one, if any. */
function createVerdict({ answer }: Annotation, chosen: string): HTMLElement[] {
	const lines = [h("p", null, "You chose: ", h("bdi", null, ...withCode(chosen)))];
	if (answer === chosen) lines.push(h("p", { class: "right" }, icon("done"), "That is right."));
	else if (answer) {
		const expected = h("span", null, "The right answer is: ", h("bdi", null, ...withCode(answer)));
		lines.push(h("p", { class: "wrong" }, icon("error"), expected));
	}
	return lines;
}

function comparePositions(a: Position, b: Position): number {
	return a.count - b.count || a.time - b.time;
}

/** The annotated moments of one variant, in order. */
export function annotatedMoments(
	annotations: readonly Annotation[],
	variant: number,
	tape: Tape,
): AnnotatedMoment[] {
	const moments = new Map<string, AnnotatedMoment>();
	for (const annotation of annotations.filter((annotation) => annotation.variant === variant)) {
		const position = positionOf(tape, annotation.at);
		const key = `${position.count} ${position.time}`;
		const others = moments.get(key)?.annotations ?? [];
		moments.set(key, { ...position, annotations: [...others, annotation] });
	}
	return [...moments.values()].sort(comparePositions);
}

/** The position of an annotation; at the earliest the end of the first moment, where a replay starts. */
function positionOf(tape: Tape, at: Annotation["at"]): Position {
	const seconds = typeof at === "number" ? Math.min(at, tape.seconds) : null;
	const count = Math.max(tape.start, seconds === null ? countOf(tape, String(at)) : tape.countAt(seconds));
	return { count, time: Math.max(seconds ?? 0, tape.timeAt(count)) };
}

/** Number of events up to `turn 2`, `change 3` or `end`. Changes before the first turn are the run's input files. */
function countOf({ events, length }: Tape, at: string): number {
	const [kind, text] = at.split(" ");
	const number = Number(text);
	const start = events.findIndex(({ type }) => type === "turn_started");
	const changes = events.filter(({ type }, index) => type === "file_changed" && index > start);
	const turn = events.find((event) => event.type === "turn_started" && event.step === number);
	const event = kind === "turn" ? turn : changes[number - 1];
	return event ? events.indexOf(event) + 1 : length;
}
