// Holds one variant, or the arrangement of all of them. What is not shown is not built.

import { h, hasFocus, moveFocus } from "../../dom.ts";
import { type Arrangement, resetVariant } from "../../ui.ts";
import type { BodyView, Context } from "../context.ts";
import { createGrid } from "./grid.ts";
import { createSide } from "./side-by-side.ts";
import { createSingle } from "./single-variant.ts";

const BODIES: Record<Arrangement, (context: Context) => BodyView> = {
	one: createSingle,
	grid: createGrid,
	side: createSide,
};

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
		const built = BODIES[arrangement]({ ...context, signal: life.signal });
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

function labelPanel(element: HTMLElement, arrangement: Arrangement, label: string): void {
	element.setAttribute("role", arrangement === "one" ? "tabpanel" : "group");
	element.setAttribute("aria-label", arrangement === "one" ? label : "All variants");
}
