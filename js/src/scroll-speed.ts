// Pages in frames are not drawn while a notebook with many of them is scrolled too fast to read. Drawing them takes most
// of the time; they stay loaded, keep their state and their height, and are there again when it slows down.

/** Runs from which on drawing them is felt. */
const MANY = 12;
/** Pixels a millisecond from which on nobody reads. */
const FAST = 1.5;
/** Milliseconds after the last fast step. */
const REST = 150;
/** A custom property, because it reaches into shadow roots; the frames' `visibility` has its value. */
const FRAMES = "--anb-frames";

export function hideFramesInFastScrolling(signal: AbortSignal): void {
	const { style } = document.documentElement;
	let last = { scroller: null as Element | null, top: 0, at: 0 };
	let [steps, timer] = [0, 0];
	const show = () => style.removeProperty(FRAMES);
	document.addEventListener(
		"scroll",
		({ target, timeStamp: at }) => {
			const scroller = target instanceof Element ? target : document.scrollingElement;
			const top = scroller?.scrollTop ?? 0;
			const isFast = scroller === last.scroller && Math.abs(top - last.top) > FAST * (at - last.at);
			steps = isFast ? steps + 1 : 0;
			last = { scroller, top, at };
			// A single step is a jump: the page that it leads to is to be seen at once.
			if (steps < 2 || document.querySelectorAll("[data-anb-run]").length < MANY) return;
			style.setProperty(FRAMES, "hidden");
			clearTimeout(timer);
			timer = window.setTimeout(show, REST);
		},
		{ signal, capture: true, passive: true },
	);
	signal.addEventListener("abort", show);
}
