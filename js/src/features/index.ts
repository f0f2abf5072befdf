// The views of features. `tsc` refuses a feature that shows something in Python and has no view here.

import type { FeatureData } from "../events.ts";
import { numbers } from "./numbers.ts";
import type { FeatureView, Slots } from "./slots.ts";

const VIEWS = { numbers } satisfies Record<keyof FeatureData, FeatureView>;

/** The functions of all features for a slot. */
export function viewsIn<Slot extends keyof Slots>(slot: Slot): Slots[Slot][] {
	const views: Partial<Slots>[] = Object.values(VIEWS);
	return views.flatMap((view) => view[slot] ?? []) as Slots[Slot][];
}
