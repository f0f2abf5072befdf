// Written by `make events` from `core/events.py`, `run/protocol.py` and the features in `agent_nb/`. Do not edit.

export type Json = Record<string, unknown>;
export type MimeBundle = Json;
/** Replace `count` lines from line `start` (0-based) by `text`. */
export type LinePatch = [start: number, count: number, text: string];

export type Reason =
	| "end_turn"
	| "max_tokens"
	| "max_steps"
	| "max_seconds"
	| "budget"
	| "refusal"
	| "stopped"
	| "interrupted"
	| "failed";
export type Stop = "end_turn" | "tool_use" | "max_tokens" | "refusal" | "go_on";
export type FileAction = "created" | "edited" | "deleted";
export type WhyCompacted = "asked" | "full" | "refused";
export type Decider = "person" | "always" | "run" | "function" | "policy" | "nobody" | "stopped";
export type PlanStatus = "pending" | "in_progress" | "completed";
export type ToolErrorCode =
	| "UNKNOWN_TOOL"
	| "INVALID_JSON"
	| "SCHEMA"
	| "DENIED"
	| "TIMEOUT"
	| "FAILED"
	| "STOPPED"
	| "NOT_A_CALL";
export type BoundKind = "value" | "function" | "filled";
export type CellAction = "change" | "insert" | "delete";
export type CellType = "code" | "markdown" | "raw";
export type ChangeDecision = "accepted" | "refused" | "open";

export interface Usage {
	input: number;
	cached_read: number;
	cached_write: number;
	output: number;
	reasoning: number;
}

export interface Thumbnail {
	name: string;
	width: number;
	height: number;
	data: string;
	size: number;
}

export interface PlanEntry {
	text: string;
	status: PlanStatus;
}

export interface BaseEvent {
	run_id: string;
	seq: number;
	at: number;
	variant: number;
}

export interface RunStarted extends BaseEvent {
	type: "run_started";
	prompt: string;
	model: string;
	base: string | null;
	settings: Json;
	images: Thumbnail[];
}

export interface RunFinished extends BaseEvent {
	type: "run_finished";
	reason: Reason;
	usage: Usage;
	cost: number | null;
	seconds: number;
	error: string | null;
	other_models: string[];
	answer: unknown;
	values: Json;
}

export interface TurnStarted extends BaseEvent {
	type: "turn_started";
	step: number;
}

export interface TurnRetrying extends BaseEvent {
	type: "turn_retrying";
	attempt: number;
	wait: number;
	why: string;
	most: number;
}

export interface TurnFinished extends BaseEvent {
	type: "turn_finished";
	stop: Stop;
	usage: Usage;
	model: string;
}

export interface Note extends BaseEvent {
	type: "note";
	title: string;
	detail: string;
}

export interface ConversationCompacted extends BaseEvent {
	type: "conversation_compacted";
	title: string;
	detail: string;
	why: WhyCompacted;
	before: number;
	after: number;
	limit: number | null;
	rewritten: number;
	summarized: number;
}

export interface PlanUpdated extends BaseEvent {
	type: "plan_updated";
	title: string;
	detail: string;
	entries: PlanEntry[];
}

export interface ToolRunning extends BaseEvent {
	type: "tool_running";
	call_id: string;
	title: string;
}

export interface ToolProgress extends BaseEvent {
	type: "tool_progress";
	call_id: string;
	text: string;
	output: MimeBundle | null;
}

export interface ToolFinished extends BaseEvent {
	type: "tool_finished";
	call_id: string;
	ok: boolean;
	summary: string;
	outputs: MimeBundle[];
	seconds: number;
	code: ToolErrorCode | null;
	hint: string;
}

export interface ApprovalRequested extends BaseEvent {
	type: "approval_requested";
	call_id: string;
	name: string;
	title: string;
	args: Json;
	description: string;
	schema: Json;
	identical_only: boolean;
	allows_whole_run: boolean;
	written: boolean;
	can_try: boolean;
	is_question: boolean;
	secrets: string[];
}

export interface ApprovalResolved extends BaseEvent {
	type: "approval_resolved";
	call_id: string;
	approved: boolean;
	note: string;
	by: Decider;
	proposed: Json | null;
	executed: Json | null;
}

export interface UsageUpdated extends BaseEvent {
	type: "usage_updated";
	usage: Usage;
	cost: number | null;
	estimated: boolean;
}

export interface TextDelta extends BaseEvent {
	type: "text_delta";
	text: string;
}

export interface ThinkingDelta extends BaseEvent {
	type: "thinking_delta";
	text: string;
}

export interface ToolStarted extends BaseEvent {
	type: "tool_started";
	call_id: string;
	name: string;
	title: string;
}

export interface ToolArgsDelta extends BaseEvent {
	type: "tool_args_delta";
	call_id: string;
	text: string;
}

export interface FileDelta extends BaseEvent {
	type: "file_delta";
	call_id: string;
	path: string;
	offset: number;
	text: string;
}

export interface ToolReady extends BaseEvent {
	type: "tool_ready";
	call_id: string;
	title: string;
	args: Json;
}

export interface FileChanged extends BaseEvent {
	type: "file_changed";
	path: string;
	version: number;
	action: FileAction;
	size: number;
	media_type: string;
	call_id: string | null;
	first_line: number;
	added: number;
	removed: number;
	patch: LinePatch[] | null;
	unfinished: boolean;
}

export type Event =
	| RunStarted
	| RunFinished
	| TurnStarted
	| TurnRetrying
	| TurnFinished
	| Note
	| ConversationCompacted
	| PlanUpdated
	| ToolRunning
	| ToolProgress
	| ToolFinished
	| ApprovalRequested
	| ApprovalResolved
	| UsageUpdated
	| TextDelta
	| ThinkingDelta
	| ToolStarted
	| ToolArgsDelta
	| FileDelta
	| ToolReady
	| FileChanged;

export interface Annotation {
	at: number | string;
	text: string;
	ask: string;
	choices: string[];
	answer: string;
	variant: number;
}

export interface ShownAgreement {
	text: string;
	agrees: boolean;
}

export interface ShownBranch {
	applies: boolean;
}

export interface ShownCode {
	blocks: string[];
}

export interface AnswerNumber {
	start: number;
	text: string;
	call_id: string;
	path: string | null;
}

export interface ShownNumbers {
	table: AnswerNumber[];
	above: string;
	below: string;
}

export interface FeatureData {
	agree: ShownAgreement;
	branch: ShownBranch;
	code_first: ShownCode;
	numbers: ShownNumbers;
}

/** By feature and variant. */
export type ShownFeatures = { [Name in keyof FeatureData]?: Record<number, FeatureData[Name]> };

export interface Repeat {
	text: string;
	label: string;
	ticked: boolean;
}

export interface BoundName {
	name: string;
	kind: BoundKind;
}

export interface CellChange {
	id: string;
	action: CellAction;
	cell_id: string;
	number: number;
	place: number;
	kind: CellType;
	before: string;
	after: string;
	secrets: string[];
}

export interface Decided {
	change: string;
	decision: ChangeDecision;
}

export interface Meta {
	key: string;
	name: string;
	model: string;
	demo: boolean;
	magic: string;
	default_model: string;
	repeats: Repeat[];
	network: boolean;
	about: string[];
	digest: string | null;
	failed_check: string;
	annotations: Annotation[];
	number: number;
	folds: boolean;
	stage: boolean;
	running_code: number[];
	bound: BoundName[];
	connected: boolean;
	undone: string[];
	reviewable: boolean;
	decided: Decided[];
	features: ShownFeatures;
	suggestions: string[][];
}

export interface Ready {
	line: string;
	variant: number;
	picked: boolean;
	paths: string[];
	digest: string;
	again: string;
	others: string[];
	failed_check: string;
	features: ShownFeatures;
	fix: CellChange | null;
}

export type Tone = "ok" | "warn" | "err" | "off";
export const ENDINGS: Record<Reason, { words: string; tone: Tone }> = {
	end_turn: { words: "done", tone: "ok" },
	max_tokens: { words: "cut off at the token limit", tone: "off" },
	max_steps: { words: "stopped at the step limit", tone: "off" },
	max_seconds: { words: "stopped at the time limit", tone: "off" },
	budget: { words: "stopped at the budget", tone: "off" },
	refusal: { words: "refused", tone: "warn" },
	stopped: { words: "stopped", tone: "off" },
	interrupted: { words: "stopped", tone: "off" },
	failed: { words: "failed", tone: "err" },
};
