// The annotations of a replay: marks on the scrubber, cards at the current moment, and stops, where the replay waits for
// the reader's answer.

import { saveFile } from "../../clipboard.ts";
import { h, icon, listen, setAttribute, setText, withCode } from "../../dom.ts";
import type { Annotation, Meta } from "../../events.ts";
import { plural } from "../../format.ts";
import { Markdown } from "../../markdown.ts";
import type { RunEntry } from "../../runs.ts";
import { load, store } from "../../storage.ts";
import type { Tape } from "../../tape.ts";
import type { Position, Replay } from "../../ui.ts";
import type { Context } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";
import type { Player, Stops } from "./player.ts";

/** Maximum characters of a note for the screen reader. */
const LONGEST_SPOKEN = 400;

export class Annotations implements Stops {
	readonly element: HTMLElement;
	readonly #context: Context;
	readonly #player: Player;
	readonly #track: HTMLElement;
	readonly #places: (replay: Replay) => readonly AnnotatedMoment[];
	readonly #marks: ReturnType<typeof createMarks>;
	readonly #bar: ReturnType<typeof createBar>;
	readonly #cards: ReturnType<typeof createCards>;
	#shown: AnnotatedMoment | null = null;
	#wasPlaying = false;
	/** Whether the replay was playing when it reached the current annotations. */
	#cameByPlaying = false;

	constructor(context: Context, player: Player, track: HTMLElement) {
		this.#context = context;
		this.#player = player;
		this.#track = track;
		this.#places = createPlaces(context);
		this.#marks = createMarks(track);
		this.#bar = createBar(context, (by) => this.#step(by));
		this.#cards = createCards(
			context,
			(question, answer) => this.#give(question, answer),
			() => this.#goOn(),
		);
		const parts = [this.#bar.element, this.#cards.element];
		this.element = h("section", { class: "anb-noted", "aria-label": "Notes" }, ...parts);
		// The scrubber's shortcuts are disabled here: arrow keys scroll a long note, and answers are typed.
		listen(this.element, "keydown", context.signal, (event) => {
			event.stopPropagation();
			if (event.key === "Escape") this.#focusSlider();
		});
	}

	update(replay: Replay): void {
		const places = this.#places(replay);
		const here = places.findLast((place) => comparePositions(place, replay) <= 0) ?? null;
		this.element.hidden = places.length === 0;
		if (here !== this.#shown) this.#show(here, replay);
		this.#wasPlaying = replay.playing;
		this.#marks.update(places, replay.tape.seconds, this.#answers);
		this.#bar.update(places, replay);
		this.#cards.update(replay);
	}

	between(replay: Replay, to: Position): Position | null {
		const { isOpen } = this.#answers;
		const isOnTheWay = (place: AnnotatedMoment): boolean =>
			comparePositions(place, replay) >= 0 && comparePositions(place, to) <= 0;
		const places = this.#places(replay).filter(isOnTheWay);
		const stop = places.find(({ annotations }) => annotations.some(isOpen));
		return stop ? { count: stop.count, time: stop.time } : null;
	}

	insist(): void {
		this.#context.announce("Answer the question to go on.");
		this.#cards.focus();
	}

	get #answers(): Answers {
		return answersOf(this.#context.run);
	}

	#show(place: AnnotatedMoment | null, replay: Replay): void {
		this.#shown = place;
		this.#cameByPlaying = this.#wasPlaying;
		this.#cards.draw(place);
		// Not while the slider is dragged past it.
		const isHere = place && (this.#wasPlaying || comparePositions(place, replay) === 0);
		if (isHere) this.#context.announce(spoken(place));
	}

	/** Goes to the next note, or to the previous one. */
	#step(by: 1 | -1): void {
		const { replay } = this.#context.choices;
		if (!replay) return;
		const places = this.#places(replay);
		const isAhead = (place: AnnotatedMoment): boolean => comparePositions(place, replay) * by > 0;
		const next = by > 0 ? places.find(isAhead) : places.findLast(isAhead);
		if (next) this.#player.goTo(next);
	}

	/** Stores an answer. The replay continues unless there is another question or a verdict here. */
	#give(question: Annotation, answer: string): void {
		this.#answers.give(question, answer);
		this.#context.announce(spokenVerdict(question, answer));
		this.#marks.draw(this.#answers);
		this.#cards.draw(this.#shown);
		const waits = question.answer !== "" || this.#shown?.annotations.some(this.#answers.isOpen);
		if (waits) {
			const { replay } = this.#context.choices;
			if (replay) this.#cards.update(replay);
			this.#cards.focus();
			this.#context.redraw();
		} else this.#goOn(this.#cameByPlaying);
	}

	#goOn(playing = true): void {
		if (playing) this.#player.toggle();
		else this.#context.redraw();
		this.#focusSlider();
	}

	#focusSlider(): void {
		this.#track.querySelector<HTMLElement>("input")?.focus({ preventScroll: true });
	}
}

/** The annotated moments of the visible variant, cached per tape and list of annotations. */
function createPlaces({ run, choices }: Context): (replay: Replay) => readonly AnnotatedMoment[] {
	let cached: { tape: unknown; annotations: unknown; places: readonly AnnotatedMoment[] } | null = null;
	return ({ tape }) => {
		const annotations = run.state?.meta.annotations ?? [];
		if (cached?.tape !== tape || cached.annotations !== annotations)
			cached = { tape, annotations, places: placesOf(annotations, choices.variant, tape) };
		return cached.places;
	};
}

function spoken({ annotations }: AnnotatedMoment): string {
	const texts = annotations.flatMap(({ text, ask }) => [text && `Note: ${text}`, ask && `Question: ${ask}`]);
	return texts.filter(Boolean).join(" ").slice(0, LONGEST_SPOKEN);
}

/** A mark on the slider for each annotated moment; stops that wait for an answer look different. */
function createMarks(track: HTMLElement) {
	const element = h("div", { class: "marks", "aria-hidden": "true" });
	track.prepend(element);
	let marked: readonly AnnotatedMoment[] = [];
	let marks: HTMLElement[] = [];

	function draw({ isOpen }: Answers): void {
		for (const [index, mark] of marks.entries())
			mark.classList.toggle("stop", marked[index]?.annotations.some(isOpen) ?? false);
	}

	return {
		draw,
		update(places: readonly AnnotatedMoment[], seconds: number, answers: Answers) {
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

/** The line above the cards: the number of the note, navigation, and a button that saves the answers. */
function createBar(context: Context, step: (by: 1 | -1) => void) {
	const { run } = context;
	const label = h("span", { class: "which" });
	const back = iconButton(context, "left", "Previous note", () => step(-1));
	const forward = iconButton(context, "right", "Next note", () => step(1));
	const title = "Save the questions and your answers to a file. They are not sent anywhere.";
	const onclick = () => run.state && answersOf(run).save(run.state.meta);
	const save = h("button", { class: "anb-btn sm", title, onclick }, "Save my answers");
	return {
		element: h("header", null, label, back, forward, h("span", { class: "sp" }), save),
		update(places: readonly AnnotatedMoment[], replay: Replay) {
			const reached = places.filter((place) => comparePositions(place, replay) <= 0).length;
			setText(label, reached ? `Note ${reached} of ${places.length}` : plural(places.length, "note"));
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

/** The cards of the current moment, or of the last one that had annotations. */
function createCards(
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
	const goOn = h("button", { class: "anb-btn primary sm", onclick: proceed }, "Go on");
	const next = h("div", { class: "next" }, goOn);
	let current: AnnotatedMoment | null = null;

	function draw(place: AnnotatedMoment | null): void {
		current = place;
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
		/** The button is visible only where the replay waits. */
		update({ tape, count, time, playing }: Replay) {
			const here = current !== null && comparePositions(current, { count, time }) === 0;
			goOn.hidden = playing || !here || count >= tape.length;
		},
		focus() {
			const target = next.hidden || goOn.hidden ? element : goOn;
			target.focus({ preventScroll: true });
		},
	};
}

const LONGEST_ANSWER = 2000;

/** One annotation: its text, and its question with the controls to answer it, or with the answer. */
function createCard(annotation: Annotation, answers: Answers, give: (answer: string) => void) {
	const { text, ask } = annotation;
	const stored = answers.of(annotation);
	const element = h("div", { class: "note" });
	if (text) element.append(createText(text));
	if (ask) element.append(h("p", { class: "question", dir: "auto" }, ...withCode(ask)));
	if (stored) element.append(...createVerdict(annotation, stored));
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
	const buttons = choices.map((choice) => {
		const label = h("span", null, ...withCode(choice));
		return h("button", { class: "anb-btn", dir: "auto", onclick: () => give(choice) }, label);
	});
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
	const button = h("button", { class: "anb-btn primary", onclick: send }, "Answer");
	return h("div", { class: "own" }, field, button);
}

/** The reader's answer, and whether it matches the expected one, if any. */
function createVerdict({ choices, answer }: Annotation, stored: ReaderAnswer): HTMLElement[] {
	const lead = choices.length ? "You chose: " : "You wrote: ";
	const answerLine = h("p", null, lead, h("bdi", null, ...withCode(stored.answer)));
	if (!answer) return [answerLine];
	const expected = h("bdi", null, ...withCode(answer));
	if (choices.length === 0) return [answerLine, h("p", null, "Expected: ", expected)];
	if (stored.answer === answer)
		return [answerLine, h("p", { class: "right" }, icon("done"), "That is right.")];
	return [
		answerLine,
		h("p", { class: "wrong" }, icon("error"), h("span", null, "The right answer is: ", expected)),
	];
}

/** The verdict for a screen reader. */
function spokenVerdict({ choices, answer }: Annotation, choice: string): string {
	if (!answer) return "Answered";
	if (choices.length === 0) return `Expected: ${answer}`;
	return choice === answer ? "That is right." : `The right answer is: ${answer}`;
}

/** All annotations at one moment. */
interface AnnotatedMoment extends Position {
	readonly annotations: readonly Annotation[];
}

function comparePositions(a: Position, b: Position): number {
	return a.count - b.count || a.time - b.time;
}

/** The annotated moments of one variant, in order. */
export function placesOf(annotations: readonly Annotation[], variant: number, tape: Tape): AnnotatedMoment[] {
	const places = new Map<string, AnnotatedMoment>();
	for (const annotation of annotations) {
		if (annotation.variant !== variant) continue;
		const position = positionOf(tape, annotation.at);
		const key = `${position.count} ${position.time}`;
		const others = places.get(key)?.annotations ?? [];
		places.set(key, { ...position, annotations: [...others, annotation] });
	}
	return [...places.values()].sort(comparePositions);
}

/** The position of an annotation; at the earliest the end of the first moment, where a replay starts. */
function positionOf(tape: Tape, at: Annotation["at"]): Position {
	const seconds = typeof at === "number" ? Math.min(at, tape.seconds) : null;
	const count = Math.max(tape.start, seconds === null ? countOf(tape, String(at)) : tape.countAt(seconds));
	return { count, time: Math.max(seconds ?? 0, tape.timeAt(count)) };
}

/** Number of events up to `turn 2`, `change 3` or `end`. */
function countOf(tape: Tape, at: string): number {
	const [kind, number] = at.split(" ");
	let begun = false;
	let changes = 0;
	const index = tape.events.findIndex((event) => {
		if (event.type === "turn_started") {
			begun = true;
			return kind === "turn" && event.step === Number(number);
		}
		// Changes before the first turn are the run's input files.
		if (event.type !== "file_changed" || !begun) return false;
		changes++;
		return kind === "change" && changes === Number(number);
	});
	return index < 0 ? tape.length : index + 1;
}

interface ReaderAnswer {
	readonly answer: string;
	/** The time of the answer, in ISO format. */
	readonly time: string;
}

/** The reader's answers. They stay in this browser, unless the reader saves them to a file. */
class Answers {
	/** Unsent answers, by question. */
	readonly drafts = new Map<string, string>();
	readonly #key: string;
	readonly #given: Map<string, ReaderAnswer>;

	constructor(key: string) {
		this.#key = key;
		this.#given = storedAnswers(key);
	}

	readonly of = (question: Annotation): ReaderAnswer | null => this.#given.get(idOf(question)) ?? null;

	give(question: Annotation, answer: string): void {
		this.#given.set(idOf(question), { answer, time: new Date().toISOString() });
		store("localStorage", this.#key, Object.fromEntries(this.#given));
	}

	/** Whether it has an unanswered question. */
	readonly isOpen = (annotation: Annotation): boolean => annotation.ask !== "" && !this.of(annotation);

	save({ name, annotations }: Meta): void {
		const questions = annotations.filter(({ ask }) => ask);
		const record = {
			run: name,
			questions: questions.map((question) => ({
				at: question.at,
				variant: question.variant + 1,
				question: question.ask,
				choices: question.choices,
				expected: question.answer || null,
				answer: this.of(question)?.answer ?? null,
				time: this.of(question)?.time ?? null,
			})),
		};
		saveFile(`${name}-answers.json`, JSON.stringify(record, null, 2));
	}
}

const opened = new Map<string, Answers>();

/** The answers for a run, shared by all its views. */
function answersOf({ key, digest }: Pick<RunEntry, "key" | "digest">): Answers {
	const place = `agent_nb.answers ${key} ${digest}`;
	const answers = opened.get(place) ?? new Answers(place);
	opened.set(place, answers);
	return answers;
}

function idOf({ variant, at, ask }: Annotation): string {
	return `${variant} ${at} ${ask}`;
}

function storedAnswers(key: string): Map<string, ReaderAnswer> {
	const stored = Object.entries((load("localStorage", key) ?? {}) as Record<string, ReaderAnswer | null>);
	const isValid = ([, entry]: (typeof stored)[number]): boolean =>
		typeof entry?.answer === "string" && typeof entry.time === "string";
	return new Map(stored.filter(isValid) as [string, ReaderAnswer][]);
}
