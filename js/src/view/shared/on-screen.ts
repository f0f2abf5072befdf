// Tracks which elements are on screen; the others need not be drawn.

import { toggle } from "../../base/dom.ts";

export type Sight = ReturnType<typeof createSight>;

/**
 * `changed` is called when an element enters or leaves the screen, or the margin around it in pixels, which lets a page be
 * ready when the user scrolls to it.
 */
export function createSight(changed: () => void, signal: AbortSignal, margin = 300) {
	const seen = new Set<Element>();
	const near = { rootMargin: `${margin}px`, scrollMargin: `${margin}px` };
	const observer = new IntersectionObserver((entries) => {
		for (const { target, isIntersecting } of entries) toggle(seen, target, isIntersecting);
		changed();
	}, near);
	signal.addEventListener("abort", () => observer.disconnect());
	return {
		watch: (element: Element) => observer.observe(element),
		has: (element: Element) => seen.has(element),
	};
}
