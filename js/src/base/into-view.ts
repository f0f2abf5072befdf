// Scrolls the notebook: once to a run that starts at the lower edge of the window, or that a press in the widget has
// started anywhere, unless the user has just scrolled; and when the wheel is turned over a page that has not been clicked.

const SCROLLING = new Set(["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown", " "]);
let scrolled = false;
/** Whether a press has started a run that is not on the page yet. */
let awaited = false;

export function watchScrolling(signal: AbortSignal): void {
	const options = { signal, capture: true, passive: true };
	for (const type of ["wheel", "touchmove", "keydown", "pointerdown"])
		window.addEventListener(
			type,
			(event) => {
				scrolled = event instanceof KeyboardEvent ? SCROLLING.has(event.key) : type !== "pointerdown";
			},
			options,
		);
}

/** The next run is shown whole, even if it starts below the window. */
export function awaitRun(): void {
	awaited = true;
}

/** Scrolls a new run fully into view if only its beginning is visible, or if it was awaited. */
export function showWhole(element: Element): void {
	const isAwaited = awaited;
	awaited = false;
	if (scrolled) return;
	requestAnimationFrame(() => {
		const { top, bottom } = element.getBoundingClientRect();
		const view = (scrollerOf(element) ?? document.documentElement).getBoundingClientRect();
		const lower = Math.min(view.bottom, window.innerHeight);
		const isBegun = top >= view.top && top < lower;
		if ((isAwaited || isBegun) && bottom > lower) element.scrollIntoView({ block: "nearest" });
	});
}

/** Scrolls the nearest ancestor that can move in that direction; false if there is none. */
export function scrollAround(element: Element, by: number): boolean {
	const moves = (candidate: Element): boolean =>
		by < 0
			? candidate.scrollTop > 0
			: candidate.scrollTop + candidate.clientHeight < candidate.scrollHeight - 1;
	const scroller = scrollerOf(element, moves);
	scroller?.scrollBy({ top: by, behavior: "instant" });
	return scroller !== null;
}

/** The nearest scrollable ancestor; null if there is none, or if it is behind a full-screen element. */
function scrollerOf(element: Element, accepts: (candidate: Element) => boolean = () => true): Element | null {
	const root = element.getRootNode();
	const around = element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
	if (!around || around === document.fullscreenElement) return null;
	const scrolls =
		around === document.scrollingElement || /auto|scroll/.test(getComputedStyle(around).overflowY);
	return scrolls && accepts(around) ? around : scrollerOf(around, accepts);
}
