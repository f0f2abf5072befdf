// A tool call in the transcript, from the arguments as they stream to the result.

import type { Event, Json, MimeBundle, ToolErrorCode, ToolFinished } from "./events.ts";
import type { Change } from "./filestate.ts";

export type ToolStatus = "writing" | "asking" | "running" | "ok" | "failed" | "denied" | "stopped";

export interface ToolRow {
	kind: "tool";
	readonly key: string;
	readonly turn: number;
	call_id: string;
	name: string;
	title: string;
	status: ToolStatus;
	/** The arguments as text while they arrive; empty for a call that writes a file. */
	args_text: string;
	args: Json | null;
	/** The file this call is writing, and how many characters of it have come. */
	path: string | null;
	written: number;
	from: number;
	seconds: number | null;
	progress: string;
	summary: string;
	outputs: readonly MimeBundle[];
	code: ToolErrorCode | null;
	hint: string;
	change: Change | null;
	/** What the person answered when asked; null when nobody was. */
	answer: { approved: boolean; note: string } | null;
}

/** The events that change the row of a call, other than those about files. */
export type ToolEvent = Exclude<
	Extract<Event, { call_id: string }>,
	{ type: "tool_started" | "file_delta" | "file_changed" }
>;

const ENDED: ReadonlySet<ToolStatus> = new Set(["ok", "failed", "denied", "stopped"]);

export function newToolRow(
	call: Pick<ToolRow, "call_id" | "name" | "title">,
	turn: number,
	at: number,
): ToolRow {
	const { call_id, name, title } = call;
	return {
		kind: "tool",
		key: `tool-${call_id}`,
		turn,
		call_id,
		name,
		title,
		status: "writing",
		args_text: "",
		args: null,
		path: null,
		written: 0,
		from: at,
		seconds: null,
		progress: "",
		summary: "",
		outputs: [],
		code: null,
		hint: "",
		change: null,
		answer: null,
	};
}

/** The row after one more event of its call. */
export function toolRowAfter(row: ToolRow, event: ToolEvent): ToolRow {
	switch (event.type) {
		case "tool_args_delta":
			return { ...row, args_text: row.args_text + event.text };
		case "tool_ready":
			return { ...row, title: event.title, args: event.args };
		case "approval_requested":
			return { ...row, title: event.title, args: event.args, status: "asking" };
		case "approval_resolved":
			return { ...row, status: "running", answer: { approved: event.approved, note: event.note } };
		case "tool_running":
			return { ...row, title: event.title, status: "running" };
		case "tool_progress":
			return { ...row, progress: event.text };
		case "tool_finished":
			return finish(row, event);
		default: {
			const unhandled: never = event;
			return unhandled;
		}
	}
}

function finish(row: ToolRow, event: ToolFinished): ToolRow {
	const { ok, summary, outputs, code, hint } = event;
	// A file's time is the time its writing took, which was before the tool ran.
	const seconds = row.path ? event.at - row.from : event.seconds;
	return { ...row, ...endOf(row, ok, code), summary, outputs, seconds, code, hint, progress: "" };
}

/** The row of a call that was still open when the run ended. */
export function stopToolRow(row: ToolRow): ToolRow {
	return ENDED.has(row.status) ? row : { ...row, ...endOf(row, false, "STOPPED") };
}

/**
 * A call that was denied has not failed: somebody decided. Nor has one that the end of the run closed; an answer that
 * the engine gave then in place of the person is not shown as theirs.
 */
function endOf(row: ToolRow, ok: boolean, code: ToolErrorCode | null): Pick<ToolRow, "status" | "answer"> {
	if (code === "STOPPED") return { status: "stopped", answer: row.answer?.approved ? row.answer : null };
	return { status: ok ? "ok" : code === "DENIED" ? "denied" : "failed", answer: row.answer };
}
