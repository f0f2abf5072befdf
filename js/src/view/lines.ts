// Text with line numbers, in blocks of lines. The browser lays out only the blocks in sight, so a long file costs no
// more to show than a short one, and a growing file no more per line.

import { h } from "../dom.ts";
import type { Token } from "../highlight.ts";

const BLOCK = 80;
/** Pixels, as in the styles. */
const LINE_HEIGHT = 18;

export class Lines {
	readonly element: HTMLElement;
	#code: HTMLElement | null = null;
	#numbers: HTMLElement | null = null;
	#count = 0;

	constructor(element: HTMLElement) {
		this.element = element;
	}

	clear(): void {
		this.element.replaceChildren();
		this.#code = this.#numbers = null;
		this.#count = 0;
	}

	/** Appends text; its first line continues the last line that is there. */
	append(text: string): void {
		const [first = "", ...rest] = text.split("\n");
		if (this.#count === 0) this.#begin();
		this.#code?.append(first);
		for (const line of rest) {
			this.#begin();
			this.#code?.append(line);
		}
	}

	/** Replaces everything with coloured lines. */
	colour(lines: readonly (readonly Token[])[]): void {
		this.clear();
		for (const line of lines) {
			this.#begin();
			for (const { colour, text } of line)
				this.#code?.append(colour ? h("span", { class: colour }, text) : text);
		}
	}

	/** Scrolls to a line and marks it. */
	goTo(line: number): void {
		const top = (line - 1) * LINE_HEIGHT;
		this.element.querySelector(".anb-at")?.remove();
		const mark = h("i", { class: "anb-at" });
		mark.style.setProperty("--top", `${top}px`);
		this.element.append(mark);
		this.element.scrollTop = top - this.element.clientHeight / 3;
	}

	#begin(): void {
		if (this.#count++ % BLOCK === 0) {
			this.#numbers = h("pre", { class: "ln", "aria-hidden": "true" });
			this.#code = h("pre", { class: "src" });
			this.element.append(h("div", { class: "anb-block" }, this.#numbers, this.#code));
			this.#numbers.append(String(this.#count));
		} else {
			this.#numbers?.append(`\n${this.#count}`);
			this.#code?.append("\n");
		}
	}
}
