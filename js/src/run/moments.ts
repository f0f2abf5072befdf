// The moments of a run: the steps of its replay.

import { ENDINGS, type Event } from "./events.ts";
import type { Tape } from "./tape.ts";
import { decisionText, outcomeOf } from "./tool-call.ts";

/** One moment: a continuous piece of text, thinking or writing, or a single other event. */
export interface Moment {
	/** Consecutive events with the same key are one moment. */
	readonly key: string;
	readonly label: string;
	readonly kind: "start" | "turn" | "model" | "tool" | "result" | "end";
	/** Number of events up to its end. */
	readonly count: number;
	/** When it begins, on the tape's clock. */
	readonly at: number;
	/** The turn it is part of; 0 before the first. */
	readonly turn: number;
	readonly failed: boolean;
}

type Description = Pick<Moment, "key" | "label" | "kind"> & { readonly failed?: boolean };

/** A place on a tape. */
type On = { readonly tape: Tape; readonly count: number };

const NOTHING: Description = { key: "", label: "", kind: "start" };

const cache = new WeakMap<Tape, { length: number; moments: readonly Moment[] }>();

/** The moments of a run, cached until its tape grows. */
export function momentsOn(tape: Tape): readonly Moment[] {
	const last = cache.get(tape);
	if (last?.length === tape.length) return last.moments;
	const moments = toMoments(tape);
	cache.set(tape, { length: tape.length, moments });
	return moments;
}

/** The moment after the first `count` events. */
export function momentAt({ tape, count }: On): Moment | undefined {
	const moments = momentsOn(tape);
	return moments.find((moment) => moment.count >= count) ?? moments.at(-1);
}

/** Number of events up to the end of the next or the previous moment. */
export function countAfter({ tape, count }: On, by: 1 | -1): number {
	const moments = momentsOn(tape);
	if (by > 0) return moments.find((moment) => moment.count > count)?.count ?? tape.length;
	return moments.findLast((moment) => moment.count < count)?.count ?? tape.start;
}

/** The turn at a replay's position; 1 before the first request. */
export function turnOf(on: On): number {
	return Math.max(1, momentAt(on)?.turn ?? 0);
}

function toMoments(tape: Tape): Moment[] {
	const calls = new Calls();
	const moments: Moment[] = [];
	let turn = 0;
	for (const [index, event] of tape.events.entries()) {
		calls.note(event);
		if (event.type === "turn_started") turn = event.step;
		const described = describe(event, calls);
		const last = moments.at(-1);
		const count = index + 1;
		if (last && (described === null || described.key === last.key)) {
			moments[moments.length - 1] = {
				...last,
				...described,
				failed: described?.failed ?? last.failed,
				count,
			};
		} else {
			const { failed = false, ...moment } = described ?? NOTHING;
			moments.push({ ...moment, failed, count, at: tape.timeAt(count), turn });
		}
	}
	return moments;
}

/** The latest name and title of each tool call. */
class Calls {
	readonly #names = new Map<string, string>();
	readonly #titles = new Map<string, string>();
	readonly questions = new Set<string>();

	note(event: Event): void {
		if ("title" in event && "call_id" in event) this.#titles.set(event.call_id, event.title);
		if (event.type === "approval_requested" && event.is_question) this.questions.add(event.call_id);
		if (event.type === "tool_started") this.#names.set(event.call_id, event.name);
	}

	title(callId: string): string {
		return this.#titles.get(callId) ?? "a tool";
	}

	name(callId: string): string {
		return this.#names.get(callId) ?? this.title(callId);
	}
}

type CallEvent = Extract<Event, { call_id: string }>;

/** The moment that an event belongs to; null if it belongs to the preceding moment. */
function describe(event: Event, calls: Calls): Description | null {
	switch (event.type) {
		case "run_started":
			return { key: "start", label: "Your prompt", kind: "start" };
		case "turn_started":
			return { key: `turn ${event.step}`, label: "the request is sent", kind: "turn" };
		case "turn_retrying":
			return { key: `retry ${event.attempt} ${event.at}`, label: "the turn is retried", kind: "turn" };
		case "note":
		case "conversation_compacted":
		case "plan_updated":
			return { key: `note ${event.at} ${event.title}`, label: event.title, kind: "turn" };
		case "thinking_delta":
			return { key: "thinking", label: "the model thinks", kind: "model" };
		case "text_delta":
			return { key: "text", label: "the model writes", kind: "model" };
		case "file_changed":
			if (event.call_id === null) return null;
			return { key: `done ${event.call_id}`, label: `done: ${calls.title(event.call_id)}`, kind: "result" };
		case "run_finished":
			return {
				key: "end",
				label: ENDINGS[event.reason].words,
				kind: "end",
				failed: event.reason === "failed",
			};
		case "turn_finished":
		case "usage_updated":
			return null;
		default:
			return describeTool(event, calls);
	}
}

function describeTool(event: CallEvent, calls: Calls): Description | null {
	const { call_id } = event;
	const title = calls.title(call_id);
	switch (event.type) {
		case "tool_started":
		case "tool_args_delta":
			return { key: `call ${call_id}`, label: `the model calls ${calls.name(call_id)}`, kind: "model" };
		case "file_delta":
			return {
				key: `file ${call_id} ${event.path}`,
				label: `the model writes ${event.path || "a file"}`,
				kind: "model",
			};
		case "approval_requested":
			return {
				key: `ask ${call_id}`,
				label: event.is_question ? "the model asks you" : `approval needed: ${title}`,
				kind: "tool",
			};
		case "approval_resolved":
			if (calls.questions.has(call_id)) return null;
			return { key: `answer ${call_id}`, label: decisionText(event), kind: "tool" };
		case "tool_running":
		case "tool_progress":
			return { key: `run ${call_id}`, label: `running: ${title}`, kind: "tool" };
		case "tool_finished": {
			const outcome = outcomeOf(event);
			const label = `${outcome === "ok" ? "done" : outcome}: ${title}`;
			return { key: `done ${call_id}`, label, kind: "result", failed: outcome === "failed" };
		}
		case "tool_ready":
			return null;
	}
}
