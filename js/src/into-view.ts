// Scrolls the notebook: to a run that begins at the lower edge of the window, once, unless scrolling was the last thing
// that the user did, and when the wheel is turned over a page that nobody has clicked.

const SCROLLING = new Set(["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown", " "]);
let scrolled = false;

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

/** Where its first line can be seen, but not all of it. */
export function showWhole(element: Element): void {
	if (scrolled) return;
	requestAnimationFrame(() => {
		const { top, bottom } = element.getBoundingClientRect();
		const view = (scrollerOf(element) ?? document.documentElement).getBoundingClientRect();
		const lower = Math.min(view.bottom, window.innerHeight);
		if (top >= view.top && top < lower && bottom > lower) element.scrollIntoView({ block: "nearest" });
	});
}

/** Scrolls what is around an element; false if nothing there can move that way. */
export function scrollAround(element: Element, by: number): boolean {
	const moves = (one: Element): boolean =>
		by < 0 ? one.scrollTop > 0 : one.scrollTop + one.clientHeight < one.scrollHeight - 1;
	const scroller = scrollerOf(element, moves);
	scroller?.scrollBy({ top: by, behavior: "instant" });
	return scroller !== null;
}

/** The nearest element around it that scrolls; null if there is none, or it is behind the full screen. */
function scrollerOf(element: Element, isWanted: (one: Element) => boolean = () => true): Element | null {
	const root = element.getRootNode();
	const around = element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
	if (!around || around === document.fullscreenElement) return null;
	const scrolls =
		around === document.scrollingElement || /auto|scroll/.test(getComputedStyle(around).overflowY);
	return scrolls && isWanted(around) ? around : scrollerOf(around, isWanted);
}
