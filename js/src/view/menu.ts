// Actions on a finished run, where Stop was.

import { copy, downloadAll, openInTab } from "../actions.ts";
import { h, icon, setText } from "../dom.ts";
import { bytes } from "../format.ts";
import { shownFile } from "../shown.ts";
import type { Context, Moment } from "./context.ts";

export function createMenu(context: Context) {
	const button = h(
		"button",
		{ class: "anb-btn anb-act", type: "button", "aria-haspopup": "menu", "aria-expanded": "false" },
		"Actions",
		icon("down"),
	);
	const size = h("small");
	const items = [
		h("button", { type: "button", role: "menuitem", tabindex: -1 }, icon("copy"), "Copy file", size),
		h("button", { type: "button", role: "menuitem", tabindex: -1 }, icon("save"), "Save files"),
		h("button", { type: "button", role: "menuitem", tabindex: -1 }, icon("open"), "Open in new tab"),
	] as const;
	const menu = h("div", { class: "anb-menu", role: "menu", "aria-label": "Actions", hidden: true }, ...items);
	const element = h("span", { class: "anb-actions" }, button, menu);
	const { signal } = context;

	function toggle(open: boolean): void {
		menu.hidden = !open;
		button.setAttribute("aria-expanded", String(open));
		if (open) items.find((item) => !item.hidden)?.focus();
	}
	function move(step: number): void {
		const root = element.getRootNode() as ShadowRoot;
		const there = items.filter((item) => !item.hidden);
		const at = there.indexOf(root.activeElement as (typeof items)[number]);
		there[(at + step + there.length) % there.length]?.focus();
	}
	const actions = [() => copy(context), () => void downloadAll(context), () => openInTab(context)];

	button.addEventListener("click", () => toggle(menu.hidden !== false), { signal });
	items.forEach((item, index) => {
		item.addEventListener(
			"click",
			() => {
				toggle(false);
				button.focus();
				actions[index]?.();
			},
			{ signal },
		);
	});
	element.addEventListener(
		"keydown",
		(event) => {
			if (menu.hidden) return;
			if (event.key === "Escape") {
				toggle(false);
				button.focus();
			} else if (event.key === "ArrowDown") move(1);
			else if (event.key === "ArrowUp") move(-1);
			else return;
			event.preventDefault();
			event.stopPropagation();
		},
		{ signal },
	);
	element.addEventListener(
		"focusout",
		(event) => {
			if (!element.contains(event.relatedTarget as Node | null)) toggle(false);
		},
		{ signal },
	);

	return {
		element,
		update({ state }: Moment) {
			const { busy } = context.run;
			const file = shownFile(state, context.choices);
			element.hidden = busy || state.files.size === 0;
			// Bytes are saved, not copied.
			items[0].hidden = typeof file?.text !== "string";
			setText(size, file ? bytes(file.version?.size ?? 0) : "");
		},
	};
}
