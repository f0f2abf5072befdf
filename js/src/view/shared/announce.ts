// Short messages to the user: announced by a screen reader, or shown for a moment.

import { h, setText } from "../../dom.ts";

/** Milliseconds that a toast stays, and more for each character. */
const TOAST_STAYS = 1000;
const READING = 50;

/** Clears the region first: a screen reader announces it only when it changes, and a text may come twice. */
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
			timer = setTimeout(
				() => {
					element.hidden = true;
				},
				TOAST_STAYS + READING * text.length,
			);
		},
	};
}
