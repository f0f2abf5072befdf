// The widget over the whole screen: a button in the header, and the key f. Escape leaves.

import { h, icon, listen, setAttribute } from "../dom.ts";
import type { Context, Snapshot } from "./context.ts";
import { isSolo } from "./single.ts";

/** Fields in which a letter is text, or chooses an entry. */
const TYPING = "textarea, select, [contenteditable], input:not([type=range], [type=checkbox], [type=radio])";

export function createFullScreenButton(context: Context) {
	const element = h("button", { class: "anb-ic anb-full", type: "button" }, icon("expand"));
	listen(element, "click", context.signal, () => toggle(context, element));
	document.addEventListener("fullscreenchange", context.redraw, { signal: context.signal });
	return {
		element,
		update(_snapshot: Snapshot) {
			const label = isFull(element) ? "Leave full screen" : "Full screen";
			element.hidden = !document.fullscreenEnabled || isSolo(context);
			setAttribute(element, "aria-label", label);
			setAttribute(element, "title", `${label} (f)`);
		},
	};
}

/** Keys act only while the focus is in the widget, and not in a field. */
export function listenForFullScreen(context: Context, frame: HTMLElement): void {
	listen(frame, "keydown", context.signal, (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return;
		const typing = (event.target as Element).closest(TYPING) || isSolo(context);
		if (event.key === "i" && !typing) frame.querySelector<HTMLElement>(".anb-point:enabled")?.click();
		const letter = event.key === "f" && !typing;
		// Chromium leaves by itself, without this event, where it can.
		if (letter || (event.key === "Escape" && isFull(frame))) toggle(context, frame);
	});
}

function toggle({ notify }: Context, inside: HTMLElement): void {
	if (isFull(inside)) void document.exitFullscreen();
	else
		inside
			.closest(".anb")
			?.requestFullscreen?.()
			.catch(() => notify("Full screen is not allowed here."));
}

function isFull(inside: HTMLElement): boolean {
	const { fullscreenElement } = inside.getRootNode() as ShadowRoot;
	return Boolean(fullscreenElement) && fullscreenElement === inside.closest(".anb");
}
