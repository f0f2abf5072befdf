// The button that points at elements of the preview. What it starts is loaded when it is first used.

import { setAttribute } from "../../dom.ts";
import type * as Module from "../../inspect/inspector.ts";
import { loadModule } from "../../loading.ts";
import { shownPage } from "../../shown.ts";
import { type Context, isBound, type Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";

export function createInspectButton(context: Context, preview: Module.Preview) {
	const { choices, run } = context;
	const element = iconButton(context, "point", "Point at an element (i)", () => void press());
	element.classList.add("anb-point");
	let inspector: Module.Inspector | null = null;

	async function press(): Promise<void> {
		const module = inspector ? null : await loadModule<typeof Module>(run, "inspect").catch(() => null);
		inspector ??= module?.createInspector(context, preview) ?? null;
		if (inspector) inspector.toggle(!inspector.on);
		else context.notify("The kernel did not send the code for this.");
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
