// What every view may use: the run, the person's choices, and the ways to act.

import type { Option } from "../options.ts";
import type { VariantState } from "../state.ts";
import type { RunEntry, RunState } from "../store.ts";
import type { Choices } from "../ui.ts";

export interface Context {
	readonly run: RunEntry;
	readonly choices: Choices;
	readonly signal: AbortSignal;
	/** Draws again: a choice has changed. */
	redraw(): void;
	/** Says something to a screen reader, once and at once. */
	announce(text: string): void;
	/** The same, and for a moment to the eye. */
	tell(text: string): void;
}

/** What a draw draws. */
export interface Moment {
	readonly run: RunState;
	/** Of the variant that is looked at. */
	readonly state: VariantState;
	/** The run's clock, now. */
	readonly now: number;
	/** Every variant; one for a run that has no others. */
	readonly options: readonly Option[];
}

/** What fills the frame between the header and the footer. */
export interface BodyView {
	readonly element: HTMLElement;
	update(moment: Moment): void;
	/** Moves what moves by itself: the seconds of what is at work. */
	tick(moment: Moment): void;
}

/** What moves by itself in the rows of a transcript, such as the seconds of the one at work. */
export type Ticking = Set<(moment: Moment) => void>;

export const ANSWER_WITHIN = 1000;

type Reply = { ok: boolean; error?: unknown };

/** What came of a command: done, or why not: the kernel's sentence, or the hint when no answer came in time. */
export type Outcome = { done: true } | { done: false; why: string };

export async function outcome(
	answer: Promise<Reply>,
	hint: string,
	within = ANSWER_WITHIN,
): Promise<Outcome> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const late = new Promise<Outcome>((resolve) => {
		timer = setTimeout(() => resolve({ done: false, why: hint }), within);
	});
	const first = await Promise.race([answer.then(toOutcome), late]);
	clearTimeout(timer);
	return first;
}

/** Tells what comes of a command as long as its view is there: the hint after a while, and the answer whenever it comes. */
export function follow(
	{ signal }: Context,
	answer: Promise<Reply>,
	hint: string,
	tell: (result: Outcome) => void,
): void {
	const timer = setTimeout(() => signal.aborted || tell({ done: false, why: hint }), ANSWER_WITHIN);
	void answer.then((reply) => {
		clearTimeout(timer);
		if (!signal.aborted) tell(toOutcome(reply));
	});
}

/** The same in the last line: what went wrong, until it turns out well. */
export function note(
	context: Context,
	answer: Promise<Reply>,
	hint: string,
	tell: (result: Outcome) => void,
): void {
	const { choices } = context;
	follow(context, answer, hint, (result) => {
		if (!result.done) choices.note = result.why;
		else if (choices.note === hint) choices.note = "";
		tell(result);
		context.redraw();
	});
}

function toOutcome(reply: Reply): Outcome {
	return reply.ok ? { done: true } : { done: false, why: String(reply.error ?? "The kernel refused.") };
}
