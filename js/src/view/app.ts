// One run on screen: builds the views once per session, then draws the newest state at most once per frame.

import { choicesFor, currentState } from "../actions.ts";
import { h, hasFocus, icon, moveFocus, oncePerFrame, setText } from "../dom.ts";
import { type Option, toOptions } from "../options.ts";
import type { VariantState } from "../state.ts";
import type { RunEntry } from "../store.ts";
import { type Arrangement, type Choices, loadLayout, saveLayout } from "../ui.ts";
import type { BodyView, Context, Moment } from "./context.ts";
import { createFooter } from "./footer.ts";
import { createGrid } from "./grid.ts";
import { createHeader } from "./header.ts";
import { createRequest } from "./request.ts";
import { createScrubber } from "./scrubber.ts";
import { createSide } from "./side.ts";
import { createSingle, isSolo } from "./single.ts";
import { createVariants } from "./variants.ts";

const TICK = 100;
const WORD_STAYS = 1600;
const BODIES: Record<Arrangement, (context: Context) => BodyView> = {
	one: createSingle,
	grid: createGrid,
	side: createSide,
};

/** Builds the interface of a run. It follows the run until `signal` is aborted. */
export function createApp(run: RunEntry, choices: Choices, signal: AbortSignal): HTMLElement {
	const alerts = h("span", { class: "anb-sr", "aria-live": "assertive" });
	const element = h("div", { class: "anb" });
	const redraw = oncePerFrame(update, signal);
	const announce = createAnnouncer(alerts);
	const word = createWord(signal);
	const clock = createClock();
	let session = "";
	let frame: BodyView | null = null;
	let life = new AbortController();

	function moment(): Moment | null {
		if (!run.state) return null;
		const state = currentState({ run, choices });
		return { run: run.state, state, now: clockOf(choices.variant, state), options: options() };
	}

	function clockOf(variant: number, state: VariantState): number {
		const { replay } = choices;
		return replay && replay.tape === run.tape(variant) ? replay.time : clock(variant, state);
	}

	function options(): Option[] {
		const count = 1 + Math.max(0, ...(run.state?.variants.keys() ?? []));
		return toOptions(
			Array.from({ length: count }, (_, number) => {
				const state = currentState({ run, choices: choicesFor(choices, number) });
				return { number, state, now: clockOf(number, state) };
			}),
		);
	}

	/** Another session gets fresh views: nothing of the one before can linger in them. */
	function rebuild(next: string): BodyView {
		if (session) {
			const { arrangement } = loadLayout();
			Object.assign(choices, { variant: 0, arrangement, unfolded: false, note: "", ...untouched() });
			Object.assign(choices, { replay: null, request: null });
		}
		session = next;
		life.abort();
		life = new AbortController();
		const built = createFrame({ run, choices, signal: life.signal, redraw, announce, tell });
		built.element.append(word.element);
		element.replaceChildren(built.element, alerts);
		return built;
	}

	function tell(text: string): void {
		announce(text);
		word.show(text);
	}

	function update(): void {
		if (!run.state) return;
		if (!frame || session !== run.state.session) frame = rebuild(run.state.session);
		const now = moment();
		if (now) frame.update(now);
	}

	run.subscribe(redraw, signal);
	const ticker = setInterval(() => {
		const now = moment();
		if (now?.options.some(({ state }) => state.busy)) frame?.tick(now);
	}, TICK);
	signal.addEventListener("abort", () => {
		clearInterval(ticker);
		life.abort();
	});
	update();
	return element;
}

/** Says a thing again, too: a reader hears a region only when it changes. */
function createAnnouncer(region: HTMLElement): (text: string) => void {
	let frame = 0;
	return (text) => {
		cancelAnimationFrame(frame);
		setText(region, "");
		frame = requestAnimationFrame(() => setText(region, text));
	};
}

/** A word over the frame that goes by itself. */
function createWord(signal: AbortSignal) {
	const element = h("span", { class: "anb-toast", "aria-hidden": "true", hidden: true });
	let timer: ReturnType<typeof setTimeout> | undefined;
	signal.addEventListener("abort", () => clearTimeout(timer));
	return {
		element,
		show(text: string) {
			setText(element, text);
			element.hidden = false;
			clearTimeout(timer);
			timer = setTimeout(() => {
				element.hidden = true;
			}, WORD_STAYS);
		},
	};
}

/** Choices that are about one variant's rows and files. */
function untouched(): Partial<Choices> {
	return { file: null, version: null, rows: new Map() };
}

function createFrame(context: Context): BodyView {
	const header = createHeader(context);
	const variants = createVariants(context);
	const footer = createFooter(context);
	const place = createPlace(context);
	const scrubber = createScrubber(context);
	const request = createRequest(context);
	const grip = createGrip();
	const element = h(
		"section",
		{ class: "anb-frame" },
		header.element,
		variants.element,
		place.element,
		request.element,
		scrubber.element,
		footer.element,
		grip,
	);
	rememberHeight(element, context.signal);
	let busy = context.run.busy;
	let ready = context.run.state?.ready;

	return {
		element,
		update(moment) {
			// What was said about a command under way is over with the run, and with what came of it.
			if ((busy && !context.run.busy) || moment.run.ready !== ready) context.choices.note = "";
			[busy, ready] = [context.run.busy, moment.run.ready];
			element.setAttribute("aria-label", `agent run ${moment.run.meta.name}`);
			element.classList.toggle("fit", moment.options.length === 1 && isSolo(context));
			element.classList.toggle("halted", context.choices.replay?.playing === false);
			header.update(moment);
			variants.update(moment);
			place.update(moment);
			scrubber.update(moment);
			request.update(moment);
			footer.update(moment);
		},
		tick(moment) {
			header.update(moment);
			variants.update(moment);
			place.tick(moment);
		},
	};
}

/** Holds one variant, or the arrangement of all. What is not seen is not there: it costs nothing. */
function createPlace(context: Context): BodyView {
	const element = h("div", { class: "anb-place" });
	const { choices } = context;
	let shown = "";
	let body: BodyView | null = null;
	let life = new AbortController();
	context.signal.addEventListener("abort", () => life.abort());

	function fill(arrangement: Arrangement): BodyView {
		life.abort();
		life = new AbortController();
		if (shown) Object.assign(choices, untouched());
		const built = BODIES[arrangement]({ ...context, signal: life.signal });
		const held = hasFocus(element);
		element.replaceChildren(built.element);
		const tab = '.anb-vars [role="tab"][tabindex="0"]';
		if (held) moveFocus(element.parentElement?.querySelector<HTMLElement>(tab));
		return built;
	}

	return {
		element,
		update(moment) {
			const many = moment.options.length > 1;
			const arrangement = many ? choices.arrangement : "one";
			const key = arrangement === "one" ? `${arrangement} ${choices.variant}` : arrangement;
			if (!body || key !== shown) body = fill(arrangement);
			shown = key;
			if (many) labelPanel(body.element, arrangement, moment.options[choices.variant]?.label ?? "");
			body.update(moment);
		},
		tick: (moment) => body?.tick(moment),
	};
}

function labelPanel(element: HTMLElement, arrangement: Arrangement, label: string): void {
	element.setAttribute("role", arrangement === "one" ? "tabpanel" : "group");
	element.setAttribute("aria-label", arrangement === "one" ? label : "All options");
}

/** Each variant's own clock, carried on between events by the page's. */
function createClock(): (variant: number, state: Pick<VariantState, "at" | "busy">) => number {
	const seen = new Map<number, { at: number; since: number }>();
	return (variant, { at, busy }) => {
		if (!busy) return at;
		const known = seen.get(variant);
		const mark = known?.at === at ? known : { at, since: performance.now() };
		if (mark !== known) seen.set(variant, mark);
		return at + (performance.now() - mark.since) / 1000;
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
