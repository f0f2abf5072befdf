// In a notebook with many runs, drawing pages in frames dominates the cost of scrolling. The page of a saved output is
// loaded only near the screen; elsewhere its text replaces it, at the same height, so that it can be searched and
// printed. A page that was clicked is kept, with its state. During fast scrolling nothing is loaded, and pages in live
// outputs are not drawn.

import { h } from "../base/dom.ts";
import { guardFocus, hovers } from "../page/focus.ts";
import { LOSSES } from "../page/messages.ts";
import { createSight, type Sight } from "../view/shared/on-screen.ts";

/** Pixels around the screen within which pages are loaded. */
const NEAR = 500;
/** Pixels per millisecond at which fast scrolling starts and ends. */
const FAST = 1.5;
const SLOW = 0.4;
/** Milliseconds after the last fast step. */
const REST = 150;
/** Milliseconds to spend on unloading pages at a time. */
const SLICE = 12;
/** Maximum characters of a page's text. */
const LONGEST = 5000;
/** The frames' `visibility`, as a custom property because those are inherited into shadow roots. */
const FRAMES = "--anb-frames";
const STAGES = "[data-anb-run] .anb-stage";
const POSTER = "height:100%;padding:24px;overflow:hidden;background:#fff;color:#6b6b6b";

export function keepFarFramesOut(signal: AbortSignal): void {
	const frames = new Frames(signal);
	let last = { scroller: null as Element | null, top: 0, at: 0 };
	let steps = 0;
	const options = { signal, capture: true, passive: true };
	document.addEventListener(
		"scroll",
		({ target, timeStamp: at }) => {
			const scroller = target instanceof Element ? target : document.scrollingElement;
			const top = scroller?.scrollTop ?? 0;
			const speed = frames.isFast ? SLOW : FAST;
			const isFast = scroller === last.scroller && Math.abs(top - last.top) > speed * (at - last.at);
			steps = isFast ? steps + 1 : 0;
			last = { scroller, top, at };
			// A single step is a jump: the page there must be visible at once.
			if (steps >= 2) frames.onFast();
			else frames.tidyLater();
		},
		options,
	);
	// A click into a frame fires no event here, but focuses the frame.
	window.addEventListener("blur", () => frames.keep(document.activeElement), options);
	frames.tidyLater();
}

/** Stops saved pages that take the keyboard focus. */
export function guardSavedPages(signal: AbortSignal): void {
	const isSaved = (element: Element): boolean => element.matches(`${STAGES} > iframe`) && hovers();
	guardFocus(isSaved, signal, (frame) => frame.setAttribute("srcdoc", LOSSES.grabbed));
}

class Frames {
	/** The places of stages. */
	readonly #watched = new WeakSet<Element>();
	readonly #near: Sight;
	/** The frame that each poster replaces. */
	readonly #frames = new WeakMap<Element, Element>();
	readonly #used = new WeakSet<Element>();
	readonly #hidden = new Set<HTMLElement>();
	isFast = false;
	#fastAt = 0;
	#tidying = 0;

	constructor(signal: AbortSignal) {
		this.#near = createSight(() => this.#onMoved(), signal, NEAR);
		signal.addEventListener("abort", () => {
			this.#onSlow();
			clearTimeout(this.#tidying);
			for (const stage of stages()) this.#put(stage);
		});
	}

	/** Lasts until it has not been called for a while. */
	onFast(): void {
		this.#fastAt = performance.now();
		if (this.isFast) return;
		this.isFast = true;
		for (const output of document.querySelectorAll<HTMLElement>("[data-anb-live]")) {
			output.style.setProperty(FRAMES, "hidden");
			this.#hidden.add(output);
		}
		setTimeout(this.#rest, REST);
	}

	keep(frame: Element | null): void {
		if (frame) this.#used.add(frame);
	}

	tidyLater(delay = REST): void {
		this.#tidying ||= window.setTimeout(this.#tidy, delay);
	}

	/** Observes new pages and unloads a few distant ones. */
	readonly #tidy = () => {
		this.#tidying = 0;
		if (this.isFast) return;
		const all = stages();
		const fresh = all.map(placeOf).filter((place) => !this.#watched.has(place));
		for (const place of fresh) {
			this.#watched.add(place);
			this.#near.watch(place);
		}
		// The first report about them tidies again.
		if (fresh.length) return;
		const far = all.filter((stage) => !this.#near.has(placeOf(stage)) && this.#isLoaded(stage));
		const end = performance.now() + SLICE;
		while (far.length && performance.now() < end) this.#takeOut(far.pop()!);
		if (far.length) this.tidyLater(SLICE);
	};

	#onMoved(): void {
		if (!this.isFast) this.#load();
		this.tidyLater();
	}

	#isLoaded(stage: Element): boolean {
		const frame = stage.querySelector("iframe");
		return frame !== null && !this.#used.has(frame);
	}

	#takeOut(stage: Element): void {
		const frame = stage.querySelector("iframe");
		if (!frame) return;
		const poster = h("div", { style: POSTER }, textOf(frame.srcdoc));
		this.#frames.set(poster, frame);
		frame.replaceWith(poster);
	}

	#load(): void {
		for (const stage of stages()) if (this.#near.has(placeOf(stage))) this.#put(stage);
	}

	#put(stage: Element): void {
		const poster = stage.firstElementChild;
		const frame = poster && this.#frames.get(poster);
		if (frame) poster.replaceWith(frame);
	}

	#onSlow(): void {
		this.isFast = false;
		for (const output of this.#hidden) output.style.removeProperty(FRAMES);
		this.#hidden.clear();
		this.#load();
		this.tidyLater();
	}

	/** Checks in an animation frame, because a step delayed by a slow frame is reported before it. */
	readonly #rest = () => {
		requestAnimationFrame(() => {
			if (performance.now() - this.#fastAt < REST) setTimeout(this.#rest, REST);
			else if (this.isFast) this.#onSlow();
		});
	};
}

/** The containers of saved pages, except those hidden under a live interface. */
function stages(): Element[] {
	const all = [...document.querySelectorAll(STAGES)];
	return all.filter((stage) => !stage.closest("[data-anb-live]"));
}

/** The element to observe. JupyterLab skips the contents of off-screen cells, so nothing inside them intersects. */
function placeOf(stage: Element): Element {
	return stage.closest(".jp-Cell") ?? stage;
}

/** The text of the page in the nested frame. Nothing is loaded or run. */
function textOf(srcdoc: string): string {
	const parse = (html: string) => new DOMParser().parseFromString(html, "text/html");
	const page = parse(parse(srcdoc).querySelector("iframe")?.srcdoc ?? "");
	for (const element of page.querySelectorAll("script, style, template")) element.remove();
	for (const element of page.body.querySelectorAll("*")) element.append(" "); // or headings and links run together
	return (page.body.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, LONGEST);
}
