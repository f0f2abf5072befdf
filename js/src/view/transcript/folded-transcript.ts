// The transcript folded to one line. A press unfolds it, or opens the result if that is not beside it.

import { h, icon, setText } from "../../base/dom.ts";
import { plural, seconds, sumOf } from "../../base/format.ts";
import { changesOf } from "../../run/changes.ts";
import type { VariantState } from "../../run/state.ts";
import { currentState } from "../actions.ts";
import { saveLayout } from "../choices.ts";
import type { Context, Snapshot } from "../context.ts";
import { hasResult } from "../shown.ts";

/** Toggles between the result alone, with the transcript folded to a line, and both. */
export function showAlone({ choices, redraw }: Context, alone: boolean): void {
	Object.assign(choices, { alone, unfolded: !alone });
	saveLayout({ alone });
	redraw();
}

/** Shows or hides the result beside the transcript. It starts on Code if there is no page to preview. */
export function showPane(context: Context, pane: boolean): void {
	const { choices, redraw } = context;
	choices.pane = pane;
	if (pane && !hasResult(currentState(context))) choices.tab = "code";
	redraw();
}

/** The folded transcript: in a narrow frame when the run has ended, at any width when the result is shown alone. */
export function createFoldLine(context: Context) {
	const label = h("span");
	const facts = h("span");
	let [solo, expanded] = [false, false];
	const gap = h("span", { class: "sp" });
	const element = h("button", { class: "anb-fold", onclick }, icon("right", "chev"), label, gap, facts);

	function onclick(): void {
		const { choices } = context;
		if (solo) showPane(context, true);
		else if (choices.alone) showAlone(context, false);
		else choices.unfolded = !expanded;
		context.redraw();
	}
	return {
		element,
		update({ state }: Snapshot, isSolo: boolean, alone: boolean, open: boolean) {
			solo = isSolo;
			expanded = !solo && !alone && open;
			const whole = solo
				? state.files.size === 0 && !hasResult(state)
				: state.busy || context.choices.replay !== null;
			element.hidden = !alone && whole;
			if (element.hidden) return;
			const thought = sumOf(state.rows, (row) =>
				row.kind === "thinking" ? (row.to ?? row.from) - row.from : 0,
			);
			element.setAttribute("aria-expanded", String(expanded));
			const thinking = thought > 0 ? `, thought for ${seconds(thought)}` : "";
			const files = resultText(state);
			setText(label, solo ? `Show ${files}` : plural(state.turn, "turn") + thinking);
			setText(facts, solo ? "" : files);
		},
	};
}

/** "2 files, 3 versions", or the number of changes to cells if there are no files. */
function resultText(state: VariantState): string {
	const changes = changesOf(state).length;
	if (changes && !state.files.size) return plural(changes, "change");
	const versions = sumOf([...state.files.values()], (file) => file.versions.length);
	return `${plural(state.files.size, "file")}, ${plural(versions, "version")}`;
}
