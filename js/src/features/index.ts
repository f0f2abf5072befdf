// The views of features. `tsc` refuses a feature that shows something in Python and has no view here.

import type { FeatureData } from "../events.ts";
import { answer } from "./answer.ts";
import { answers } from "./answers.ts";
import { branch } from "./branch.ts";
import { numbers } from "./numbers.ts";
import type { FeatureView, Slots } from "./slots.ts";

const VIEWS = { answer, answers, branch, numbers } satisfies Record<keyof FeatureData, FeatureView> &
	Record<string, FeatureView>;

/** The functions of all features for a slot. */
export function viewsIn<Slot extends keyof Slots>(slot: Slot): Slots[Slot][] {
	const views: Partial<Slots>[] = Object.values(VIEWS);
	return views.flatMap((view) => view[slot] ?? []) as Slots[Slot][];
}
