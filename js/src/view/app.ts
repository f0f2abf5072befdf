// One run on screen: builds the views once per session, then draws the newest state at most once per frame.

import { h, oncePerFrame } from "../dom.ts";
import type { RunEntry } from "../store.ts";
import { type Choices, startOver } from "../ui.ts";
import { createAnnouncer, createToast } from "./announce.ts";
import type { BodyView, Context } from "./context.ts";
import { createFrame } from "./frame.ts";
import { createMoments } from "./moments.ts";

const TICK = 100;

/** Builds the interface of a run. It follows the run until `signal` is aborted. */
export function createApp(run: RunEntry, choices: Choices, signal: AbortSignal): HTMLElement {
	const alerts = h("span", { class: "anb-sr", "aria-live": "assertive" });
	const element = h("div", { class: "anb" });
	const redraw = oncePerFrame(update, signal);
	const announce = createAnnouncer(alerts);
	const toast = createToast(signal);
	const currentMoment = createMoments(run, choices);
	const frameOf = createFrames({ run, choices, redraw, announce, tell }, signal, (built) => {
		built.append(toast.element);
		element.replaceChildren(built, alerts);
	});
	let frame: BodyView | null = null;

	function tell(text: string): void {
		announce(text);
		toast.show(text);
	}

	function update(): void {
		if (!run.state) return;
		frame = frameOf(run.state.session);
		const moment = currentMoment();
		if (moment) frame.update(moment);
	}

	run.subscribe(redraw, signal);
	const ticker = setInterval(() => {
		const moment = currentMoment();
		if (moment?.options.some(({ state }) => state.busy)) frame?.tick(moment);
	}, TICK);
	signal.addEventListener("abort", () => clearInterval(ticker));
	update();
	return element;
}

/** The frame of a session. Another session gets fresh views and choices: nothing of the one before lingers. */
function createFrames(
	context: Omit<Context, "signal">,
	signal: AbortSignal,
	place: (element: HTMLElement) => void,
): (session: string) => BodyView {
	let shown = "";
	let frame: BodyView | null = null;
	let life = new AbortController();
	signal.addEventListener("abort", () => life.abort());

	return (session) => {
		if (frame && shown === session) return frame;
		if (shown) startOver(context.choices);
		shown = session;
		life.abort();
		life = new AbortController();
		frame = createFrame({ ...context, signal: life.signal });
		place(frame.element);
		return frame;
	};
}
