// The transcript folded to one line. A press unfolds it, or opens the result if that is not beside it.

import { h, icon, setAttribute, setText } from "../../base/dom.ts";
import { plural, seconds, sumOf } from "../../base/format.ts";
import { changesOf } from "../../run/changes.ts";
import type { VariantState } from "../../run/state.ts";
import { currentState } from "../actions.ts";
import { saveLayout } from "../choices.ts";
import type { Context, Snapshot } from "../context.ts";
import { hasResult } from "../shown.ts";
import { answerOf } from "./answer.ts";
import { headingOf } from "./end-card.ts";

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
			element.setAttribute("aria-expanded", String(expanded));
			const files = resultText(state);
			setText(label, solo ? `Show ${files}` : [plural(state.turn, "turn"), ...thoughtFor(state)].join(", "));
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

/** Whether a run is read from its result: it has ended well, and has a result or an answer. */
export function isReadFirst({ choices }: Context, { run, state }: Snapshot): boolean {
	const hasEnded = !state.busy && !choices.replay && !headingOf(state, run);
	const hasAnswer = hasResult(state) || state.answer !== null || answerOf(state) !== null;
	return hasEnded && hasAnswer && choices.pane !== false;
}

/** "How: 3 steps, thought 0.2 s": the line below the field that unfolds the transcript of a run that has ended. */
export function createHow({ choices, redraw }: Context) {
	const label = h("span");
	const element = h("button", { class: "anb-fold anb-how", onclick }, icon("right", "chev"), label);
	const isOpen = (): boolean => choices.unfolded ?? choices.details === true;

	function onclick(): void {
		choices.unfolded = !isOpen();
		redraw();
	}
	return {
		element,
		update({ state }: Snapshot, transcript: HTMLElement) {
			const answer = hasResult(state) ? null : answerOf(state);
			const steps = state.rows.filter(({ kind }) => kind === "tool").length;
			const parts = [...(steps ? [plural(steps, "step")] : []), ...thoughtFor(state)];
			setText(label, ["How", parts.join(", ")].filter(Boolean).join(": "));
			element.hidden = state.images.length === 0 && state.rows.every((row) => row === answer);
			setAttribute(element, "aria-expanded", String(isOpen()));
			transcript.hidden = element.hidden || !isOpen();
		},
	};
}

/** How long the model has thought; nothing if it has not. */
function thoughtFor({ rows }: VariantState): string[] {
	const thought = sumOf(rows, (row) => (row.kind === "thinking" ? (row.to ?? row.from) - row.from : 0));
	return thought > 0 ? [`thought ${seconds(thought)}`] : [];
}
