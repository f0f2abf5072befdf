// The places where features show something on the page.

import type { FeatureData } from "../events.ts";
import type { RunState } from "../runs.ts";
import type { Context, Snapshot, VariantPart } from "../view/context.ts";

export interface Slots {
	/** In the transcript's last text and in the answer below it. The function that it returns is called with every change. */
	answer(context: Context, log: HTMLElement): (snapshot: Snapshot) => void;
	/** In the grid, below the text of a variant. */
	cell(context: Context): VariantPart;
}

/** What a feature shows: the function of at least one slot. */
export type FeatureView = Partial<Slots> & { [Slot in keyof Slots]: Pick<Slots, Slot> }[keyof Slots];

/** What a feature shows of a variant, once it has arrived. */
export function shownOf<Name extends keyof FeatureData>(
	{ ready, meta }: RunState,
	name: Name,
	variant: number,
): FeatureData[Name] | undefined {
	const { features = {} } = ready ?? meta;
	return features[name]?.[variant];
}
