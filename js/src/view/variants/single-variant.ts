// One variant in full. While it works, its transcript is beside its result; then the result comes first, and the transcript
// is folded below the field.

import { h, hasFocus, moveFocus } from "../../base/dom.ts";
import { EMPTY } from "../../run/state.ts";
import { askingTitle } from "../../run/variants.ts";
import type { BodyView, Context, Snapshot } from "../context.ts";
import { createResult } from "../result/result.ts";
import { createSplitter } from "../shared/splitter.ts";
import { hasResult } from "../shown.ts";
import { endedEarly } from "../transcript/end-card.ts";
import { createFoldLine, createHow, isReadFirst } from "../transcript/folded-transcript.ts";
import { createTimeline } from "../transcript/timeline.ts";

/** `below` is the place of the folded transcript. */
export function createSingle(context: Context, below: HTMLElement): BodyView {
	const timeline = createTimeline(context);
	const result = createResult(context);
	const fold = createFoldLine(context);
	const how = createHow(context);
	const element = h("div", { class: "anb-body" });
	const split = createSplitter(element);
	const left = h("div", { class: "anb-left" }, fold.element, timeline.element, split);
	element.append(left, result.element);

	/** Moves the answer above the field and the transcript below it, or both back. */
	function arrange(isRead: boolean): void {
		if (element.classList.contains("read") === isRead) return;
		const hadFocus = hasFocus(below) || hasFocus(timeline.element);
		element.classList.toggle("read", isRead);
		if (isRead) {
			below.append(how.element, timeline.element);
			element.append(timeline.answer);
		} else {
			how.element.remove();
			timeline.element.hidden = false;
			split.before(timeline.element);
			timeline.element.firstElementChild?.append(timeline.answer);
		}
		if (hadFocus) moveFocus(isRead ? how.element : timeline.element);
	}

	return {
		element,
		update(snapshot) {
			const isRead = isReadFirst(context, snapshot);
			arrange(isRead);
			const { solo, alone, open } = drawLayout(context, element, snapshot);
			const hadFocus = hasFocus(fold.element);
			result.element.hidden = solo;
			timeline.update(snapshot);
			if (isRead) how.update(snapshot, timeline.element);
			if (!solo) result.update(snapshot);
			fold.update(snapshot, solo, alone, open);
			left.hidden = isRead && (!solo || fold.element.hidden);
			if (hadFocus && fold.element.offsetParent === null) moveFocus(timeline.element);
		},
		tick: (snapshot) => timeline.tick(snapshot),
	};
}

function drawLayout(context: Context, body: HTMLElement, { state }: Snapshot) {
	const { choices } = context;
	const { replay, unfolded } = choices;
	const solo = isSolo(context);
	const open = unfolded ?? (endedEarly(state) || !hasResult(state));
	// A question is never folded away.
	const alone = choices.alone && !solo && !body.classList.contains("read") && askingTitle(state) === null;
	// The result slides in if the user has seen the transcript without it.
	body.classList.toggle("slides", !solo && body.matches(".solo, .slides"));
	body.classList.toggle("solo", solo);
	body.classList.toggle("alone", alone);
	body.classList.toggle("folded", alone || (!state.busy && !open && !replay && !solo));
	body.hidden = isFitted(context) && state.rows.length === 0 && !state.error && !replay;
	return { solo, alone, open };
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
