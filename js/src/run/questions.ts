// The open approval requests of a run: one queue across all variants.

import { sameJson } from "../base/json.ts";
import type { Json } from "./events.ts";
import type { ToolRow } from "./tool-call.ts";
import type { Variant } from "./variants.ts";

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
