// Short ways to write events in tests.

import type { Event } from "../src/run/events.ts";
import { EMPTY, reduce, type VariantState } from "../src/run/state.ts";

export const USAGE = { input: 10, cached_read: 0, cached_write: 0, output: 5, reasoning: 0 };

export type Loose = { type: Event["type"] } & Record<string, unknown>;

/** Completes events with a run and a variant, and with `seq` and `at` by their position. */
export function script(...events: Loose[]): Event[] {
	return events.map(
		(event, index) => ({ run_id: "r", variant: 0, seq: index + 1, at: index, ...event }) as unknown as Event,
	);
}

export function play(events: readonly Event[], from: VariantState = EMPTY): VariantState {
	return events.reduce(reduce, from);
}

export const started: Loose = { type: "run_started", prompt: "p", model: "demo:", base: null, settings: {} };
export const turn: Loose = { type: "turn_started", step: 1 };
export const tool = (call_id = "c1", title = "create"): Loose => ({
	type: "tool_started",
	call_id,
	name: "any",
	title,
});
export const text = (content: string): Loose => ({ type: "text_delta", text: content });
export const thinking = (content: string): Loose => ({ type: "thinking_delta", text: content });
export const piece = (path: string, offset: number, content: string, call_id = "c1"): Loose => ({
	type: "file_delta",
	call_id,
	path,
	offset,
	text: content,
});
export const changed = (path: string, version: number, more: Record<string, unknown> = {}): Loose => ({
	type: "file_changed",
	path,
	version,
	action: version === 1 ? "created" : "edited",
	size: 3,
	media_type: "text/html",
	call_id: "c1",
	first_line: 1,
	added: 1,
	removed: 0,
	patch: null,
	unfinished: false,
	...more,
});
export const done = (more: Record<string, unknown> = {}): Loose => ({
	type: "tool_finished",
	call_id: "c1",
	ok: true,
	summary: "",
	outputs: [],
	seconds: 0.1,
	code: null,
	hint: "",
	...more,
});
export const finished = (reason = "end_turn", error: string | null = null): Loose => ({
	type: "run_finished",
	reason,
	usage: USAGE,
	cost: null,
	seconds: 9,
	error,
});
