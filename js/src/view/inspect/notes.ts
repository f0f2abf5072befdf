// The notes on elements of the page, in the composer below the run.

import { createKeyedList, h, moveFocus, type View } from "../../base/dom.ts";
import type { ElementNote, ElementRef } from "../../run/ask.ts";
import { type Context, openCode } from "../context.ts";
import { createField, iconButton } from "../shared/buttons.ts";

/** Draws the notes into a list; `field` takes the focus when one is removed. */
export function createNotes(context: Context, element: HTMLElement, field: HTMLElement): () => void {
	const { choices } = context;
	const updateList = createKeyedList<ElementNote>(
		element,
		(note) => String(choices.ask.notes.indexOf(note)),
		() => createNote(context, remove),
	);
	function remove(note: ElementNote): void {
		choices.ask.notes = choices.ask.notes.filter((other) => other !== note);
		moveFocus(field);
		context.redraw();
	}
	return () => {
		updateList(choices.ask.notes);
		if (choices.ask.focus !== "note") return;
		moveFocus(element.querySelector<HTMLElement>("li:last-child textarea"));
		choices.ask.focus = undefined;
	};
}

/** An element: a button that opens its line in Code, with the location as its tooltip. */
function createChip(context: Context, { label, file, line, origin }: ElementRef): HTMLElement {
	const title = line ? `${file} line ${line}, ${origin}` : file;
	return h("button", { class: "anb-chip", title, onclick: () => openCode(context, file, line) }, label);
}

/** One note: the elements it is about, and what should change. */
function createNote(context: Context, remove: (note: ElementNote) => void): View<ElementNote> {
	const chips = h("span", { class: "anb-chips" });
	const field = createField("What should change", "What should change?");
	let note: ElementNote;
	const drop = iconButton("cross", "Remove this note", () => remove(note));
	return {
		element: h("li", null, chips, field.element, drop),
		update(next) {
			note = next;
			chips.replaceChildren(...note.elements.map((pointed) => createChip(context, pointed)));
			field.update(note);
		},
	};
}
