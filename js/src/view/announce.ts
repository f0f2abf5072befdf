// What is said to the person: to a screen reader, and for a moment to the eye.

import { h, setText } from "../dom.ts";

/** Milliseconds that a toast stays. */
const TOAST_STAYS = 1600;

/** Announces the same text twice, too: a screen reader reads a region only when it changes. */
export function createAnnouncer(region: HTMLElement): (text: string) => void {
	let frame = 0;
	return (text) => {
		cancelAnimationFrame(frame);
		setText(region, "");
		frame = requestAnimationFrame(() => setText(region, text));
	};
}

/** A short text over the frame that disappears by itself. */
export function createToast(signal: AbortSignal) {
	const element = h("span", { class: "anb-toast", "aria-hidden": "true", hidden: true });
	let timer: ReturnType<typeof setTimeout> | undefined;
	signal.addEventListener("abort", () => clearTimeout(timer));
	return {
		element,
		show(text: string) {
			setText(element, text);
			element.hidden = false;
			clearTimeout(timer);
			timer = setTimeout(() => {
				element.hidden = true;
			}, TOAST_STAYS);
		},
	};
}
