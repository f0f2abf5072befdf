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

export const ANSWER_WITHIN = 1000;

/** What came of a command: done, or why not: the kernel's sentence, or the hint when no answer came in time. */
export type Outcome = { done: true } | { done: false; why: string };

export async function outcome(
	answer: Promise<{ ok: boolean; error?: unknown }>,
	hint: string,
	within = ANSWER_WITHIN,
): Promise<Outcome> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const late = new Promise<Outcome>((resolve) => {
		timer = setTimeout(() => resolve({ done: false, why: hint }), within);
	});
	const told = answer.then(
		(reply): Outcome =>
			reply.ok ? { done: true } : { done: false, why: String(reply.error ?? "The kernel refused.") },
	);
	const first = await Promise.race([told, late]);
	clearTimeout(timer);
	return first;
}
