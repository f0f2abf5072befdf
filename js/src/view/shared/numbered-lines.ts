// Text with line numbers, in blocks of lines. The browser lays out only the blocks in sight, so a long file costs no
// more to show than a short one, and a growing file no more per line.

import { h } from "../../dom.ts";
import type { Token } from "../../highlight.ts";

const BLOCK = 80;

export class Lines {
	readonly element: HTMLElement;
	#block: HTMLElement | null = null;
	#line: HTMLElement | null = null;
	#count = 0;

	constructor(element: HTMLElement) {
		this.element = element;
	}

	clear(): void {
		this.element.replaceChildren();
		this.#block = this.#line = null;
		this.#count = 0;
	}

	/** Appends text; its first line continues the last line that is there. */
	append(text: string): void {
		const [first = "", ...rest] = text.split("\n");
		if (this.#count === 0) this.#begin();
		this.#line?.append(first);
		for (const line of rest) {
			this.#begin();
			this.#line?.append(line);
		}
	}

	/** Replaces everything with coloured lines. */
	colour(lines: readonly (readonly Token[])[]): void {
		this.clear();
		for (const line of lines) {
			this.#begin();
			for (const { colour, text } of line)
				this.#line?.append(colour ? h("span", { class: colour }, text) : text);
		}
	}

	/** Scrolls to a line and marks it. */
	goTo(number: number): void {
		const block = this.element.children[Math.floor((number - 1) / BLOCK)];
		const line = block?.children[(number - 1) % BLOCK];
		this.element.querySelector(".anb-at")?.classList.remove("anb-at");
		if (!line) return;
		line.classList.add("anb-at");
		const above = line.getBoundingClientRect().top - this.element.getBoundingClientRect().top;
		this.element.scrollTop += above - this.element.clientHeight / 3;
	}

	/** Begins a line. The style sheet numbers the lines, in each block from its first: it counts blocks by themselves. */
	#begin(): void {
		this.#line?.append("\n");
		this.#line = h("span");
		if (this.#count++ % BLOCK === 0) {
			this.#line.style.counterSet = `line ${this.#count}`;
			this.#block = h("pre", { class: "anb-block" });
			this.element.append(this.#block);
		}
		this.#block?.append(this.#line);
	}
}
