// The interface of one run: builds the views once per execution, then draws the newest state at most once per frame.

import { h, oncePerFrame, setText } from "../../base/dom.ts";
import type { RunEntry } from "../../run/runs.ts";
import type { VariantState } from "../../run/state.ts";
import { askingTitle, toVariants, type Variant } from "../../run/variants.ts";
import { currentState } from "../actions.ts";
import { type Choices, choicesFor } from "../choices.ts";
import type { BodyView, Context, Snapshot } from "../context.ts";
import { createFrame } from "./run-frame.ts";

const TICK = 100;

/** Builds the interface of a run. It follows the run until `signal` is aborted. */
export function createApp(shown: Pick<Context, "run" | "features" | "choices" | "signal">): HTMLElement {
	const { run, choices, signal } = shown;
	const alerts = h("span", { class: "anb-sr", "aria-live": "assertive" });
	const element = h("div", { class: "anb" });
	const redraw = oncePerFrame(update, signal);
	const announce = createAnnouncer(alerts, choices);
	const toast = createToast(signal);
	const takeSnapshot = createSnapshots(run, choices);
	const frameOf = createFrames({ ...shown, redraw, draw: update, announce, notify }, (built) => {
		built.append(toast.element);
		element.replaceChildren(built, alerts);
	});
	let frame: BodyView | null = null;
	let ticker: ReturnType<typeof setInterval> | undefined;

	function notify(text: string): void {
		announce(text);
		toast.show(text);
	}

	function update(): void {
		if (!run.state) return;
		frame = frameOf(run.state.id);
		const snapshot = takeSnapshot();
		if (snapshot) frame.update(snapshot);
		run.onDraw(
			run.state,
			choices.ask.notes.flatMap((note) => note.elements),
		);
		if (!run.busy) stopTicking();
		else ticker ??= setInterval(tick, TICK);
	}

	function tick(): void {
		const snapshot = takeSnapshot();
		if (snapshot?.variants.some(({ state }) => state.busy)) frame?.tick(snapshot);
	}

	function stopTicking(): void {
		clearInterval(ticker);
		ticker = undefined;
	}

	run.subscribe(redraw, signal);
	addEventListener("beforeprint", update, { signal });
	signal.addEventListener("abort", stopTicking);
	update();
	return element;
}

/** The frame of a run. A run with a new id gets new views, so that nothing of the previous one remains. */
function createFrames(context: Context, place: (element: HTMLElement) => void): (id: string) => BodyView {
	let drawnId = "";
	let frame: BodyView | null = null;
	let life = new AbortController();
	context.signal.addEventListener("abort", () => life.abort());

	return (id) => {
		if (frame && drawnId === id) return frame;
		drawnId = id;
		life.abort();
		life = new AbortController();
		frame = createFrame({ ...context, signal: life.signal });
		place(frame.element);
		return frame;
	};
}

/** Milliseconds that a toast or an announcement stays, plus some per character. */
const STAYS = 1000;
const READING = 50;

/**
 * Clears the region first: a screen reader announces only changes, and a text may be repeated. Clears it afterwards, too:
 * what was announced is soon no longer so. While the stage shows the run, only the view on the stage announces texts.
 */
function createAnnouncer(region: HTMLElement, choices: Choices): (text: string) => void {
	let frame = 0;
	let timer: ReturnType<typeof setTimeout> | undefined;
	return (text) => {
		if (choices.stage === "shown") return;
		cancelAnimationFrame(frame);
		clearTimeout(timer);
		setText(region, "");
		frame = requestAnimationFrame(() => setText(region, text));
		timer = setTimeout(() => setText(region, ""), STAYS + READING * text.length);
	};
}

/** A short text over the frame that disappears by itself. */
function createToast(signal: AbortSignal) {
	const element = h("span", { class: "anb-toast", "aria-hidden": "true", hidden: true });
	let timer: ReturnType<typeof setTimeout> | undefined;
	signal.addEventListener("abort", () => clearTimeout(timer));
	return {
		element,
		show(text: string) {
			setText(element, text);
			element.hidden = false;
			clearTimeout(timer);
			timer = setTimeout(() => element.toggleAttribute("hidden", true), STAYS + READING * text.length);
		},
	};
}

/** The current state and clock of every variant, live or at its replay's position. */
function createSnapshots(run: RunEntry, choices: Choices): () => Snapshot | null {
	const clock = createClock();

	function timeOf(variant: number, state: VariantState): number {
		const { replay } = choices;
		return replay && replay.tape === run.tape(variant) ? replay.time : clock(variant, state);
	}

	function variants(): Variant[] {
		const count = 1 + Math.max(0, ...(run.state?.variants.keys() ?? []));
		return toVariants(
			Array.from({ length: count }, (_, number) => {
				const state = currentState({ run, choices: choicesFor(choices, number) });
				return { number, state, now: timeOf(number, state) };
			}),
		);
	}

	return () => {
		if (!run.state) return null;
		const state = currentState({ run, choices });
		return { run: run.state, state, now: timeOf(choices.variant, state), variants: variants() };
	};
}

/** Each variant's clock, which continues between events and stops while a question is open. */
export function createClock(): (variant: number, state: VariantState) => number {
	const marks = new Map<number, { at: number; since: number }>();
	return (variant, state) => {
		const { at, busy } = state;
		if (!busy) return at;
		const previous = marks.get(variant);
		const runs = previous?.at === at && askingTitle(state) === null;
		const mark = runs ? previous : { at, since: performance.now() };
		if (!runs) marks.set(variant, mark);
		return at + (performance.now() - mark.since) / 1000;
	};
}
