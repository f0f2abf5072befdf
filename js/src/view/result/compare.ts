// The page before the last change, laid over the page after it as far as a slider says.

import { h, listen, setAttribute } from "../../dom.ts";
import { shownPage } from "../../shown.ts";
import type { VariantState } from "../../state.ts";
import type { Choices } from "../../ui.ts";
import type { Context, Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";
import { createPreview } from "./preview.ts";
import { momentsOf, positionIn } from "./versions.ts";

const HALF = 50;

export function createCompare(context: Context) {
	const { choices, signal } = context;
	const earlier: Choices = Object.create(choices);
	const before = createPreview({ ...context, choices: earlier });
	const range = h("input", {
		class: "anb-range",
		type: "range",
		"aria-label": "Before and after",
		value: HALF,
	});
	const sides = ["Before", "After"].map((side) => h("span", { class: "side", "aria-hidden": "true" }, side));
	const element = h("div", { class: "anb-compare", hidden: true }, before.element, ...sides, range);
	const button = iconButton(context, "side", "Compare with the page before this change", () => toggle(!on));
	before.element.inert = true;
	let on = false;

	function toggle(next: boolean): void {
		on = next;
		context.redraw();
	}
	function slide(): void {
		element.style.setProperty("--share", String(Number(range.value) / 100));
		setAttribute(range, "aria-valuetext", `${range.value} % before, ${100 - Number(range.value)} % after`);
	}
	listen(range, "input", signal, slide);
	slide();

	return {
		element,
		button,
		scrollToShare: before.scrollToShare,
		rest: before.rest,
		update(snapshot: Snapshot) {
			const moment = momentBefore(snapshot.state, choices);
			const previewed = choices.tab === "preview";
			button.hidden = !previewed || moment === null;
			element.hidden = button.hidden || !on;
			setAttribute(button, "aria-pressed", String(on));
			Object.assign(earlier, { moment });
			if (element.hidden) before.rest();
			else before.update(snapshot);
		},
	};
}

/** The moment before the last change that is shown; null where there is none. */
function momentBefore(state: VariantState, choices: Choices): number | null {
	const shown = shownPage(state, choices);
	if (!shown || shown.live) return null;
	const stops = momentsOf(state, shown);
	return stops[positionIn(stops, shown, choices.moment) - 1]?.change ?? null;
}
