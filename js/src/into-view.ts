// Scrolls a run that begins at the lower edge of the window into view, once, unless scrolling was the last thing the user did.

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
		const view = scrollerOf(element).getBoundingClientRect();
		const lower = Math.min(view.bottom, window.innerHeight);
		if (top >= view.top && top < lower && bottom > lower) element.scrollIntoView({ block: "nearest" });
	});
}

function scrollerOf(element: Element): Element {
	const around = element.parentElement;
	if (!around) return document.documentElement;
	return /auto|scroll/.test(getComputedStyle(around).overflowY) ? around : scrollerOf(around);
}
