// What there is to draw right now: the state of every variant, live or as its replay shows it, and its clock.

import { choicesFor, currentState } from "../actions.ts";
import type { RunEntry } from "../runs.ts";
import type { VariantState } from "../state.ts";
import type { Choices } from "../ui.ts";
import { toVariants, type Variant } from "../variants.ts";
import type { Snapshot } from "./context.ts";

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

/** Each variant's own clock, which runs on between its events. */
function createClock(): (variant: number, state: Pick<VariantState, "at" | "busy">) => number {
	const seen = new Map<number, { at: number; since: number }>();
	return (variant, { at, busy }) => {
		if (!busy) return at;
		const known = seen.get(variant);
		const mark = known?.at === at ? known : { at, since: performance.now() };
		if (mark !== known) seen.set(variant, mark);
		return at + (performance.now() - mark.since) / 1000;
	};
}
