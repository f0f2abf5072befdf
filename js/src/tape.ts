// A finished run on tape: its events as they came, its state at any of them, and its moments, which are the steps
// that a person takes through it.

import { type Beat, toBeats } from "./beats.ts";
import type { Event } from "./events.ts";
import { EMPTY, reduce, type VariantState } from "./state.ts";

/**
 * Events between two kept states. They are made when a replay first gets there: a state that was drawn while the run
 * went on has a whole copy of the file that was being written.
 */
const KEPT_EVERY = 64;
/** Seconds that a wait plays at most: nobody wants to sit through a question that lay open for minutes. */
const LONGEST_WAIT = 2;
/** Seconds per event for a run whose clock stood still. */
const STILL = 0.05;

export class Tape {
	readonly #events: Event[] = [];
	/** The clock after each event; it never runs backwards. */
	readonly #times: number[] = [];
	/** The states after 0, 64, 128, … events, as far as a replay has asked. */
	readonly #kept: VariantState[] = [EMPTY];
	#end = EMPTY;
	/** The state that was asked for last: the next is usually a little further. */
	#near = { count: 0, state: EMPTY };
	#beats: readonly Beat[] | null = null;

	/** Takes the next event; gives the state after it. */
	push(event: Event): VariantState {
		this.#end = reduce(this.#end, event);
		this.#events.push(event);
		this.#times.push(Math.max(this.#times.at(-1) ?? 0, this.#end.at));
		this.#beats = null;
		return this.#end;
	}

	get length(): number {
		return this.#events.length;
	}

	/** True when the run has no times of its own: then every event takes the same. */
	get #still(): boolean {
		return (this.#times.at(-1) ?? 0) === 0;
	}

	/** Where the clock stands after so many events. */
	timeAt(count: number): number {
		return this.#still ? count * STILL : (this.#times[count - 1] ?? 0);
	}

	get seconds(): number {
		return this.timeAt(this.length);
	}

	/** How many events have happened by then: one at least. */
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
		if (count >= this.length) return this.#end;
		const kept = Math.floor(count / KEPT_EVERY);
		let near = this.#near;
		if (near.count > count || near.count < kept * KEPT_EVERY)
			near = { count: kept * KEPT_EVERY, state: this.#keptAt(kept) };
		const state = this.#play(near.state, near.count, count);
		this.#near = { count, state };
		return state;
	}

	#keptAt(index: number): VariantState {
		let state = this.#kept.at(-1) ?? EMPTY;
		for (let next = this.#kept.length; next <= index; next++) {
			state = this.#play(state, (next - 1) * KEPT_EVERY, next * KEPT_EVERY);
			this.#kept.push(state);
		}
		return this.#kept[index] ?? EMPTY;
	}

	#play(from: VariantState, start: number, end: number): VariantState {
		return this.#events.slice(start, end).reduce(reduce, from);
	}

	/** Where the clock stands after playing on for so many seconds; long waits are shortened. */
	advance(time: number, seconds: number): number {
		let [now, left] = [time, seconds];
		for (let count = this.countAt(now); count < this.length; count = this.countAt(now)) {
			const next = this.timeAt(count + 1);
			const rate = Math.max(1, (next - this.timeAt(count)) / LONGEST_WAIT);
			if ((next - now) / rate > left) return now + left * rate;
			left -= (next - now) / rate;
			now = next;
		}
		return this.seconds;
	}

	get beats(): readonly Beat[] {
		this.#beats ??= toBeats(this.#events, (count) => this.timeAt(count));
		return this.#beats;
	}

	/** The count at the end of the first moment, where a replay begins. */
	get start(): number {
		return this.beats[0]?.count ?? 1;
	}

	/** The moment that the tape is in after so many events. */
	beatAt(count: number): Beat | undefined {
		return this.beats.find((beat) => beat.count >= count) ?? this.beats.at(-1);
	}

	/** The count at the end of the next moment, and at the end of the one before. */
	next(count: number): number {
		return this.beats.find((beat) => beat.count > count)?.count ?? this.length;
	}

	previous(count: number): number {
		return this.beats.findLast((beat) => beat.count < count)?.count ?? this.start;
	}
}
