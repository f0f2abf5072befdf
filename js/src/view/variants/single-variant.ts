// One variant in full: its transcript beside its result.

import { h, hasFocus, moveFocus } from "../../base/dom.ts";
import { EMPTY } from "../../run/state.ts";
import { askingTitle } from "../../run/variants.ts";
import type { BodyView, Context } from "../context.ts";
import { createResult } from "../result/result.ts";
import { createSplitter } from "../shared/splitter.ts";
import { hasResult } from "../shown.ts";
import { endedEarly } from "../transcript/end-card.ts";
import { createFoldLine } from "../transcript/folded-transcript.ts";
import { createTimeline } from "../transcript/timeline.ts";

export function createSingle(context: Context): BodyView {
	const timeline = createTimeline(context);
	const result = createResult(context);
	const fold = createFoldLine(context);
	const element = h("div", { class: "anb-body" });
	const split = createSplitter(element);
	element.append(h("div", { class: "anb-left" }, fold.element, timeline.element, split), result.element);

	return {
		element,
		update(snapshot) {
			const { state } = snapshot;
			const solo = isSolo(context);
			// The result slides in if the user has seen the transcript without it.
			element.classList.toggle("slides", !solo && element.matches(".solo, .slides"));
			element.classList.toggle("solo", solo);
			element.hidden =
				isFitted(context) && state.rows.length === 0 && !state.error && !context.choices.replay;
			const { replay } = context.choices;
			const open = context.choices.unfolded ?? (endedEarly(state) || !hasResult(state));
			// A question is never folded away.
			const alone = context.choices.alone && !solo && askingTitle(state) === null;
			const hadFocus = hasFocus(fold.element);
			element.classList.toggle("alone", alone);
			element.classList.toggle("folded", alone || (!state.busy && !open && !replay && !solo));
			result.element.hidden = solo;
			timeline.update(snapshot);
			if (!solo) result.update(snapshot);
			fold.update(snapshot, solo, alone, open);
			if (hadFocus && fold.element.offsetParent === null) moveFocus(timeline.element);
		},
		tick: (snapshot) => timeline.tick(snapshot),
	};
}

/** Whether the transcript has the full width: there is no result yet, or the user chose it. */
export function isSolo({ run, choices }: Context): boolean {
	return !(choices.pane ?? hasResult(run.state?.variants.get(choices.variant) ?? EMPTY));
}

/** Whether the frame is as high as its transcript: the variant has ended, and its result is hidden. */
export function isFitted(context: Context): boolean {
	const { run, choices } = context;
	return isSolo(context) && run.state?.variants.get(choices.variant)?.busy === false;
}
