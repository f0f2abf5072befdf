// A column of the side-by-side view: a variant, scaled down to share the width. All columns scroll together.

import { h, setAttribute, withCode } from "../../dom.ts";
import type { Context } from "../context.ts";
import { createQuietPreview, createSummary, type Drawn, type Shared } from "./quiet-preview.ts";

/** Pixels: in a narrower column, the page is laid out this wide and scaled down. */
const PAGE_WIDTH = 640;

export function createColumn(context: Context, { sight, pages }: Shared, number: number) {
	const summary = createSummary(context, number);
	const { own, name, model, held, standing, facts, swap, answer, pick } = summary;
	const preview = createQuietPreview(own, PAGE_WIDTH, (share) => {
		// A page that forges this can do no more than scroll.
		for (const [other, page] of pages) if (other !== number) page.scrollToShare(share);
	});
	pages.set(number, preview);
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
