// One run on screen: builds the views once, then draws the newest state at most once per frame.

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

const TICK = 100;

/** Builds the interface of a run. It follows the run until `signal` is aborted. */
export function createApp(run: RunEntry, choices: Choices, signal: AbortSignal): HTMLElement {
	const alerts = h("span", { class: "anb-sr", role: "status", "aria-live": "assertive" });
	const frame = h("section", { class: "anb-frame" });
	const element = h("div", { class: "anb" }, frame, alerts);
	const draw = oncePerFrame(update, signal);
	const context: Context = { run, choices, signal, redraw: draw, announce: (text) => setText(alerts, text) };

	const header = createHeader(context);
	const timeline = createTimeline(context);
	const result = createResult(context);
	const footer = createFooter(context);
	const fold = createFoldLine(context);
	const body = h("div", { class: "anb-body" });
	const left = h(
		"section",
		{ class: "anb-left", "aria-label": "Transcript" },
		fold.element,
		timeline.element,
		createSplitter(context, body),
	);
	body.append(left, result.element);
	frame.append(header.element, body, footer.element, createGrip());
	rememberHeight(frame, signal);

	const clock = createClock();
	function moment(): Moment | null {
		const state = run.state;
		return state
			? {
					run: state,
					state: currentState(context),
					now: clock(currentState(context).at, currentState(context).busy),
				}
			: null;
	}

	let session = "";
	function update(): void {
		const now = moment();
		if (!now) return;
		if (session !== now.run.session) {
			session = now.run.session;
			Object.assign(choices, { file: null, version: null });
			choices.rows.clear();
			frame.setAttribute("aria-label", `agent run ${now.run.meta.name}`);
		}
		const solo = !now.state.busy && now.state.files.size === 0;
		const folded = !now.state.busy && !choices.unfolded && !solo;
		frame.classList.toggle("fit", solo);
		frame.classList.toggle("read-only", !now.run.owner);
		body.classList.toggle("solo", solo);
		body.classList.toggle("folded", folded);
		result.element.hidden = solo;
		timeline.update(now);
		result.update(now);
		header.update(now);
		footer.update(now);
		fold.update(now);
	}

	run.subscribe(draw, signal);
	const ticker = setInterval(() => {
		const now = moment();
		if (!now?.state.busy) return;
		header.update(now);
		timeline.tick(now);
	}, TICK);
	signal.addEventListener("abort", () => clearInterval(ticker), { once: true });
	update();
	return element;
}

/** The run's own clock, carried on between events by the page's. */
function createClock(): (at: number, busy: boolean) => number {
	let seen = -1;
	let since = 0;
	let shown = 0;
	return (at, busy) => {
		if (!busy) return at;
		if (at !== seen) {
			seen = at;
			since = performance.now();
		}
		const now = at + (performance.now() - since) / 1000;
		shown = now < shown - 1 ? now : Math.max(shown, now);
		return shown;
	};
}

/** In a narrow frame the transcript of a finished run is this line, until it is opened. */
function createFoldLine(context: Context) {
	const label = h("span");
	const facts = h("span");
	const element = h(
		"button",
		{ class: "anb-fold", type: "button" },
		icon("right", "chev"),
		label,
		h("span", { class: "sp" }),
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
		update({ state }: Moment) {
			const thought = state.rows.reduce(
				(sum, row) => (row.kind === "thinking" ? sum + ((row.to ?? row.from) - row.from) : sum),
				0,
			);
			const versions = [...state.files.values()].reduce((sum, file) => sum + file.versions.length, 0);
			element.setAttribute("aria-expanded", String(context.choices.unfolded));
			element.hidden = state.busy;
			setText(
				label,
				`${plural(state.step, "step")}${thought > 0 ? `, thought for ${seconds(thought)}` : ""}`,
			);
			setText(facts, `${plural(state.files.size, "file")}, ${plural(versions, "version")}`);
		},
	};
}

function createGrip(): SVGSVGElement {
	const grip = icon("right", "anb-grip");
	grip.setAttribute("viewBox", "0 0 10 10");
	grip.firstElementChild?.setAttribute("d", "M9 2 2 9M9 6 6 9");
	return grip;
}

/** The height the person drags the frame to holds for the next run, too. */
function rememberHeight(frame: HTMLElement, signal: AbortSignal): void {
	const { height } = loadLayout();
	if (height) frame.style.setProperty("--anb-height", `${height}px`);
	frame.addEventListener(
		"pointerup",
		() => {
			// The browser writes the dragged height into the style; nobody else does.
			const dragged = Number.parseInt(frame.style.height, 10);
			if (dragged) saveLayout({ height: dragged });
		},
		{ signal },
	);
}
