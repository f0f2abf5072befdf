// What there is to draw right now: the state of every variant, live or as its replay shows it, and its clock.

import { choicesFor, currentState } from "../../actions.ts";
import type { RunEntry } from "../../runs.ts";
import type { VariantState } from "../../state.ts";
import type { Choices } from "../../ui.ts";
import { askingTitle, toVariants, type Variant } from "../../variants.ts";
import type { Snapshot } from "../context.ts";

export function createSnapshots(run: RunEntry, choices: Choices): () => Snapshot | null {
	const clock = createClock();

	function timeOf(variant: number, state: VariantState): number {
		const { replay } = choices;
		return replay && replay.tape === run.tape(variant) ? replay.time : clock(variant, state);
	}

	function variants(): Variant[] {
		const count = 1 + Math.max(0, ...(run.state?.variants.keys() ?? []));
		return toVariants(
			Array.from({ length: count }, (_, number) => {
				const state = currentState({ run, choices: choicesFor(choices, number) });
				return { number, state, now: timeOf(number, state) };
			}),
		);
	}

	return () => {
		if (!run.state) return null;
		const state = currentState({ run, choices });
		return { run: run.state, state, now: timeOf(choices.variant, state), variants: variants() };
	};
}

/** Each variant's own clock, which runs on between its events and stops while a question is open. */
export function createClock(): (variant: number, state: VariantState) => number {
	const seen = new Map<number, { at: number; since: number }>();
	return (variant, state) => {
		const { at, busy } = state;
		if (!busy) return at;
		const known = seen.get(variant);
		const runs = known?.at === at && askingTitle(state) === null;
		const mark = runs ? known : { at, since: performance.now() };
		if (!runs) seen.set(variant, mark);
		return at + (performance.now() - mark.since) / 1000;
	};
}
