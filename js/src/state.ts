// What a run looks like so far: a pure function of its events. Only this file knows what an event means.

import type { Event, FileChanged, FileDelta, Json, Reason, Thumbnail, Usage } from "./events.ts";
import { type Change, contents, type Draft, type FileState, joined, type Version } from "./filestate.ts";
import { phaseAfter } from "./phase.ts";
import { countPoints, sliceToPoint } from "./text.ts";
import { newToolRow, stopToolRow, type ToolEvent, type ToolRow, toolRowAfter } from "./toolrow.ts";

export { type FileState, textOf, type Version } from "./filestate.ts";
export type { ToolRow, ToolStatus } from "./toolrow.ts";

export interface ThinkingRow {
	kind: "thinking";
	key: string;
	text: string;
	from: number;
	/** When it ended; null while the model still thinks. */
	to: number | null;
}

export interface TextRow {
	kind: "text";
	key: string;
	text: string;
	done: boolean;
}

export interface RetryRow {
	kind: "retry";
	key: string;
	attempt: number;
	wait: number;
	why: string;
	over: boolean;
}

export type Row = ThinkingRow | TextRow | ToolRow | RetryRow;

export interface Turn {
	step: number;
	row: number;
}

export interface VariantState {
	phase: string;
	model: string;
	settings: Json;
	/** The pictures given with the prompt. */
	images: readonly Thumbnail[];
	busy: boolean;
	step: number;
	usage: Usage;
	cost: number | null;
	estimated: boolean;
	/** The run's clock at the newest event. */
	at: number;
	reason: Reason | null;
	error: string | null;
	rows: readonly Row[];
	/** Where the current turn's rows begin: a retry withdraws them. */
	turnRow: number;
	/** Each turn, and the row before which it began. */
	turns: readonly Turn[];
	files: ReadonlyMap<string, FileState>;
	/** The path of the file that changed last. */
	newest: string | null;
	epochs: number;
}

const NO_USAGE: Usage = { input: 0, cached_read: 0, cached_write: 0, output: 0, reasoning: 0 };

export const EMPTY: VariantState = {
	phase: "starting",
	model: "",
	settings: {},
	images: [],
	busy: true,
	step: 0,
	usage: NO_USAGE,
	cost: null,
	estimated: false,
	at: 0,
	reason: null,
	error: null,
	rows: [],
	turnRow: 0,
	turns: [],
	files: new Map(),
	newest: null,
	epochs: 0,
};

/** The state after one more event. */
export function reduce(before: VariantState, event: Event): VariantState {
	const state = { ...before, at: Math.max(before.at, event.at), phase: phaseAfter(before.phase, event) };
	switch (event.type) {
		case "run_started":
			return { ...state, model: event.model, settings: event.settings, images: event.images ?? [] };
		case "turn_started":
			return startTurn(close(state), event.step);
		case "thinking_delta":
			return think(state, event.text, event.at);
		case "text_delta":
			return say(state, event.text);
		case "turn_retrying":
			return withdraw(state, event.attempt, event.wait, event.why);
		case "turn_finished":
			return close(state);
		case "file_delta":
			return draftFile(state, event);
		case "file_changed":
			return changeFile(state, event);
		case "usage_updated":
			return { ...state, usage: event.usage, cost: event.cost, estimated: event.estimated };
		case "message_added":
			return state;
		case "run_finished":
			return finish(state, event.reason, event.error, {
				usage: event.usage,
				cost: event.cost,
				at: event.seconds,
			});
		case "tool_started":
			return startTool(close(state), event);
		case "approval_requested":
			return changeTool(startTool(state, event), event);
		default:
			return changeTool(state, event);
	}
}

function startTurn(state: VariantState, step: number): VariantState {
	const row = state.rows.length;
	return { ...state, step, turnRow: row, turns: [...state.turns, { step, row }] };
}

/** Ends the thinking or the text that was being written. */
function close(state: VariantState): VariantState {
	const last = state.rows.at(-1);
	if (last?.kind === "thinking" && last.to === null) return replaceLast(state, { ...last, to: state.at });
	if (last?.kind === "text" && !last.done) return replaceLast(state, { ...last, done: true });
	if (last?.kind === "retry" && !last.over) return replaceLast(state, { ...last, over: true });
	return state;
}

function replaceLast(state: VariantState, row: Row): VariantState {
	return { ...state, rows: state.rows.with(-1, row) };
}

function append(state: VariantState, row: Row): VariantState {
	return { ...state, rows: [...state.rows, row] };
}

function think(state: VariantState, text: string, at: number): VariantState {
	const last = state.rows.at(-1);
	if (last?.kind === "thinking" && last.to === null)
		return replaceLast(state, { ...last, text: last.text + text });
	const key = `thinking-${state.rows.length}`;
	return append(close(state), { kind: "thinking", key, text, from: at, to: null });
}

function say(state: VariantState, text: string): VariantState {
	const last = state.rows.at(-1);
	if (last?.kind === "text" && !last.done) return replaceLast(state, { ...last, text: last.text + text });
	return append(close(state), { kind: "text", key: `text-${state.rows.length}`, text, done: false });
}

function startTool(
	state: VariantState,
	call: { call_id: string; name: string; title: string },
): VariantState {
	if (toolIndex(state, call.call_id) >= 0) return state;
	return append(state, newToolRow(call, state.at));
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

/** A retry takes back what the turn has shown so far. */
function withdraw(state: VariantState, attempt: number, wait: number, why: string): VariantState {
	const calls = new Set(
		state.rows.slice(state.turnRow).map((row) => (row.kind === "tool" ? row.call_id : "")),
	);
	const files = new Map<string, FileState>();
	for (const [path, file] of state.files) {
		const kept = file.draft && calls.has(file.draft.call_id) ? { ...file, draft: null } : file;
		if (kept.draft || kept.versions.length) files.set(path, kept);
	}
	const rows: Row[] = [...close(state).rows.slice(0, state.turnRow)];
	rows.push({ kind: "retry", key: `retry-${rows.length}`, attempt, wait, why, over: false });
	return { ...state, rows, files, turnRow: rows.length };
}

function fileOf(state: VariantState, path: string): FileState {
	return state.files.get(path) ?? { path, media_type: "", versions: [], draft: null, deleted: false };
}

function withFile(state: VariantState, file: FileState): VariantState {
	return { ...state, files: new Map(state.files).set(file.path, file), newest: file.path };
}

function draftFile(before: VariantState, event: FileDelta): VariantState {
	const { path, call_id, text, offset } = event;
	const file = fileOf(before, path);
	const old = file.draft?.call_id === call_id ? file.draft : null;
	const grows = old !== null && offset === old.points;
	const state = grows ? before : { ...before, epochs: before.epochs + 1 };
	const draft: Draft = {
		call_id,
		text: (grows ? old.text : sliceToPoint(old?.text ?? "", offset)) + text,
		points: offset + countPoints(text),
		epoch: grows ? old.epoch : state.epochs,
	};
	const next = withFile(state, { ...file, draft });
	return withTool(next, call_id, (row) => ({ ...row, path, written: draft.text.length, args_text: "" }));
}

function changeFile(state: VariantState, event: FileChanged): VariantState {
	const file = fileOf(state, event.path);
	const { path, action, size, added, removed } = event;
	const version: Version = {
		number: event.version,
		action,
		size,
		added,
		removed,
		first_line: event.first_line,
		...contents(file, event),
		patch: event.patch,
	};
	const next = withFile(state, {
		path,
		media_type: event.media_type,
		versions: [...file.versions, version],
		draft: null,
		deleted: action === "deleted",
	});
	if (event.call_id === null) return next;
	const change: Change = { path, action, size, added, removed };
	return withTool(next, event.call_id, (row) => ({ ...row, change: joined(row.change, change) }));
}

function finish(
	before: VariantState,
	reason: Reason,
	error: string | null,
	facts: { usage: Usage; cost: number | null; at: number },
): VariantState {
	const state = close(before);
	const rows = state.rows.map((row) => (row.kind === "tool" ? stopToolRow(row) : row));
	return { ...state, ...facts, rows, reason, error, busy: false, estimated: false };
}
