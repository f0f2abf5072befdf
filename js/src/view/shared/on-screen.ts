// Tracks which elements are on screen; the others need not be drawn.

import { toggle } from "../../dom.ts";

/** Margin around the screen in pixels, so that a page is ready when the user scrolls to it. */
const NEAR = { rootMargin: "300px", scrollMargin: "300px" };

export class Sight {
	readonly #seen = new Set<Element>();
	readonly #observer: IntersectionObserver;

	/** `changed` is called when an element enters or leaves the screen. */
	constructor(changed: () => void, signal: AbortSignal) {
		this.#observer = new IntersectionObserver((entries) => {
			for (const { target, isIntersecting } of entries) toggle(this.#seen, target, isIntersecting);
			changed();
		}, NEAR);
		signal.addEventListener("abort", () => this.#observer.disconnect());
	}

	watch(element: Element): void {
		this.#observer.observe(element);
	}

	has(element: Element): boolean {
		return this.#seen.has(element);
	}
}
