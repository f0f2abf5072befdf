// The line between the panes, moved by dragging or with the arrow keys. Its position is remembered.

import { h, listen } from "../dom.ts";
import { loadLayout, saveLayout } from "../ui.ts";
import type { Context } from "./context.ts";

const LEAST = 25;
const MOST = 75;
/** By how many percent of the width a key moves it. */
const KEYS: Record<string, number> = { ArrowLeft: -2, ArrowRight: 2 };

export function createSplitter({ signal }: Context, body: HTMLElement): HTMLElement {
	const element = createSeparator();
	let share = loadLayout().split;

	function set(percent: number): void {
		share = Math.min(MOST, Math.max(LEAST, percent));
		body.style.setProperty("--anb-split", `${share}%`);
		element.setAttribute("aria-valuenow", String(Math.round(share)));
	}
	set(share);

	listen(element, "pointerdown", signal, (event) => {
		element.setPointerCapture(event.pointerId);
		body.classList.add("dragging");
	});
	listen(element, "pointermove", signal, (event) => {
		if (!element.hasPointerCapture(event.pointerId)) return;
		const box = body.getBoundingClientRect();
		set((100 * (event.clientX - box.left)) / box.width);
	});
	listen(element, "lostpointercapture", signal, () => {
		body.classList.remove("dragging");
		saveLayout({ split: share });
	});
	listen(element, "keydown", signal, (event) => {
		const by = KEYS[event.key];
		if (!by) return;
		event.preventDefault();
		set(share + by);
		saveLayout({ split: share });
	});
	return element;
}

function createSeparator(): HTMLElement {
	return h("div", {
		class: "anb-split",
		role: "separator",
		"aria-orientation": "vertical",
		"aria-label": "Resize panes",
		"aria-valuemin": LEAST,
		"aria-valuemax": MOST,
		tabindex: 0,
	});
}
