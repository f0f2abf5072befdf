// How many tries of a request agree, in the header; the one that counts is shown alone.

import { type Context, type FeatureView, openVariant, type Snapshot, shownOf } from "../view/context.ts";

function createWords(context: Context): (snapshot: Snapshot) => string {
	let opened = "";
	return ({ run, variants }) => {
		const number = run.ready?.variant ?? context.choices.variant;
		const shown = context.run.busy ? undefined : shownOf(run, "agree", number);
		if (shown?.agrees && variants.length > 1 && run.ready && opened !== run.id) {
			opened = run.id;
			queueMicrotask(() => openVariant(context, number)); // not while this frame is drawn
		}
		return shown?.text ?? "";
	};
}

export const agree: FeatureView = { header: createWords };
