// Variants side by side, scaled down to share the width. They scroll together.

import { h, KeyedList, setAttribute, withCode } from "../../dom.ts";
import type { Variant } from "../../variants.ts";
import type { BodyView, Context, Snapshot } from "../context.ts";
import { Sight } from "../shared/on-screen.ts";
import { createQuietPreview, createSummary } from "./quiet-preview.ts";

/** Pixels: in a narrower column, the page is laid out this wide and scaled down. */
const PAGE_WIDTH = 640;

interface Drawn {
	variant: Variant;
	snapshot: Snapshot;
}

export function createSide(context: Context): BodyView {
	const element = h("div", { class: "anb-side", tabindex: 0 });
	const sight = new Sight(context.redraw, context.signal);
	const together = createScrolling();
	const columns = new KeyedList<Drawn>(
		element,
		({ variant }) => String(variant.number),
		({ variant }) => createColumn(context, { sight, together }, variant.number),
	);
	function update(snapshot: Snapshot): void {
		columns.update(snapshot.variants.map((variant) => ({ variant, snapshot })));
	}
	return { element, update, tick: update };
}

/** Scrolls all pages as far as the one that the user scrolls. A page that forges this can do no more than scroll. */
function createScrolling() {
	const pages = new Map<number, { scrollToShare(share: number): void }>();
	return {
		pages,
		onScrolled(number: number, share: number) {
			for (const [other, page] of pages) if (other !== number) page.scrollToShare(share);
		},
	};
}

interface Shared {
	sight: Sight;
	together: ReturnType<typeof createScrolling>;
}

function createColumn(context: Context, { sight, together }: Shared, number: number) {
	const summary = createSummary(context, number);
	const { own, name, model, held, standing, facts, swap, answer, pick } = summary;
	const preview = createQuietPreview(own, PAGE_WIDTH, (share) => together.onScrolled(number, share));
	together.pages.set(number, preview);
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
