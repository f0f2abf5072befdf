// The field below a run that asks for a change: it shows the next cell, and inserts it on a click.

import { cellText, type Note, newAsk } from "../ask.ts";
import { isName, isReadable } from "../cells.ts";
import { h, hasFocus, KeyedList, listen, moveFocus, type View } from "../dom.ts";
import { iconButton } from "./buttons.ts";
import { createCellButton } from "./cellbutton.ts";
import type { Context, Snapshot } from "./context.ts";

export function createComposer(context: Context) {
	const { choices, run } = context;
	const field = createField(context, "Ask for a change", "Ask for a change…");
	const send = h("button", { class: "anb-btn", type: "button" }, "Next cell");
	const next = createNext(context, field.element, () => {
		choices.ask = newAsk();
		context.redraw();
	});
	const notes = createNotes(context, field.element);
	const row = h("div", { class: "anb-askrow" }, field.element, send);
	const parts = [next.element, notes.element, row];
	const element = h("div", { class: "anb-compose", role: "group", "aria-label": "Next change" }, ...parts);

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
			notes.update(choices.ask.notes);
			field.update(choices.ask);
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

	function show(text: string | null): void {
		const held = hasFocus(element);
		element.hidden = text === null;
		cell.update(text);
		if (text !== null) moveFocus(insert);
		else if (held) moveFocus(field);
	}
	return { element, show };
}

/** A field of one line that grows with its text. */
function createField({ signal }: Context, label: string, placeholder: string) {
	const element = h("textarea", { class: "anb-field", rows: 1, "aria-label": label, placeholder });
	let holder: { text: string } = { text: "" };
	function grow(): void {
		element.style.height = "";
		if (element.scrollHeight > element.clientHeight) element.style.height = `${element.scrollHeight + 2}px`;
	}
	listen(element, "input", signal, () => {
		holder.text = element.value;
		grow();
	});
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

/** The notes on elements of the page. */
function createNotes(context: Context, field: HTMLElement) {
	const { choices } = context;
	const element = h("ul", { class: "anb-notes" });
	const list = new KeyedList<Note>(
		element,
		(note) => String(choices.ask.notes.indexOf(note)),
		() => createNote(context, remove),
	);
	function remove(note: Note): void {
		choices.ask.notes = choices.ask.notes.filter((one) => one !== note);
		moveFocus(field);
		context.redraw();
	}
	return { element, update: (notes: readonly Note[]) => list.update(notes) };
}

/** One note: the elements it is about, and what should change. */
function createNote(context: Context, remove: (note: Note) => void): View<Note> {
	const chips = h("span", { class: "anb-chips" });
	const field = createField(context, "What should change", "What should change?");
	let note: Note;
	const drop = iconButton(context, "cross", "Remove this note", () => remove(note));
	return {
		element: h("li", null, chips, field.element, drop),
		update(next) {
			note = next;
			chips.replaceChildren(...note.elements.map(({ label }) => h("span", { class: "anb-chip" }, label)));
			field.update(note);
		},
	};
}
