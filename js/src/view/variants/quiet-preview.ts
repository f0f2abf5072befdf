// What a cell of the grid and a column of the side-by-side view have in common.

import { choicesFor } from "../../actions.ts";
import { h, setAttribute, setText } from "../../dom.ts";
import type { VariantState } from "../../state.ts";
import { askingTitle, type Variant } from "../../variants.ts";
import { type Context, openVariant, type Snapshot } from "../context.ts";
import { createPreview } from "../result/preview.ts";
import type { Sight } from "../shared/on-screen.ts";
import { createHeld, createPick, createStanding, createStopOrOpen, factsOf } from "./variant-parts.ts";

export interface Drawn {
	readonly variant: Variant;
	readonly snapshot: Snapshot;
}

/** What the variants of one arrangement share. */
export interface Shared {
	readonly sight: Sight;
	readonly pages: Map<number, { scrollToShare(share: number): void }>;
}

export function createSummary(context: Context, number: number) {
	const own: Context = { ...context, choices: choicesFor(context.choices, number) };
	const name = h("b", null, `Variant ${number + 1}`);
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
		update(variant: Variant, snapshot: Snapshot) {
			setText(model, variant.model);
			setAttribute(model, "title", variant.state.model);
			setText(facts, factsOf(variant));
			for (const part of Object.values(parts)) part.update(variant, snapshot);
			parts.pick.element.hidden ||= !parts.answer.element.hidden;
		},
	};
}

/** Opens the variant that asks: a question is answered where it can be read in full. */
function createAnswer(context: Context, number: number) {
	const element = h(
		"button",
		{ class: "anb-btn sm primary anb-answer", type: "button", onclick: () => openVariant(context, number) },
		"Answer",
	);
	return {
		element,
		update(variant: Variant) {
			const title = askingTitle(variant.state);
			element.hidden = title === null;
			if (title !== null) setAttribute(element, "aria-label", `Answer ${variant.label}: ${title}`);
		},
	};
}

/** A preview without a console, which draws only when something it shows has changed. */
export function createQuietPreview(own: Context, thumbnail: number, onScrolled?: (share: number) => void) {
	const preview = createPreview(own, { thumbnail, ...(onScrolled && { onScrolled }) });
	let drawn: { state: VariantState; loads: number; file: string | null } | null = null;
	return {
		element: preview.element,
		scrollToShare: preview.scrollToShare,
		update(state: VariantState) {
			const { loads } = own.run;
			const { file } = own.choices;
			if (drawn?.state === state && drawn.loads === loads && drawn.file === file) return;
			preview.update({ state });
			drawn = { state, loads, file };
		},
		rest() {
			drawn = null;
			preview.rest();
		},
	};
}
