// Variants side by side, sharing the width; they scroll where more of them are there than fit.

import { h, KeyedList, setAttribute, withCode } from "../dom.ts";
import type { Variant } from "../variants.ts";
import type { BodyView, Context, Snapshot } from "./context.ts";
import { Sight } from "./sight.ts";
import { createQuietPreview, createSummary } from "./summary.ts";

interface Drawn {
	variant: Variant;
	snapshot: Snapshot;
}

export function createSide(context: Context): BodyView {
	const element = h("div", { class: "anb-side", tabindex: 0 });
	const sight = new Sight(context.redraw, context.signal);
	const columns = new KeyedList<Drawn>(
		element,
		({ variant }) => String(variant.number),
		({ variant }) => createColumn(context, sight, variant.number),
	);
	function update(snapshot: Snapshot): void {
		element.classList.toggle("two", snapshot.variants.length === 2);
		element.classList.toggle("three", snapshot.variants.length === 3);
		columns.update(snapshot.variants.map((variant) => ({ variant, snapshot })));
	}
	return { element, update, tick: update };
}

function createColumn(context: Context, sight: Sight, number: number) {
	const summary = createSummary(context, number);
	const { own, name, model, held, standing, facts, swap, answer, pick } = summary;
	const preview = createQuietPreview(own);
	const who = h(
		"div",
		{ class: "who" },
		h("div", null, name, model, held.element),
		h("div", null, standing.element, facts),
	);
	const head = h("header", null, who, swap.element, answer.element, pick.element);
	const why = h("p", { class: "why", hidden: true });
	const element = h("div", { class: "anb-col", role: "group" }, head, why, preview.element);
	model.className = "mut model";
	facts.className = "num mut";
	sight.watch(preview.element);

	return {
		element,
		update({ variant, snapshot }: Drawn) {
			const { error } = variant.state;
			summary.update(variant, snapshot);
			setAttribute(element, "aria-label", variant.label);
			why.hidden = error === null;
			if (error !== null && why.textContent === "") why.replaceChildren(...withCode(error));
			if (sight.has(preview.element)) preview.update(variant.state);
			else preview.rest();
		},
	};
}
