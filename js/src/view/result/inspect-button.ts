// The button that points at elements of the preview.

import { setAttribute } from "../../dom.ts";
import { createInspector, type Inspector, type Preview } from "../../inspect/inspector.ts";
import { shownPage } from "../../shown.ts";
import { type Context, isBound, type Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";

export function createInspectButton(context: Context, preview: Preview) {
	const { choices } = context;
	const element = iconButton(context, "point", "Point at an element (i)", press);
	element.classList.add("anb-point");
	let inspector: Inspector | null = null;

	function press(): void {
		inspector ??= createInspector(context, preview);
		inspector.toggle(!inspector.on);
	}

	function usable({ state }: Snapshot): boolean {
		return isBound(context) && choices.moment === null && Boolean(shownPage(state, choices)?.text);
	}

	return {
		element,
		update(snapshot: Snapshot) {
			const can = usable(snapshot);
			element.hidden = choices.tab !== "preview";
			element.toggleAttribute("disabled", !can);
			if (!can) inspector?.toggle(false);
			setAttribute(element, "aria-pressed", String(inspector?.on ?? false));
		},
	};
}
