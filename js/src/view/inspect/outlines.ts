// The outlines over the previewed page: of the last match, with its name, and of the selected elements.

import { h, setText } from "../../base/dom.ts";
import type { Box, ElementMatch } from "../../page/inspect/messages.ts";
import type { ElementRef } from "../../run/ask.ts";

/** Pixels of the name above an outline; where there is less room, it is inside. */
const NAME_HEIGHT = 22;

export class Outlines {
	readonly #name = h("span");
	readonly element = h("div", { class: "anb-outline", "aria-hidden": "true", hidden: true }, this.#name);
	readonly #preview: HTMLElement;
	#match: ElementMatch | null = null;
	#selected: { pointed: ElementRef; box: Box; element: HTMLElement }[] = [];
	/** The frame of the page that the outlines are in. */
	#frame: Element | null = null;

	constructor(preview: HTMLElement, signal: AbortSignal) {
		this.#preview = preview;
		// The scale of the page changes with its size.
		const observer = new ResizeObserver(() => this.#draw());
		observer.observe(preview);
		signal.addEventListener("abort", () => observer.disconnect());
	}

	show(match: ElementMatch | null): void {
		this.#match = match;
		this.element.hidden = match === null;
		if (!match) return;
		this.#frame = frameIn(this.#preview).frame;
		setText(this.#name, nameOf(match));
		for (const [index, one] of this.#selected.entries()) one.box = match.selected[index] ?? one.box;
		this.#draw();
	}

	/** Adds the outline of an element that has been added to the notes. */
	select(pointed: ElementRef, box: Box): void {
		const element = h("div", { class: "anb-selected", "aria-hidden": "true" });
		this.#selected.push({ pointed, box, element });
		this.element.before(element);
		this.#draw();
	}

	/** Hides the outlines of all but these selected elements, and that of the last match if it is not one of them. */
	keep(pointed: readonly ElementRef[], isPointing: boolean): void {
		for (const one of this.#selected) one.element.hidden = !pointed.includes(one.pointed);
		if (!isPointing && this.#selected.at(-1)?.element.hidden) this.show(null);
	}

	clear(): void {
		this.show(null);
		for (const { element } of this.#selected) element.remove();
		this.#selected = [];
		this.#frame = null;
	}

	/** Whether the outlines are in a frame that has been replaced. */
	get isStale(): boolean {
		return this.#frame !== null && this.#frame !== frameIn(this.#preview).frame;
	}

	#draw(): void {
		if (this.#match) this.#place(this.element, this.#match.box);
		for (const { element, box } of this.#selected) this.#place(element, box);
	}

	#place(outline: HTMLElement, box: Box): void {
		const { box: frame, scale } = frameIn(this.#preview);
		const around = this.#preview.getBoundingClientRect();
		const [x, y, width, height] = box.map((length) => length * scale) as unknown as Box;
		const top = frame.top - around.top + y;
		const left = frame.left - around.left + x;
		Object.assign(outline.style, { left: `${left}px`, top: `${top}px` });
		Object.assign(outline.style, { width: `${width}px`, height: `${height}px` });
		outline.classList.toggle("low", top < NAME_HEIGHT);
		outline.classList.toggle("gone", width + height === 0);
	}
}

/** The frame of the page and its scale on screen. */
export function frameIn(preview: HTMLElement) {
	const frame = [...preview.querySelectorAll("iframe")].at(-1) ?? null;
	const box = frame?.getBoundingClientRect() ?? new DOMRect();
	return { frame, box, scale: box.width / (frame?.offsetWidth || 1) || 1 };
}

export function nameOf({ steps, box }: ElementMatch): string {
	return `${steps.at(-1)?.[0]} ${Math.round(box[2])} × ${Math.round(box[3])}`;
}
