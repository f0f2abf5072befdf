// The row of a tool call in the transcript, from its streaming arguments to its result.

import { sameJson } from "../base/json.ts";
import type {
	ApprovalRequested,
	ApprovalResolved,
	Decider,
	Event,
	Json,
	MimeBundle,
	ToolErrorCode,
	ToolFinished,
} from "./events.ts";
import type { FileChange } from "./file-state.ts";

export type ToolStatus = "writing" | "asking" | "running" | "ok" | "failed" | "denied" | "stopped";

export class ToolRow {
	kind = "tool" as const;
	readonly key: string;
	readonly call_id: string;
	readonly name: string;
	title: string;
	/** Whether the arguments have changed the title, which then says what matters of them. */
	titled = false;
	status: ToolStatus = "writing";
	/** The arguments as text while they arrive; empty for a call that writes a file. */
	args_text = "";
	args: Json | null = null;
	/** The newest approval request; null if there was none. */
	request: ApprovalRequested | null = null;
	/** The file this call is writing, and how many characters of it have arrived. */
	path: string | null = null;
	written = 0;
	seconds: number | null = null;
	progress = "";
	summary = "";
	outputs: readonly MimeBundle[] = [];
	code: ToolErrorCode | null = null;
	hint = "";
	change: FileChange | null = null;
	/** The decision on the approval request; null if there was none. */
	answer: Decision | null = null;

	constructor(
		{ call_id, name, title }: Pick<ToolRow, "call_id" | "name" | "title">,
		readonly turn: number,
		readonly from: number,
	) {
		[this.key, this.call_id, this.name, this.title] = [`tool-${call_id}`, call_id, name, title];
	}
}

export interface Decision extends Pick<ApprovalResolved, "approved" | "note" | "by"> {
	/** The model's original arguments; null unless the user edited them. */
	proposed: Json | null;
}

const DECISIONS: Record<Decider, readonly [approved: string, denied: string]> = {
	person: ["you approved", "you said no"],
	always: ["approved, because you said always", "you said no"],
	run: ["you allowed it for this run", "you said no"],
	function: ["your function approved", "your function said no"],
	policy: ["approved for this run", "switched off for this run"],
	nobody: ["approved", "nobody was there to answer"],
	stopped: ["approved", "stopped before there was an answer"],
};

/** Who decided, and how. */
export function decisionText({ by, approved }: { by?: Decider; approved: boolean }): string {
	return DECISIONS[by ?? "person"][approved ? 0 : 1];
}

/** The events of a call that change its row, except those about files. */
export type ToolEvent = Exclude<
	Extract<Event, { call_id: string }>,
	{ type: "tool_started" | "file_delta" | "file_changed" }
>;

const ENDED: ReadonlySet<ToolStatus> = new Set(["ok", "failed", "denied", "stopped"]);

/** Applies one event of the call to its row. */
export function toolRowAfter(row: ToolRow, event: ToolEvent): ToolRow {
	switch (event.type) {
		case "tool_args_delta":
			return { ...row, args_text: row.args_text + event.text };
		case "tool_ready":
			return {
				...row,
				title: event.title,
				titled: row.titled || event.title !== row.title,
				args: event.args,
			};
		case "approval_requested":
			return { ...row, title: event.title, args: event.args, request: event, status: "asking" };
		case "approval_resolved":
			return decide(row, event);
		case "tool_running":
			return { ...row, title: event.title, status: "running" };
		case "tool_progress":
			return event.output
				? { ...row, outputs: withOutput(row.outputs, event.output) }
				: { ...row, progress: event.text };
		case "tool_finished":
			return finish(row, event);
	}
}

function decide(row: ToolRow, event: ApprovalResolved): ToolRow {
	const { approved, note, by = "person", proposed, executed } = event;
	const changed = executed && proposed && !sameJson(executed, proposed);
	// A call may need two approvals: one to run, one for the hosts it connects to.
	const before = row.answer?.proposed ?? null;
	return {
		...row,
		status: "running",
		args: executed ?? proposed ?? row.args, // masked, unlike those of the question
		answer: { approved, note, by, proposed: changed ? proposed : before },
	};
}

/** Appends an output of a running tool. Consecutive plain text is joined. */
function withOutput(outputs: readonly MimeBundle[], next: MimeBundle): MimeBundle[] {
	const last = outputs.at(-1);
	if (!last || !isPlain(last) || !isPlain(next)) return [...outputs, next];
	return [...outputs.slice(0, -1), { "text/plain": `${last["text/plain"]}${next["text/plain"]}` }];
}

export function isPlain(bundle: MimeBundle): boolean {
	return Object.keys(bundle).join() === "text/plain";
}

function finish(row: ToolRow, event: ToolFinished): ToolRow {
	const { ok, summary, outputs, code, hint } = event;
	// For a file, the duration is how long the model took to write it, before the tool ran.
	const seconds = row.path ? event.at - row.from : event.seconds;
	return { ...row, ...endOf(row, ok, code), summary, outputs, seconds, code, hint, progress: "" };
}

/** Closes the row of a call that was still open when the run ended. */
export function stopToolRow(row: ToolRow): ToolRow {
	return ENDED.has(row.status) ? row : { ...row, ...endOf(row, false, "STOPPED") };
}

/** The outcome of a call. One that was denied or not run has not failed. */
export function outcomeOf({ ok, code }: Pick<ToolFinished, "ok" | "code">) {
	if (ok) return "ok";
	return code === "DENIED" ? "denied" : code === "STOPPED" || code === "NOT_A_CALL" ? "stopped" : "failed";
}

/** The engine denies calls that are open when the run ends; that is not shown as the user's decision. */
function endOf(row: ToolRow, ok: boolean, code: ToolErrorCode | null): Pick<ToolRow, "status" | "answer"> {
	const answer = code !== "STOPPED" || row.answer?.approved ? row.answer : null;
	return { status: outcomeOf({ ok, code }), answer };
}
