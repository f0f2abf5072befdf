// The state of a run: a pure function of its events. Views read it; a replay also reads single events, for its moments.

import {
	type CellChange,
	ENDINGS,
	type Event,
	type FileChanged,
	type FileDelta,
	type Json,
	type Note,
	type PlanEntry,
	type PlanUpdated,
	type Reason,
	type RunFinished,
	type Thumbnail,
	type ToolFinished,
	type TurnRetrying,
	type Usage,
} from "./events.ts";
import {
	contents,
	countPoints,
	endDrafts,
	type FileChange,
	type FileDraft,
	type FileMap,
	type FileState,
	joined,
	provisionalPath,
	sliceToPoint,
	type Version,
	withNamed,
	withoutDrafts,
} from "./file-state.ts";
import { callPhase, ON_YOUR_SERVER, type Phase, READING, retryPhase, STARTING, THINKING } from "./phase.ts";
import { stopToolRow, type ToolEvent, ToolRow, toolRowAfter } from "./tool-call.ts";

export { type FileState, textOf, type Version } from "./file-state.ts";
export type { ToolRow, ToolStatus } from "./tool-call.ts";

interface BaseRow {
	readonly key: string;
	/** The turn it belongs to, from 1; 0 before the first. A retry withdraws the rows of its turn. */
	readonly turn: number;
}

/** A continuous piece of the model's text or thinking. */
export interface StreamRow extends BaseRow {
	kind: "text" | "thinking";
	text: string;
	from: number;
	/** When it ended; null while it is being written. */
	to: number | null;
}

/** A failed attempt while the run waits to send the request again; a line once it has. */
export interface RetryRow extends BaseRow {
	kind: "retry";
	title: string;
	/** When the wait began, and its seconds. */
	from: number;
	wait: number;
	why: string;
}

/** A row of a title and a detail. */
export interface LineRow extends BaseRow {
	kind: "line";
	state: "info" | "retry";
	title: string;
	detail: string;
	/** The entries of a plan. */
	plan?: readonly PlanEntry[];
}

export type Row = StreamRow | ToolRow | RetryRow | LineRow;

/** The state of a variant; its defaults are those of a run without events. */
export class VariantState {
	phase: Phase = STARTING;
	model = "";
	settings: Json = {};
	/** The images attached to the prompt. */
	images: readonly Thumbnail[] = [];
	busy = true;
	/** The number of the newest turn, from 1; 0 before the first. */
	turn = 0;
	usage: Usage = { input: 0, cached_read: 0, cached_write: 0, output: 0, reasoning: 0 };
	/** The tokens of the last turn, in and out. */
	context = 0;
	cost: number | null = null;
	estimated = false;
	/** The run's clock at the newest event. */
	at = 0;
	reason: Reason | null = null;
	/** Whether the kernel was lost while the run was under way. */
	cut = false;
	error: string | null = null;
	/** The answer, if it has a type. */
	answer: unknown = null;
	rows: readonly Row[] = [];
	/** The change that `%agent fix` offers: from the message `ready`, not from events. */
	fix: CellChange | null = null;
	/** Number of rows created, including withdrawn ones; used for their keys. */
	made = 0;
	/** The turns that have started. */
	turns: readonly number[] = [];
	files: FileMap = new Map();
	/** Number of file changes in the run. */
	changes = 0;
	/** The path of the file that changed last. */
	newest: string | null = null;
	epochs = 0;
}

export const EMPTY = new VariantState();

/** Returns the state after one more event. */
export function reduce(before: VariantState, event: Event): VariantState {
	const state = { ...before, at: Math.max(before.at, event.at) };
	switch (event.type) {
		case "run_started":
			return {
				...state,
				phase: event.settings?.server ? ON_YOUR_SERVER : STARTING,
				model: event.model,
				settings: event.settings,
				images: event.images ?? [],
			};
		case "turn_started":
			return startTurn(state, event.step);
		case "thinking_delta":
			return stream({ ...state, phase: THINKING }, "thinking", event.text);
		case "text_delta":
			return stream({ ...state, phase: { activity: "writing" } }, "text", event.text);
		case "turn_retrying":
			return retry(state, event);
		case "note":
		case "conversation_compacted":
			return append(state, lineRow(state, event));
		case "plan_updated":
			return updatePlan(state, event);
		case "turn_finished":
			return { ...close(state), context: event.usage.input + event.usage.output };
		case "file_delta":
			return draftFile(state, event);
		case "file_changed":
			return changeFile(state, event);
		case "usage_updated":
			return { ...state, usage: event.usage, cost: event.cost, estimated: event.estimated };
		case "run_finished":
			return finish(state, event);
		case "tool_started":
			return startTool(close(withPhase(state, event)), event);
		case "approval_requested":
			return changeTool(startTool(withPhase(state, event), event), event);
		case "tool_finished":
			return changeTool(endWriting(withPhase(state, event), event), event);
		default:
			return changeTool(withPhase(state, event), event);
	}
}

function withPhase(state: VariantState, event: Event): VariantState {
	return { ...state, phase: callPhase(state.phase, event) };
}

function startTurn(state: VariantState, turn: number): VariantState {
	const phase = state.phase === ON_YOUR_SERVER ? READING : THINKING;
	return { ...close(state), phase, turn, turns: [...state.turns, turn] };
}

/** The failed attempt that the run is about to retry, if any. */
export function retryOf(state: VariantState): RetryRow | undefined {
	return state.rows.findLast((row) => row.kind === "retry");
}

/** Ends the text or thinking that was being written, and the wait after a failed attempt. */
function close(open: VariantState): VariantState {
	const state = endStream(open);
	const waiting = retryOf(state);
	if (!waiting) return state;
	const { key, turn, title, why } = waiting;
	const line: LineRow = { kind: "line", key: `${key}-over`, turn, state: "retry", title, detail: why };
	return { ...state, rows: state.rows.with(state.rows.lastIndexOf(waiting), line) };
}

/** The last row, if it is still being written. */
function openStream({ rows }: VariantState): StreamRow | null {
	const last = rows.at(-1);
	return (last?.kind === "text" || last?.kind === "thinking") && last.to === null ? last : null;
}

function endStream(state: VariantState): VariantState {
	const last = openStream(state);
	return last ? replaceLast(state, { ...last, to: state.at }) : state;
}

function replaceLast(state: VariantState, row: Row): VariantState {
	return { ...state, rows: state.rows.with(-1, row) };
}

/** Adds a row to the turn. Only the last row can still be growing. */
function append(before: VariantState, row: Row): VariantState {
	const state = endStream(before);
	return { ...state, rows: [...state.rows, row], made: state.made + 1 };
}

/** The common fields of a new row. */
function place(state: VariantState, kind: Row["kind"]): BaseRow {
	return { key: `${kind}-${state.made}`, turn: state.turn };
}

function stream(state: VariantState, kind: StreamRow["kind"], text: string): VariantState {
	const last = openStream(state);
	if (last?.kind === kind) return replaceLast(state, { ...last, text: last.text + text });
	return append(close(state), { kind, ...place(state, kind), text, from: state.at, to: null });
}

function startTool(state: VariantState, call: Pick<ToolRow, "call_id" | "name" | "title">): VariantState {
	if (toolIndex(state, call.call_id) >= 0) return state;
	return append(state, new ToolRow(call, state.turn, state.at));
}

function toolIndex(state: VariantState, call_id: string): number {
	return state.rows.findLastIndex((row) => row.kind === "tool" && row.call_id === call_id);
}

function withTool(state: VariantState, call_id: string, change: (row: ToolRow) => ToolRow): VariantState {
	const index = toolIndex(state, call_id);
	const row = state.rows[index];
	return row?.kind === "tool" ? { ...state, rows: state.rows.with(index, change(row)) } : state;
}

function changeTool(state: VariantState, event: ToolEvent): VariantState {
	return withTool(state, event.call_id, (row) => toolRowAfter(row, event));
}

function lineRow(state: VariantState, { title, detail }: Pick<Note, "title" | "detail">): LineRow {
	return { kind: "line", ...place(state, "line"), state: "info", title, detail };
}

/** The plan stays in its first row. */
function updatePlan(state: VariantState, event: PlanUpdated): VariantState {
	const row = { ...lineRow(state, event), plan: event.entries };
	const index = state.rows.findIndex((old) => old.kind === "line" && old.plan);
	const old = state.rows[index];
	if (!old) return append(state, row);
	return { ...state, rows: state.rows.with(index, { ...row, key: old.key, turn: old.turn }) };
}

/** Withdraws the model's output of this turn. */
function retry(before: VariantState, { attempt, most = 0, wait, why, at }: TurnRetrying): VariantState {
	const state = close({ ...before, phase: retryPhase(wait) });
	const isGone = (row: Row): boolean => row.turn === state.turn && row.kind !== "line";
	const rows = state.rows.filter((row) => !isGone(row));
	const calls = new Set(state.rows.filter(isGone).map((row) => (row.kind === "tool" ? row.call_id : "")));
	const files = withoutDrafts(state.files, (call_id) => calls.has(call_id));
	const title = most ? `Retry ${attempt} of ${most}` : "Retry";
	const row: RetryRow = { kind: "retry", ...place(state, "retry"), title, from: at, wait, why };
	return append({ ...state, rows, files }, row);
}

function fileOf(state: VariantState, path: string): FileState {
	const none = { media_type: "", versions: [], draft: null, unfinished: null, deleted: false };
	return state.files.get(path) ?? { path, ...none };
}

function withFile(state: VariantState, file: FileState): VariantState {
	return { ...state, files: new Map(state.files).set(file.path, file), newest: file.path };
}

function draftFile(before: VariantState, event: FileDelta): VariantState {
	const { call_id, text, offset } = event;
	const unnamed = event.path === "";
	const path = event.path || provisionalPath(before.files, call_id, text);
	const files = unnamed ? before.files : withNamed(before.files, call_id, path);
	const file = fileOf(before, path);
	const old = file.draft?.call_id === call_id ? file.draft : null;
	// A file that keeps its provisional path starts over with its current text.
	const becameNamed = old?.unnamed && !unnamed && text.startsWith(old.text);
	const grows = old !== null && (becameNamed || offset === old.points);
	const phase = { activity: "writing", subject: event.path || "a file" };
	const state = { ...before, files, phase, epochs: before.epochs + (grows ? 0 : 1) };
	const draft: FileDraft = {
		call_id,
		text: (grows && !becameNamed ? old.text : sliceToPoint(old?.text ?? "", offset)) + text,
		points: offset + countPoints(text),
		epoch: grows ? old.epoch : state.epochs,
		unnamed,
	};
	const next = withFile(state, { ...file, draft });
	return withTool(next, call_id, (row) => ({ ...row, path, written: draft.text.length, args_text: "" }));
}

function changeFile(state: VariantState, event: FileChanged): VariantState {
	const file = fileOf(state, event.path);
	const { path, action, size, added, removed } = event;
	// Changes before the first turn are the run's input files.
	const changes = state.changes + (state.turn > 0 ? 1 : 0);
	const version: Version = {
		number: event.version,
		change: changes,
		action,
		size,
		added,
		removed,
		first_line: event.first_line,
		...contents(file, event),
		patch: event.patch,
		unfinished: event.unfinished,
	};
	const next = withFile(
		{ ...state, changes },
		{
			path,
			media_type: event.media_type,
			versions: [...file.versions, version],
			draft: null,
			unfinished: null,
			deleted: action === "deleted",
		},
	);
	if (event.call_id === null) return next;
	const change: FileChange = { path, action, size, added, removed };
	return withTool(next, event.call_id, (row) => ({ ...row, change: joined(row.change, change) }));
}

/** Drops the draft of a call that was refused or changed nothing. The end of the run handles one that was cut off. */
function endWriting(state: VariantState, { call_id, code }: ToolFinished): VariantState {
	if (code === "STOPPED") return state;
	return { ...state, files: withoutDrafts(state.files, (other) => other === call_id) };
}

function finish(before: VariantState, event: RunFinished): VariantState {
	const { usage, cost, seconds: at, reason, error, answer = null } = event;
	const state = close(before);
	const rows = state.rows.map((row) => (row.kind === "tool" ? stopToolRow(row) : row));
	const phase = { activity: ENDINGS[reason].words };
	const files = endDrafts(state.files);
	const end = { phase, rows, files, usage, cost, at, reason, error, answer };
	return { ...state, ...end, busy: false, estimated: false };
}
