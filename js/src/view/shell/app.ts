// One run on screen: builds the views once per execution, then draws the newest state at most once per frame.

import { h, oncePerFrame } from "../../dom.ts";
import type { RunEntry } from "../../runs.ts";
import type { Choices } from "../../ui.ts";
import type { BodyView, Context } from "../context.ts";
import { createAnnouncer, createToast } from "../shared/announce.ts";
import { createFrame } from "./run-frame.ts";
import { createSnapshots } from "./snapshot.ts";

const TICK = 100;

/** Builds the interface of a run. It follows the run until `signal` is aborted. */
export function createApp(run: RunEntry, choices: Choices, signal: AbortSignal): HTMLElement {
	const alerts = h("span", { class: "anb-sr", "aria-live": "assertive" });
	const element = h("div", { class: "anb" });
	const redraw = oncePerFrame(update, signal);
	const announce = createAnnouncer(alerts);
	const toast = createToast(signal);
	const takeSnapshot = createSnapshots(run, choices);
	const frameOf = createFrames({ run, choices, redraw, announce, notify }, signal, (built) => {
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
	signal.addEventListener("abort", stopTicking);
	update();
	return element;
}

/** The frame of a run. A run with another id gets new views, so that nothing of the previous one remains. */
function createFrames(
	context: Omit<Context, "signal">,
	signal: AbortSignal,
	place: (element: HTMLElement) => void,
): (id: string) => BodyView {
	let shown = "";
	let frame: BodyView | null = null;
	let life = new AbortController();
	signal.addEventListener("abort", () => life.abort());

	return (id) => {
		if (frame && shown === id) return frame;
		shown = id;
		life.abort();
		life = new AbortController();
		frame = createFrame({ ...context, signal: life.signal });
		place(frame.element);
		return frame;
	};
}
