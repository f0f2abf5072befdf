// The moments of a run, which are the steps that a person takes through its replay.

import type { Event, ToolFinished } from "./events.ts";
import { ENDINGS } from "./phase.ts";

/** What one step forward adds: all that the model says, thinks or writes in one go, or one thing that happens. */
export interface Beat {
	/** Events of the same key that follow each other are one beat. */
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

type Label = Pick<Beat, "key" | "words" | "kind"> & { readonly failed?: boolean };

export function toBeats(events: readonly Event[], timeAt: (count: number) => number): Beat[] {
	const calls = new Calls();
	const beats: Beat[] = [];
	let step = 0;
	for (const [index, event] of events.entries()) {
		calls.note(event);
		if (event.type === "turn_started") step = event.step;
		const label = labelOf(event, calls);
		const last = beats.at(-1);
		const count = index + 1;
		if (last && (label === null || label.key === last.key)) {
			beats[beats.length - 1] = { ...last, ...label, failed: label?.failed ?? last.failed, count };
		} else {
			const { failed = false, ...shown } = label ?? { key: "", words: "", kind: "start" };
			beats.push({ ...shown, failed, count, at: timeAt(count), step });
		}
	}
	return beats;
}

/** The newest name and title of each tool call. */
class Calls {
	readonly #names = new Map<string, string>();
	readonly #titles = new Map<string, string>();

	note(event: Event): void {
		if ("title" in event) this.#titles.set(event.call_id, event.title);
		if (event.type === "tool_started") this.#names.set(event.call_id, event.name);
	}

	title(callId: string): string {
		return this.#titles.get(callId) ?? "a tool";
	}

	name(callId: string): string {
		return this.#names.get(callId) ?? this.title(callId);
	}
}

type ToolEvent = Extract<Event, { call_id: string }>;

/** The beat that an event belongs to; null for one that belongs to whatever went before it. */
function labelOf(event: Event, calls: Calls): Label | null {
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
		case "file_changed":
			if (event.call_id === null) return null;
			return { key: `done ${event.call_id}`, words: `done: ${calls.title(event.call_id)}`, kind: "result" };
		case "run_finished":
			return { key: "end", words: ENDINGS[event.reason], kind: "end", failed: event.reason === "failed" };
		case "turn_finished":
		case "usage_updated":
		case "message_added":
			return null;
		default:
			return labelOfTool(event, calls);
	}
}

function labelOfTool(event: ToolEvent, calls: Calls): Label | null {
	const { call_id } = event;
	const title = calls.title(call_id);
	switch (event.type) {
		case "tool_started":
		case "tool_args_delta":
			return { key: `call ${call_id}`, words: `the model calls ${calls.name(call_id)}`, kind: "model" };
		case "file_delta":
			return {
				key: `file ${call_id} ${event.path}`,
				words: `the model writes ${event.path}`,
				kind: "model",
			};
		case "approval_requested":
			return { key: `ask ${call_id}`, words: `may it run? ${title}`, kind: "tool" };
		case "approval_resolved": {
			const words = event.approved ? "the person approves" : "the person says no";
			return { key: `answer ${call_id}`, words, kind: "tool" };
		}
		case "tool_running":
		case "tool_progress":
			return { key: `run ${call_id}`, words: `runs: ${title}`, kind: "tool" };
		case "tool_finished": {
			const outcome = outcomeOf(event);
			const failed = outcome === "failed";
			return { key: `done ${call_id}`, words: `${outcome}: ${title}`, kind: "result", failed };
		}
		case "tool_ready":
			return null;
		default: {
			const unhandled: never = event;
			return unhandled;
		}
	}
}

function outcomeOf({ ok, code }: ToolFinished): string {
	if (code === "DENIED" || code === "STOPPED") return code.toLowerCase();
	return ok ? "done" : "failed";
}
