// One run on screen: builds the views once per session, then draws the newest state at most once per frame.

import { currentState } from "../actions.ts";
import { h, icon, oncePerFrame, setText } from "../dom.ts";
import { plural, seconds } from "../format.ts";
import type { RunEntry } from "../store.ts";
import { type Choices, loadLayout, saveLayout } from "../ui.ts";
import type { Context, Moment } from "./context.ts";
import { createFooter } from "./footer.ts";
import { createHeader } from "./header.ts";
import { createResult } from "./result.ts";
import { createSplitter } from "./splitter.ts";
import { createTimeline } from "./timeline.ts";
import { createVariants } from "./variants.ts";

const TICK = 100;

interface FrameView {
	readonly element: HTMLElement;
	update(moment: Moment): void;
	tick(moment: Moment): void;
}

/** Builds the interface of a run. It follows the run until `signal` is aborted. */
export function createApp(run: RunEntry, choices: Choices, signal: AbortSignal): HTMLElement {
	const alerts = h("span", { class: "anb-sr", role: "status", "aria-live": "assertive" });
	const element = h("div", { class: "anb" });
	const redraw = oncePerFrame(update, signal);
	const clock = createClock();
	let shown = "";
	let frame: FrameView | null = null;
	let life = new AbortController();

	function moment(context: Pick<Context, "run" | "choices">): Moment | null {
		const state = currentState(context);
		return run.state && { run: run.state, state, now: clock(state.at, state.busy) };
	}

	/** Another session or variant gets fresh views: nothing of the one before can linger in them. */
	function rebuild(key: string): FrameView {
		if (shown && !shown.startsWith(`${run.state?.session} `))
			Object.assign(choices, { variant: 0, unfolded: false });
		if (shown) Object.assign(choices, { file: null, version: null, rows: new Map(), note: "" });
		life.abort();
		life = new AbortController();
		const announce = (text: string): void => setText(alerts, text);
		const built = createFrame({ run, choices, signal: life.signal, redraw, announce });
		element.replaceChildren(built.element, alerts);
		shown = key;
		return built;
	}

	function update(): void {
		if (!run.state) return;
		const key = `${run.state.session} ${choices.variant}`;
		if (!frame || shown !== key) frame = rebuild(key);
		const now = moment({ run, choices });
		if (now) frame.update(now);
	}

	run.subscribe(redraw, signal);
	const ticker = setInterval(() => {
		const now = moment({ run, choices });
		if (now?.state.busy) frame?.tick(now);
	}, TICK);
	signal.addEventListener("abort", () => {
		clearInterval(ticker);
		life.abort();
	});
	update();
	return element;
}

function createFrame(context: Context): FrameView {
	const header = createHeader(context);
	const variants = createVariants(context);
	const timeline = createTimeline(context);
	const result = createResult(context);
	const footer = createFooter(context);
	const fold = createFoldLine(context);
	const body = h("div", { class: "anb-body" });
	const split = createSplitter(context, body);
	body.append(
		h("section", { class: "anb-left", "aria-label": "Transcript" }, fold.element, timeline.element, split),
		result.element,
	);
	const grip = createGrip();
	const element = h(
		"section",
		{ class: "anb-frame" },
		header.element,
		variants.element,
		body,
		footer.element,
		grip,
	);
	rememberHeight(element, context.signal);

	return {
		element,
		update(moment) {
			const { state, run } = moment;
			const solo = !state.busy && state.files.size === 0;
			element.setAttribute("aria-label", `agent run ${run.meta.name}`);
			element.classList.toggle("fit", solo);
			body.classList.toggle("solo", solo);
			body.hidden = solo && state.rows.length === 0 && !state.error;
			body.classList.toggle("folded", !state.busy && !context.choices.unfolded && !solo);
			result.element.hidden = solo;
			timeline.update(moment);
			if (!solo) result.update(moment);
			header.update(moment);
			variants.update(moment);
			footer.update(moment);
			fold.update(moment, solo);
		},
		tick(moment) {
			header.update(moment);
			timeline.tick(moment);
		},
	};
}

/** The run's own clock, carried on between events by the page's. */
function createClock(): (at: number, busy: boolean) => number {
	let seen = -1;
	let since = 0;
	return (at, busy) => {
		if (!busy) return at;
		if (at !== seen) {
			seen = at;
			since = performance.now();
		}
		return at + (performance.now() - since) / 1000;
	};
}

/** In a narrow frame the transcript of a finished run is this line, until it is opened. */
function createFoldLine(context: Context) {
	const label = h("span");
	const facts = h("span");
	const gap = h("span", { class: "sp" });
	const element = h(
		"button",
		{ class: "anb-fold", type: "button" },
		icon("right", "chev"),
		label,
		gap,
		facts,
	);
	element.addEventListener(
		"click",
		() => {
			context.choices.unfolded = !context.choices.unfolded;
			context.redraw();
		},
		{ signal: context.signal },
	);
	return {
		element,
		update({ state }: Moment, solo: boolean) {
			element.hidden = state.busy || solo;
			if (element.hidden) return;
			const spans = state.rows.map((row) => (row.kind === "thinking" ? (row.to ?? row.from) - row.from : 0));
			const thought = spans.reduce((sum, span) => sum + span, 0);
			const versions = [...state.files.values()].reduce((sum, file) => sum + file.versions.length, 0);
			element.setAttribute("aria-expanded", String(context.choices.unfolded));
			setText(
				label,
				`${plural(state.step, "step")}${thought > 0 ? `, thought for ${seconds(thought)}` : ""}`,
			);
			setText(facts, `${plural(state.files.size, "file")}, ${plural(versions, "version")}`);
		},
	};
}

function createGrip(): SVGSVGElement {
	const grip = icon("grip", "anb-grip");
	grip.setAttribute("viewBox", "0 0 10 10");
	return grip;
}

/** The height the person drags the frame to holds for the next run, too. */
function rememberHeight(frame: HTMLElement, signal: AbortSignal): void {
	const { height } = loadLayout();
	if (height) frame.style.setProperty("--anb-height", `${height}px`);
	const observer = new ResizeObserver(() => {
		// The browser writes the dragged height into the style; nobody else does.
		const dragged = Number.parseInt(frame.style.height, 10);
		if (dragged) saveLayout({ height: dragged });
	});
	observer.observe(frame);
	signal.addEventListener("abort", () => observer.disconnect());
}
