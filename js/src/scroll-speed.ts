// Pages in frames are not drawn while a notebook with many of them is scrolled too fast to read. Drawing them takes most
// of the time; they stay loaded, keep their state and their height, and are there again when it slows down.

/** Runs from which on drawing them is felt. */
const MANY = 12;
/** Pixels a millisecond from which on nobody reads, and below which hidden frames come back. */
const FAST = 1.5;
const SLOW = 0.4;
/** Milliseconds after the last fast step. */
const REST = 150;
/** A custom property, because it reaches into shadow roots; the frames' `visibility` has its value. */
const FRAMES = "--anb-frames";

export function hideFramesInFastScrolling(signal: AbortSignal): void {
	const frames = new Frames();
	let last = { scroller: null as Element | null, top: 0, at: 0 };
	let steps = 0;
	document.addEventListener(
		"scroll",
		({ target, timeStamp: at }) => {
			const scroller = target instanceof Element ? target : document.scrollingElement;
			const top = scroller?.scrollTop ?? 0;
			const speed = frames.areHidden ? SLOW : FAST;
			const isFast = scroller === last.scroller && Math.abs(top - last.top) > speed * (at - last.at);
			steps = isFast ? steps + 1 : 0;
			last = { scroller, top, at };
			// A single step is a jump: the page that it leads to is to be seen at once.
			if (steps >= 2) frames.hide();
		},
		{ signal, capture: true, passive: true },
	);
	signal.addEventListener("abort", () => frames.show());
}

/** The frames of all outputs. They are hidden by output: for a property of the document, all of the notebook is styled again. */
class Frames {
	readonly #hidden = new Set<HTMLElement>();
	#hiddenAt = 0;
	#timer = 0;

	get areHidden(): boolean {
		return this.#hidden.size > 0;
	}

	/** Until nothing has asked for it for a while. */
	hide(): void {
		const outputs = document.querySelectorAll<HTMLElement>("[data-anb-run], [data-anb-live]");
		if (outputs.length < MANY) return;
		this.#hiddenAt = performance.now();
		this.#timer ||= window.setTimeout(this.#rest, REST);
		for (const output of outputs) {
			if (this.#hidden.has(output)) continue;
			output.style.setProperty(FRAMES, "hidden");
			this.#hidden.add(output);
		}
	}

	show(): void {
		for (const output of this.#hidden) output.style.removeProperty(FRAMES);
		this.#hidden.clear();
		this.#timer = 0;
	}

	/** Looks in an animation frame, because a step that a slow one has delayed is reported before it. */
	readonly #rest = () => {
		requestAnimationFrame(() => {
			if (performance.now() - this.#hiddenAt < REST) this.#timer = window.setTimeout(this.#rest, REST);
			else this.show();
		});
	};
}
