// A finished run on tape: its events as they came, its state at any of them, and its moments, which are the steps
// that a person takes through it.

import type { Event, ToolFinished } from "./events.ts";
import { ENDINGS } from "./phase.ts";
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

/** What one step forward adds: all that the model says, thinks or writes in one go, or one thing that happens. */
export interface Beat {
	readonly key: string;
	readonly words: string;
	readonly kind: "start" | "turn" | "model" | "tool" | "result" | "end";
	/** How many events there are once it is over. */
	readonly count: number;
	/** When it begins, on the tape's clock. */
	readonly at: number;
	readonly step: number;
	readonly failed: boolean;
}

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

	/** The moment that the tape is in after so many events. */
	beatAt(count: number): Beat | undefined {
		return this.beats.find((beat) => beat.count >= count) ?? this.beats.at(-1);
	}

	/** The count at the end of the next moment, and at the end of the one before. */
	next(count: number): number {
		return this.beats.find((beat) => beat.count > count)?.count ?? this.length;
	}

	previous(count: number): number {
		return this.beats.findLast((beat) => beat.count < count)?.count ?? this.beats[0]?.count ?? 1;
	}
}

type Told = Pick<Beat, "key" | "words" | "kind"> & { failed?: boolean };

function toBeats(events: readonly Event[], timeAt: (count: number) => number): Beat[] {
	const names = new Map<string, string>();
	const titles = new Map<string, string>();
	const beats: Beat[] = [];
	let step = 0;
	events.forEach((event, index) => {
		if ("title" in event) titles.set(event.call_id, event.title);
		if (event.type === "tool_started") names.set(event.call_id, event.name);
		if (event.type === "turn_started") step = event.step;
		const told = tell(event, names, titles);
		const last = beats.at(-1);
		const joins = last && (told === null || told.key === last.key);
		if (joins)
			beats[beats.length - 1] = { ...last, ...told, failed: told?.failed ?? last.failed, count: index + 1 };
		else
			beats.push({
				...(told ?? { key: "", words: "", kind: "start" }),
				failed: told?.failed ?? false,
				count: index + 1,
				at: timeAt(index + 1),
				step,
			});
	});
	return beats;
}

function outcome({ ok, code }: ToolFinished): string {
	if (code === "DENIED" || code === "STOPPED") return code.toLowerCase();
	return ok ? "done" : "failed";
}

/** The moment that an event belongs to; null for one that belongs to whatever went before it. */
function tell(
	event: Event,
	names: ReadonlyMap<string, string>,
	titles: ReadonlyMap<string, string>,
): Told | null {
	const title = titles.get("call_id" in event ? (event.call_id ?? "") : "") ?? "a tool";
	switch (event.type) {
		case "run_started":
			return { key: "start", words: "the question", kind: "start" };
		case "turn_started":
			return { key: `turn ${event.step}`, words: "the request is sent", kind: "turn" };
		case "turn_retrying":
			return { key: `retry ${event.attempt} ${event.at}`, words: "the turn is tried again", kind: "turn" };
		case "thinking_delta":
			return { key: "thinking", words: "the model thinks", kind: "model" };
		case "text_delta":
			return { key: "text", words: "the model writes", kind: "model" };
		case "tool_started":
		case "tool_args_delta":
			return {
				key: `call ${event.call_id}`,
				words: `the model calls ${names.get(event.call_id) ?? title}`,
				kind: "model",
			};
		case "file_delta":
			return {
				key: `file ${event.call_id} ${event.path}`,
				words: `the model writes ${event.path}`,
				kind: "model",
			};
		case "approval_requested":
			return { key: `ask ${event.call_id}`, words: `may it run? ${title}`, kind: "tool" };
		case "approval_resolved":
			return {
				key: `answer ${event.call_id}`,
				words: event.approved ? "the person approves" : "the person says no",
				kind: "tool",
			};
		case "tool_running":
		case "tool_progress":
			return { key: `run ${event.call_id}`, words: `runs: ${title}`, kind: "tool" };
		case "file_changed":
			if (event.call_id === null) return null;
			return { key: `done ${event.call_id}`, words: `done: ${title}`, kind: "result" };
		case "tool_finished":
			return {
				key: `done ${event.call_id}`,
				words: `${outcome(event)}: ${title}`,
				kind: "result",
				failed: outcome(event) === "failed",
			};
		case "run_finished":
			return { key: "end", words: ENDINGS[event.reason], kind: "end", failed: event.reason === "failed" };
		case "turn_finished":
		case "tool_ready":
		case "usage_updated":
		case "message_added":
			return null;
		default: {
			const unhandled: never = event;
			return unhandled;
		}
	}
}
