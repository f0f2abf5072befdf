// The open approval requests of a run: one queue across all variants.

import type { Json, MimeBundle } from "./events.ts";
import { sameJson } from "./json.ts";
import type { ToolRow } from "./tool-call.ts";
import type { Variant } from "./variants.ts";
import type { Form, Problems } from "./view/transcript/form.ts";

export interface Question {
	readonly variant: number;
	readonly row: ToolRow;
}

/** The open questions of all variants, oldest first. */
export function questionsOf(variants: readonly Pick<Variant, "number" | "state">[]): Question[] {
	const open = variants.filter(({ state }) => state.busy);
	const questions = open.flatMap(({ number, state }) =>
		state.rows.flatMap((row) =>
			row.kind === "tool" && row.status === "asking" ? [{ variant: number, row }] : [],
		),
	);
	return questions.sort((a, b) => askedAt(a.row) - askedAt(b.row));
}

/** A unique id for a question: a call may need two approvals. */
export function questionKey({ variant, row }: Question): string {
	return `${variant} ${row.call_id} ${askedAt(row)}`;
}

/** The `seq` of the newest approval request of a call; 0 if there was none. */
export function askedAt({ request }: ToolRow): number {
	return request?.seq ?? 0;
}

/** The schema of the arguments; empty if they cannot be edited. */
export function schemaOf({ request }: ToolRow): Json {
	return request?.schema ?? {};
}

/** What `•••` stands for in the arguments. */
export function secretsOf({ request }: ToolRow): readonly string[] {
	return request?.secrets ?? [];
}

/** Whether the model asks the user something, instead of for an approval. */
export function isQuestion({ request }: ToolRow): boolean {
	return request?.is_question === true;
}

export function canEdit(row: ToolRow): boolean {
	return Object.keys(schemaOf(row)).length > 0;
}

/** The number of open questions that one answer may approve: identical calls of one tool, but never code. */
export function countAlike(questions: readonly Question[], { name, args, request }: ToolRow): number {
	if (request?.identical_only || request?.is_question) return 1;
	return questions.filter(({ row }) => row.name === name && sameJson(row.args, args)).length;
}

/** A trial of a call in a copy of the kernel: null while it runs, then what came of it. */
export interface Trial {
	result: { readonly outputs: readonly MimeBundle[]; readonly problem: string } | null;
}

/** The user's unsent input in the card of a question. It outlives the card's elements. */
export class AnswerDraft {
	note = "";
	editing = false;
	/** The fields, once Edit has been pressed. */
	form: Form | null = null;
	/** The edited arguments; null if unchanged. */
	args: Json | null = null;
	/** Validation problems, by argument. */
	problems: Problems = {};
	/** Whether the end of the call was in view, or the user has expanded all of it. */
	seen = false;
	/** The last trial of the call as it is now. */
	trial: Trial | null = null;
}
