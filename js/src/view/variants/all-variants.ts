// Several variants at once: the strip above them, the grid, and side by side. This is a module of its own, which the
// widget loads for the first run that has several.

import { h, KeyedList } from "../../dom.ts";
import type { Arrangement } from "../../ui.ts";
import type { BodyView, Snapshot } from "../context.ts";
import { Sight } from "../shared/on-screen.ts";
import { createCell } from "./grid.ts";
import type { Drawn, Shared } from "./quiet-preview.ts";
import { createColumn } from "./side-by-side.ts";
import type { VariantContext } from "./variant-parts.ts";

export { createStrip } from "./strip.ts";

const VIEWS = { grid: createCell, side: createColumn };

export function createAll(context: VariantContext, arrangement: Exclude<Arrangement, "one">): BodyView {
	const tabindex = arrangement === "side" ? 0 : null;
	const element = h("div", { class: `anb-${arrangement}`, tabindex });
	const shared: Shared = { sight: new Sight(context.redraw, context.signal), pages: new Map() };
	const list = new KeyedList<Drawn>(
		element,
		({ variant }) => String(variant.number),
		({ variant }) => VIEWS[arrangement](context, shared, variant.number),
	);
	function update(snapshot: Snapshot): void {
		element.dataset.count = String(snapshot.variants.length);
		list.update(snapshot.variants.map((variant) => ({ variant, snapshot })));
	}
	return { element, update, tick: update };
}
