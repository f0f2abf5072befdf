// The lines that share out the room: between the panes, and along the frame's bottom edge. Both are remembered.

import { DEFAULT_SPLIT, loadLayout, saveLayout } from "../../ui.ts";
import type { Context } from "../context.ts";
import { createSeparator } from "../shared/separator.ts";

export function createSplitter(context: Context, body: HTMLElement): HTMLElement {
	let share = loadLayout().split;
	const set = (percent: number | null): void => {
		share = percent ?? DEFAULT_SPLIT;
		body.style.setProperty("--anb-split", `${share}%`);
	};
	set(share);
	return createSeparator(context, body, {
		className: "anb-split",
		label: "Resize panes",
		orientation: "vertical",
		least: 25,
		most: 75,
		keys: { ArrowLeft: -2, ArrowRight: 2 },
		value: () => share,
		at(event) {
			const { left, width } = body.getBoundingClientRect();
			return (100 * (event.clientX - left)) / width;
		},
		set,
		save: () => saveLayout({ split: share }),
	});
}

export function createEdge(context: Context, frame: HTMLElement): HTMLElement {
	const set = (height: number | null): void =>
		frame.style.setProperty("--anb-height", height === null ? null : `${height}px`);
	set(loadLayout().height);
	return createSeparator(context, frame, {
		className: "anb-edge",
		label: "Resize height",
		orientation: "horizontal",
		least: 240,
		most: 4000,
		keys: { ArrowUp: -20, ArrowDown: 20, PageUp: -100, PageDown: 100 },
		value: () => frame.offsetHeight,
		at: (event) => event.clientY - frame.getBoundingClientRect().top,
		set,
		save: (height) => saveLayout({ height }),
	});
}
