// The notes of a run in its replay: marks on the scrubber, the cards of the moment, and the stops, where the replay
// waits for the reader's answer.

import { h, listen } from "../dom.ts";
import type { Annotation } from "../events.ts";
import type { Position, Replay } from "../ui.ts";
import type { Context } from "../view/context.ts";
import type { Player, Stops } from "../view/replay/player.ts";
import { type Answers, answersOf } from "./answers.ts";
import { spokenVerdict } from "./card.ts";
import { createBar, createCards, createMarks } from "./parts.ts";
import { comparePositions, type Place, placesOf } from "./places.ts";

/** Characters of a note that are read out when the replay comes to it. */
const LONGEST_SPOKEN = 400;

export class Annotations implements Stops {
	readonly element: HTMLElement;
	readonly #context: Context;
	readonly #player: Player;
	readonly #track: HTMLElement;
	readonly #places: (replay: Replay) => readonly Place[];
	readonly #marks: ReturnType<typeof createMarks>;
	readonly #bar: ReturnType<typeof createBar>;
	readonly #cards: ReturnType<typeof createCards>;
	#shown: Place | null = null;
	#wasPlaying = false;
	/** Whether the replay was playing when it came to the place that is shown. */
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
		// The keys of the scrubber do not act here: arrow keys scroll a long note, and answers are typed.
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
		const isOnTheWay = (place: Place): boolean =>
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

	#show(place: Place | null, replay: Replay): void {
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
		const isAhead = (place: Place): boolean => comparePositions(place, replay) * by > 0;
		const next = by > 0 ? places.find(isAhead) : places.findLast(isAhead);
		if (next) this.#player.goTo(next);
	}

	/** Takes an answer. Without a further question here, and without a verdict to read, the replay goes on. */
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

/** The places of the shown variant, found once for each tape and each list of annotations. */
function createPlaces({ run, choices }: Context): (replay: Replay) => readonly Place[] {
	let known: { tape: unknown; annotations: unknown; places: readonly Place[] } | null = null;
	return ({ tape }) => {
		const annotations = run.state?.meta.annotations ?? [];
		if (known?.tape !== tape || known.annotations !== annotations)
			known = { tape, annotations, places: placesOf(annotations, choices.variant, tape) };
		return known.places;
	};
}

function spoken({ annotations }: Place): string {
	const texts = annotations.flatMap(({ text, ask }) => [text && `Note: ${text}`, ask && `Question: ${ask}`]);
	return texts.filter(Boolean).join(" ").slice(0, LONGEST_SPOKEN);
}
