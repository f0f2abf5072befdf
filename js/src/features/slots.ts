// The places where features show something on the page.

import type { View } from "../dom.ts";
import type { FeatureData } from "../events.ts";
import type { RunState } from "../runs.ts";
import type { Context, Snapshot, VariantPart } from "../view/context.ts";

/** A part of the row of names that the code of a run has left: in the row after "Keep", and below it. */
export interface NamesPart {
	readonly inRow: HTMLElement;
	readonly below: HTMLElement;
	update(): void;
}

/** A last row of the transcript. */
export interface RowPart {
	readonly element: HTMLElement;
	/** Returns whether it is visible. */
	update(snapshot: Snapshot): boolean;
}

export interface Slots {
	/** In the transcript's last text and in the answer below it. The function that it returns is called with every change. */
	answer(context: Context, log: HTMLElement): (snapshot: Snapshot) => void;
	names(context: Context): NamesPart;
	row(context: Context): RowPart;
	/** Below the transcript and the result, or below all variants. */
	below(context: Context): View<Snapshot>;
	/** In the grid, below the text of a variant. */
	cell(context: Context): VariantPart;
	/** A button of a variant. */
	action(context: Context): VariantPart;
	/** Whether a variant without files has something to pick. */
	hasResult(context: Context, variant: number): boolean;
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
