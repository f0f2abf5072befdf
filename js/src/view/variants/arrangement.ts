// Holds one variant, or the arrangement of all of them. What is not shown is not built.

import { h, hasFocus, KeyedList, moveFocus } from "../../dom.ts";
import { type Arrangement, resetVariant } from "../../ui.ts";
import type { BodyView, Context, Snapshot } from "../context.ts";
import { Sight } from "../shared/on-screen.ts";
import { createCell } from "./grid.ts";
import type { Drawn, Shared } from "./quiet-preview.ts";
import { createColumn } from "./side-by-side.ts";
import { createSingle } from "./single-variant.ts";

export function createPlace(context: Context): BodyView {
	const element = h("div", { class: "anb-place" });
	const { choices } = context;
	let shown = "";
	let body: BodyView | null = null;
	let life = new AbortController();
	context.signal.addEventListener("abort", () => life.abort());

	function fill(arrangement: Arrangement): BodyView {
		life.abort();
		life = new AbortController();
		if (shown) resetVariant(choices);
		const own = { ...context, signal: life.signal };
		const built = arrangement === "one" ? createSingle(own) : createAll(own, arrangement);
		const held = hasFocus(element);
		element.replaceChildren(built.element);
		const tab = '.anb-vars [role="tab"][tabindex="0"]';
		if (held) moveFocus(element.parentElement?.querySelector<HTMLElement>(tab));
		return built;
	}

	return {
		element,
		update(snapshot) {
			const many = snapshot.variants.length > 1;
			const arrangement = many ? choices.arrangement : "one";
			const key = arrangement === "one" ? `${arrangement} ${choices.variant}` : arrangement;
			if (!body || key !== shown) body = fill(arrangement);
			shown = key;
			if (many) labelPanel(body.element, arrangement, snapshot.variants[choices.variant]?.label ?? "");
			body.update(snapshot);
		},
		tick: (snapshot) => body?.tick(snapshot),
	};
}

const VIEWS = { grid: createCell, side: createColumn };

/** All variants: a grid, or side by side. */
function createAll(context: Context, arrangement: Exclude<Arrangement, "one">): BodyView {
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

function labelPanel(element: HTMLElement, arrangement: Arrangement, label: string): void {
	element.setAttribute("role", arrangement === "one" ? "tabpanel" : "group");
	element.setAttribute("aria-label", arrangement === "one" ? label : "All variants");
}
