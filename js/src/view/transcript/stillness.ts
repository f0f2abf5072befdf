// Whether a card stands still. One that has just appeared or moved may be under a pointer that meant something else;
// a key goes to the card that has the focus, wherever that moves.

/** Milliseconds for which a card must have stood still before a press on it counts. */
const STILL_FOR = 500;
/** Milliseconds between two looks at where it is; each press looks too. */
const LOOK_EVERY = 100;

/** `changed` is told when the element begins to stand still, and when it no longer does. */
export class Stillness {
	readonly #element: HTMLElement;
	readonly #changed: (still: boolean) => void;
	#timer: ReturnType<typeof setInterval> | undefined;
	#place = "";
	#since = 0;
	#appeared = 0;

	constructor(element: HTMLElement, signal: AbortSignal, changed: (still: boolean) => void) {
		this.#element = element;
		this.#changed = changed;
		signal.addEventListener("abort", () => this.unwatch(), { once: true });
	}

	/** The element has appeared, or shows something else. */
	watch(): void {
		this.unwatch();
		this.#timer = setInterval(() => this.check(), LOOK_EVERY);
		this.#place = "";
		this.#appeared = performance.now();
		this.check();
	}

	unwatch(): void {
		clearInterval(this.#timer);
	}

	/** Whether a press of a pointer or a key counts. */
	check(byKey = false): boolean {
		const { left, top, width, height } = this.#element.getBoundingClientRect();
		const place = [left, top, width, height].map(Math.round).join(" ");
		const now = performance.now();
		if (place !== this.#place) this.#since = now;
		this.#place = place;
		const still = now - this.#since >= STILL_FOR;
		this.#changed(still);
		return byKey ? now - this.#appeared >= STILL_FOR : still;
	}
}
