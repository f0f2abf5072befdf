// Icon buttons, alone or as a group in which one is chosen.

import { h, icon, listen, setAttribute } from "../../dom.ts";
import type { IconName } from "../../icons.ts";
import type { Context } from "../context.ts";
import { rove } from "./arrow-keys.ts";

export function iconButton(
	{ signal }: Pick<Context, "signal">,
	name: IconName,
	label: string,
	press: () => void,
): HTMLButtonElement {
	const button = h(
		"button",
		{ class: "anb-ic", type: "button", "aria-label": label, title: label },
		icon(name),
	);
	listen(button, "click", signal, press);
	return button;
}

interface Radios<T> {
	readonly label: string;
	readonly className: string;
	readonly items: readonly [value: T, glyph: IconName, label: string][];
	current(): T;
	choose(value: T): void;
}

export function createRadios<T>(context: Context, { label, className, items, current, choose }: Radios<T>) {
	const values = items.map(([value]) => value);
	const buttons = items.map(([value, glyph, name]) => {
		const button = iconButton(context, glyph, name, () => choose(value));
		button.setAttribute("role", "radio");
		return button;
	});
	const element = h("div", { class: className, role: "radiogroup", "aria-label": label }, ...buttons);
	listen(element, "keydown", context.signal, (event) =>
		rove(event, values, current(), (value) => {
			choose(value);
			buttons[values.indexOf(value)]?.focus();
		}),
	);
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
