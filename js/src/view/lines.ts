// Text with line numbers, in blocks of lines: the browser lays out the blocks in sight and skips the rest, so a
// long file costs no more to show than a short one, and a growing one no more per line.

import { h } from "../dom.ts";
import type { Token } from "../highlight.ts";

const BLOCK = 80;

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

	/** Adds text at the end; its first line goes on with the last one there. */
	append(text: string): void {
		const [first = "", ...rest] = text.split("\n");
		if (this.#count === 0) this.#begin();
		this.#code?.append(first);
		for (const line of rest) {
			this.#begin();
			this.#code?.append(line);
		}
	}

	/** Shows coloured lines in place of what was there. */
	colour(lines: readonly (readonly Token[])[]): void {
		this.clear();
		for (const line of lines) {
			this.#begin();
			for (const { colour, text } of line)
				this.#code?.append(colour ? h("span", { class: colour }, text) : text);
		}
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
