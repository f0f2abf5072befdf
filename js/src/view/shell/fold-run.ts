// Folds a run that has ended to its header: by a button, or all but the newest by a setting.

import { setAttribute, setLabel } from "../../dom.ts";
import type { Context } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";

export function isFoldedAway({ choices, run }: Context): boolean {
	return !run.busy && (choices.folded ?? run.isOlder);
}

export function createFoldButton(context: Context) {
	const element = iconButton(context, "down", "", () => {
		context.choices.folded = !isFoldedAway(context);
		context.redraw();
	});
	element.classList.add("anb-shut");
	return {
		element,
		update() {
			const folded = isFoldedAway(context);
			// The file of a replay has one run and no kernel.
			element.hidden = !context.run.greeted;
			element.toggleAttribute("disabled", context.run.busy);
			setAttribute(element, "aria-expanded", String(!folded));
			setLabel(element, folded ? "Unfold this run" : "Fold this run to one line");
		},
	};
}
