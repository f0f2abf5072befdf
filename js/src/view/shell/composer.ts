// The field below a run that asks for a change: it shows the next cell, and inserts it on a click.

import { cellText, newAsk } from "../../ask.ts";
import { isName, isReadable } from "../../cells.ts";
import { h, hasFocus, listen, moveFocus } from "../../dom.ts";
import { loadModule } from "../../loading.ts";
import type { Context, Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";
import { createCellButton } from "../shared/cell-button.ts";
import { createField } from "../shared/text-field.ts";

export function createComposer(context: Context) {
	const { choices, run } = context;
	const field = createField(context, "Ask for a change", "Ask for a change… (/)");
	const send = h("button", { class: "anb-btn", type: "button" }, "Next cell");
	const next = createNext(context, field.element, () => {
		choices.ask = newAsk();
		context.redraw();
	});
	const notes = h("ul", { class: "anb-notes" });
	let drawNotes: (() => void) | null = null;
	const row = h("div", { class: "anb-askrow" }, field.element, send);
	const parts = [next.element, notes, row];
	const element = h("div", { class: "anb-compose", role: "group", "aria-label": "Next change" }, ...parts);

	async function loadNotes(): Promise<void> {
		const { createNotes } = await loadModule(run, "inspect");
		drawNotes ??= createNotes(context, notes, field.element);
		context.redraw();
	}

	function review(): void {
		const text = cellText(run, choices.ask);
		if (text === null) moveFocus(element.querySelector<HTMLElement>("textarea:placeholder-shown"));
		else if (isReadable(text)) next.show(text);
		else context.notify("The text has hidden characters. Type it again.");
	}

	listen(send, "click", context.signal, review);
	listen(element, "input", context.signal, () => next.show(null));
	listen(element, "keydown", context.signal, (event) => {
		const typing = (event.target as Element).matches("textarea");
		if (event.key === "Escape" && !next.element.hidden) next.show(null);
		else if (typing && event.key === "Enter" && !event.shiftKey && !event.isComposing) review();
		else return;
		event.preventDefault();
	});

	return {
		element,
		update({ run: { lost, meta } }: Snapshot) {
			element.hidden = lost !== "" || choices.replay !== null || !isName(meta.name);
			if (drawNotes) drawNotes();
			else if (choices.ask.notes.length) void loadNotes();
			field.update(choices.ask);
			// What was shown is no longer what the cell would hold.
			if (next.text !== null && next.text !== cellText(run, choices.ask)) next.show(null);
		},
	};
}

/** The text of the cell, with the button that inserts it. */
function createNext(context: Context, field: HTMLElement, onInserted: () => void) {
	const cell = createCellButton(context, "Insert below", () => {
		show(null);
		onInserted();
	});
	const back = iconButton(context, "cross", "Back to the text", () => show(null));
	const element = h("div", { class: "anb-next", hidden: true }, cell.element, back);
	const insert = cell.element.querySelector("button");
	cell.element.querySelector("code")?.setAttribute("id", "anb-next");
	insert?.setAttribute("aria-describedby", "anb-next");
	insert?.classList.add("primary");

	const view = { element, text: null as string | null, show };
	function show(text: string | null): void {
		const held = hasFocus(element);
		view.text = text;
		element.hidden = text === null;
		cell.update(text);
		if (text !== null) moveFocus(insert);
		else if (held) moveFocus(field);
	}
	return view;
}
