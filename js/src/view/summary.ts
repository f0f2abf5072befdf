// What a cell of the grid and a column beside others both show of a variant.

import { choicesFor } from "../actions.ts";
import { h, setAttribute, setText } from "../dom.ts";
import { askingTitle, type Option } from "../options.ts";
import type { VariantState } from "../state.ts";
import type { Context, Moment } from "./context.ts";
import { createHeld, createPick, createStanding, createStopOrOpen, factsOf, openOption } from "./option.ts";
import { createPreview } from "./preview.ts";

export function createSummary(context: Context, number: number) {
	const own: Context = { ...context, choices: choicesFor(context.choices, number) };
	const name = h("b", null, `Option ${number + 1}`);
	const model = h("span");
	const facts = h("span");
	const parts = {
		held: createHeld(),
		standing: createStanding(),
		pick: createPick(context),
		swap: createStopOrOpen(context, own),
		answer: createAnswer(context, number),
	};
	return {
		...parts,
		own,
		name,
		model,
		facts,
		update(option: Option, moment: Moment) {
			setText(model, option.model);
			setAttribute(model, "title", option.state.model);
			setText(facts, factsOf(option));
			for (const part of Object.values(parts)) part.update(option, moment);
			parts.pick.element.hidden ||= !parts.answer.element.hidden;
		},
	};
}

/** Leads to a question, which is answered where it can be read whole. */
function createAnswer(context: Context, number: number) {
	const element = h(
		"button",
		{ class: "anb-btn sm primary anb-answer", type: "button", onclick: () => openOption(context, number) },
		"Answer",
	);
	return {
		element,
		update(option: Option) {
			const title = askingTitle(option.state);
			element.hidden = title === null;
			if (title !== null) setAttribute(element, "aria-label", `Answer ${option.label}: ${title}`);
		},
	};
}

const SILENT = { add: () => {}, clear: () => {} };

/** A preview among others: it has no console, and draws only when something it shows has changed. */
export function createQuietPreview(own: Context, thumbnail: number | null = null) {
	const preview = createPreview(own, SILENT, thumbnail);
	let drawn: { state: VariantState; loads: number; file: string | null } | null = null;
	return {
		element: preview.element,
		update(state: VariantState) {
			const { loads } = own.run;
			const { file } = own.choices;
			if (drawn?.state === state && drawn.loads === loads && drawn.file === file) return;
			preview.update({ state });
			drawn = { state, loads, file };
		},
	};
}
