// The questions that are open in a run: one queue over all its variants.

import type { Json } from "./events.ts";
import { sameJson } from "./json.ts";
import type { ToolRow } from "./tool-call.ts";
import type { Variant } from "./variants.ts";
import type { Form, Problems } from "./view/transcript/form.ts";

export interface Question {
	readonly variant: number;
	readonly row: ToolRow;
}

/** The open questions of all variants, in the order in which they were asked. */
export function questionsOf(variants: readonly Variant[]): Question[] {
	const open = variants.filter(({ state }) => state.busy);
	const questions = open.flatMap(({ number, state }) =>
		state.rows.flatMap((row) =>
			row.kind === "tool" && row.status === "asking" ? [{ variant: number, row }] : [],
		),
	);
	return questions.sort((one, other) => one.row.asked - other.row.asked);
}

/** Names a question: a call may be asked about twice. */
export function questionKey({ variant, row }: Question): string {
	return `${variant} ${row.call_id} ${row.asked}`;
}

/** How many open questions one answer may approve: calls of one tool with the same arguments, but never code. */
export function countAlike(questions: readonly Question[], { name, args, identical_only }: ToolRow): number {
	if (identical_only) return 1;
	return questions.filter(({ row }) => row.name === name && sameJson(row.args, args)).length;
}

/** What the user has typed into the card of a question. It outlives the card's elements. */
export interface AnswerDraft {
	note: string;
	editing: boolean;
	/** The fields, once Edit has been pressed. */
	form: Form | null;
	/** The arguments as they were changed; null while they are as proposed. */
	args: Json | null;
	/** What is wrong with them, by argument. */
	problems: Problems;
	/** Whether the end of the call was in view, or the user has asked for all of it. */
	seen: boolean;
}

export function newDraft(): AnswerDraft {
	return { note: "", editing: false, form: null, args: null, problems: {}, seen: false };
}
