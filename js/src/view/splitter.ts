// The line between the panes: dragged, or moved with the arrow keys; remembered.

import { h } from "../dom.ts";
import { loadLayout, saveLayout } from "../ui.ts";
import type { Context } from "./context.ts";

const LEAST = 25;
const MOST = 75;

export function createSplitter(context: Context, body: HTMLElement): HTMLElement {
	const element = h("div", {
		class: "anb-split",
		role: "separator",
		"aria-orientation": "vertical",
		"aria-label": "Resize panes",
		"aria-valuemin": LEAST,
		"aria-valuemax": MOST,
		tabindex: 0,
	});
	let share = loadLayout().split;
	const { signal } = context;

	function set(percent: number): void {
		share = Math.min(MOST, Math.max(LEAST, percent));
		body.style.setProperty("--anb-split", `${share}%`);
		element.setAttribute("aria-valuenow", String(Math.round(share)));
	}
	set(share);

	element.addEventListener(
		"pointerdown",
		(event) => {
			element.setPointerCapture(event.pointerId);
			body.classList.add("dragging");
		},
		{ signal },
	);
	element.addEventListener(
		"pointermove",
		(event) => {
			if (!element.hasPointerCapture(event.pointerId)) return;
			const box = body.getBoundingClientRect();
			set((100 * (event.clientX - box.left)) / box.width);
		},
		{ signal },
	);
	element.addEventListener(
		"lostpointercapture",
		() => {
			body.classList.remove("dragging");
			saveLayout({ split: share });
		},
		{ signal },
	);
	element.addEventListener(
		"keydown",
		(event) => {
			const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
			if (!step) return;
			event.preventDefault();
			set(share + step);
			saveLayout({ split: share });
		},
		{ signal },
	);
	return element;
}
