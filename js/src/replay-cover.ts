// What a replay file opens on: the prompt and a large button that plays. Anything else that is pressed takes it away, too.

import { h, icon } from "./dom.ts";

export function coverReplay(root: ShadowRoot, prompt: string): void {
	const play = h("button", { class: "anb-btn primary", type: "button" }, icon("play"), "Play");
	const cover = h("div", { class: "anb-cover" }, h("p", null, prompt), play);
	const range = root.querySelector<HTMLElement>(".anb-scrubber .anb-range");
	const leave = (event: Event): void => {
		if (!event.composedPath().includes(cover)) cover.remove();
	};
	for (const type of ["keydown", "pointerdown"]) root.addEventListener(type, leave, true);
	play.addEventListener("click", () => {
		cover.remove();
		root.querySelector<HTMLElement>('.anb-scrubber [aria-label="Play"]')?.click();
		range?.focus({ preventScroll: true });
	});
	root.querySelector(".anb-place")?.append(cover);
}
