// Icon buttons, single or as a group with one selected.

import { h, icon, setAttribute } from "../../base/dom.ts";
import type { IconName } from "../../base/icons.ts";

export function iconButton(name: IconName, label: string, onclick: () => void): HTMLButtonElement {
	return h("button", { class: "anb-ic", "aria-label": label, title: label, onclick }, icon(name));
}

export function textButton(
	label: string,
	onclick: (press: MouseEvent) => void,
	look = "sm",
): HTMLButtonElement {
	return h("button", { class: `anb-btn ${look}`, onclick }, label);
}

interface Radios<T> {
	readonly label: string;
	readonly className: string;
	readonly items: readonly [value: T, glyph: IconName, label: string][];
	current(): T;
	choose(value: T): void;
}

export function createRadios<T>({ label, className, items, current, choose }: Radios<T>) {
	const values = items.map(([value]) => value);
	const buttons = items.map(([value, glyph, name]) => {
		const button = iconButton(glyph, name, () => choose(value));
		button.setAttribute("role", "radio");
		return button;
	});
	const onkeydown = (event: KeyboardEvent): void =>
		rove(event, values, current(), (value) => {
			choose(value);
			buttons[values.indexOf(value)]?.focus();
		});
	const props = { class: className, role: "radiogroup", "aria-label": label, onkeydown };
	const element = h("div", props, ...buttons);
	return {
		element,
		update(disabled = false) {
			for (const [index, button] of buttons.entries()) {
				const on = values[index] === current();
				setAttribute(button, "aria-checked", String(on));
				setAttribute(button, "tabindex", on ? "0" : "-1");
				button.toggleAttribute("disabled", disabled);
			}
		},
	};
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const ENDS: Record<string, number> = { Home: 0, End: -1 };

/** Handles arrow keys, Home and End in a group with one selected item. */
export function rove<T>(
	event: KeyboardEvent,
	all: readonly T[],
	current: T,
	choose: (item: T) => void,
): void {
	const step = STEPS[event.key];
	const next = step ? (Math.max(0, all.indexOf(current)) + step) % all.length : ENDS[event.key];
	if (next === undefined || all.length === 0) return;
	event.preventDefault();
	event.stopPropagation();
	choose(all.at(next) as T);
}

/** A one-line field that grows with its text. */
export function createField(label: string, placeholder: string) {
	const element = h("textarea", { class: "anb-field", rows: 1, "aria-label": label, placeholder, oninput });
	let holder: { text: string } = { text: "" };
	function grow(): void {
		element.style.height = "";
		if (element.scrollHeight > element.clientHeight) element.style.height = `${element.scrollHeight + 2}px`;
	}
	function oninput(): void {
		holder.text = element.value;
		grow();
	}
	return {
		element,
		update(next: { text: string }) {
			holder = next;
			if (element.value === next.text) return;
			element.value = next.text;
			grow();
		},
	};
}
