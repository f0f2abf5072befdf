// Actions on a finished run, in the place of Stop.

import { copy, downloadAll, openInTab } from "../../actions.ts";
import { h, hasFocus, icon, listen, setText } from "../../dom.ts";
import { bytes } from "../../format.ts";
import { shownFile } from "../../shown.ts";
import { type Context, canRefer, type Snapshot } from "../context.ts";
import { rove } from "../shared/arrow-keys.ts";
import { insert } from "../shared/cell-button.ts";

export function createMenu(context: Context) {
	const size = h("small");
	const copyItem = createItem(icon("copy"), "Copy file", size);
	const saveItem = createItem(icon("save"), "Save files");
	const openItem = createItem(icon("open"), "Open in new tab");
	const cell = h("code");
	const exportItem = createItem(icon("replay"), "Export replay", cell);
	const actions = new Map<HTMLButtonElement, (press: MouseEvent) => void>([
		[copyItem, () => copy(context)],
		[saveItem, () => void downloadAll(context)],
		[openItem, () => openInTab(context)],
		[exportItem, (press) => void insert(context, press, cell.textContent ?? "", { runs: true })],
	]);
	const element = createDropdown("Actions", actions, context.signal);

	return {
		element,
		update({ run, state }: Snapshot) {
			const shown = shownFile(state, context.choices);
			element.hidden = context.run.busy || state.files.size === 0;
			// Binary files can be saved, but not copied.
			copyItem.hidden = typeof shown?.text !== "string";
			setText(size, shown ? bytes(shown.version?.size ?? 0) : "");
			exportItem.hidden = !canRefer(context);
			setText(cell, `%${run.meta.magic} export ${run.meta.name}`);
		},
	};
}

function createItem(...children: (Node | string)[]): HTMLButtonElement {
	return h("button", { type: "button", role: "menuitem", tabindex: -1 }, ...children);
}

/** A button that opens a menu. Pressing an item, Escape, or moving the focus elsewhere closes it. */
function createDropdown(
	label: string,
	actions: ReadonlyMap<HTMLButtonElement, (press: MouseEvent) => void>,
	signal: AbortSignal,
): HTMLElement {
	const items = [...actions.keys()];
	const button = h(
		"button",
		{ class: "anb-btn anb-act", type: "button", "aria-haspopup": "menu", "aria-expanded": "false" },
		label,
		icon("down"),
	);
	const menu = h("div", { class: "anb-menu", role: "menu", "aria-label": label, hidden: true }, ...items);
	const element = h("span", { class: "anb-actions" }, button, menu);

	function toggle(open: boolean): void {
		menu.hidden = !open;
		button.setAttribute("aria-expanded", String(open));
		if (open) items.find((item) => !item.hidden)?.focus();
	}
	function close(): void {
		toggle(false);
		button.focus();
	}

	listen(button, "click", signal, () => toggle(menu.hidden !== false));
	for (const [item, act] of actions) {
		listen(item, "click", signal, (press) => {
			close();
			act(press);
		});
	}
	listen(element, "keydown", signal, (event) => {
		if (!menu.hidden) onKey(event, items, close);
	});
	listen(element, "focusout", signal, (event) => {
		if (!element.contains(event.relatedTarget as Node | null)) toggle(false);
	});
	return element;
}

function onKey(event: KeyboardEvent, items: readonly HTMLElement[], close: () => void): void {
	const visible = items.filter((item) => !item.hidden);
	rove(event, visible, visible.find(hasFocus), (item) => item?.focus());
	if (event.key !== "Escape") return;
	close();
	event.preventDefault();
	event.stopPropagation();
}
