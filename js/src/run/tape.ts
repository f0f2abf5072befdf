// The recorded events of a run, and its state after any of them.

import type { Event } from "./events.ts";
import { EMPTY, reduce, type VariantState } from "./state.ts";

/**
 * Events between two stored states. They are computed when a replay first needs them: states stored during the live
 * run would each hold a full copy of the file being written.
 */
const STORED_EVERY = 64;
/** Seconds per event for a run without timestamps. */
const STILL = 0.05;

export class Tape {
	readonly events: Event[] = [];
	/** The time of each event; it never decreases. */
	readonly #times: number[] = [];
	/** The states after 0, 64, 128, … events, as far as a replay has needed them. */
	readonly #stored: VariantState[] = [EMPTY];
	/** The last requested state; the next one is usually close. */
	#near = { count: 0, state: EMPTY };

	push(event: Event): void {
		const time = event.type === "run_finished" ? event.seconds : event.at;
		this.events.push(event);
		this.#times.push(Math.max(this.#times.at(-1) ?? 0, time));
	}

	get length(): number {
		return this.events.length;
	}

	/** Whether the run has no timestamps; every event then takes equally long. */
	get #still(): boolean {
		return (this.#times.at(-1) ?? 0) === 0;
	}

	/** The time after the first `count` events. */
	timeAt(count: number): number {
		return this.#still ? count * STILL : (this.#times[count - 1] ?? 0);
	}

	get seconds(): number {
		return this.timeAt(this.length);
	}

	/** The number of events up to that time, at least one. */
	countAt(time: number): number {
		let [low, high] = [1, this.length];
		while (low < high) {
			const middle = Math.ceil((low + high) / 2);
			if (this.timeAt(middle) <= time) low = middle;
			else high = middle - 1;
		}
		return Math.min(low, this.length);
	}

	stateAt(count: number): VariantState {
		const block = Math.floor(count / STORED_EVERY);
		let near = this.#near;
		if (near.count > count || near.count < block * STORED_EVERY)
			near = { count: block * STORED_EVERY, state: this.#storedAt(block) };
		const state = this.#play(near.state, near.count, count);
		this.#near = { count, state };
		return state;
	}

	#storedAt(index: number): VariantState {
		let state = this.#stored.at(-1) ?? EMPTY;
		for (let next = this.#stored.length; next <= index; next++) {
			state = this.#play(state, (next - 1) * STORED_EVERY, next * STORED_EVERY);
			this.#stored.push(state);
		}
		return this.#stored[index] ?? EMPTY;
	}

	#play(from: VariantState, start: number, end: number): VariantState {
		return this.events.slice(start, end).reduce(reduce, from);
	}

	/** The number of events before the first request, where a replay starts. */
	get start(): number {
		return Math.max(
			1,
			this.events.findIndex((event) => event.type === "turn_started"),
		);
	}
}
