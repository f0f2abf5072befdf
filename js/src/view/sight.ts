// Which elements are on screen: the others need not be drawn.

export class Sight {
	readonly #seen = new Set<Element>();
	readonly #observer: IntersectionObserver;

	/** `changed` is called when an element comes into sight. */
	constructor(changed: () => void, signal: AbortSignal) {
		this.#observer = new IntersectionObserver((entries) => {
			for (const { target, isIntersecting } of entries) {
				if (isIntersecting) this.#seen.add(target);
				else this.#seen.delete(target);
			}
			if (entries.some((entry) => entry.isIntersecting)) changed();
		});
		signal.addEventListener("abort", () => this.#observer.disconnect());
	}

	watch(element: Element): void {
		this.#observer.observe(element);
	}

	has(element: Element): boolean {
		return this.#seen.has(element);
	}
}
