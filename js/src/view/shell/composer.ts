// The field below a run. Enter inserts the next cell and runs it, Alt+Enter only inserts it, Shift+Enter breaks the line.

import { h, hasFocus, moveFocus, setAttribute, setChildren, setText } from "../../base/dom.ts";
import { LETTERS } from "../../base/keys.ts";
import { addToAsk, cellText, newAsk, nextName, optionsOf, storeAsk, storedAsk } from "../../run/ask.ts";
import { isName, isReadable } from "../../run/cell-source.ts";
import { canInsert, labExtension } from "../../run/cells.ts";
import type { Repeat } from "../../run/events.ts";
import type { VariantState } from "../../run/state.ts";
import { currentState } from "../actions.ts";
import { type Context, canRefer, type Snapshot } from "../context.ts";
import { createNotes } from "../inspect/notes.ts";
import { momentName } from "../result/versions.ts";
import { createField, iconButton } from "../shared/buttons.ts";
import { insert } from "../shared/cell-button.ts";
import { isFull } from "./full-screen.ts";
import { createPasted } from "./pasted.ts";

const LABEL = "Ask a question or for a change";
/** The field that has run a cell, and the name of its run, whose own field takes over the cursor and the text. */
let sender: { readonly context: Context; readonly field: HTMLElement; readonly next: string } | null = null;

export function createComposer(context: Context) {
	const { choices, run } = context;
	if (!choices.ask.text && !choices.ask.notes.length) choices.ask = storedAsk(run.state?.id ?? "");
	// Only JupyterLab's extension hears the key on a selected cell.
	const key = labExtension() && run.notebook ? " (/)" : "";
	const blank = `${LABEL}…${key}`;
	const field = createField(LABEL, blank);
	const only = createButton("Next cell", "Insert the next cell below (Alt+Enter)");
	const main = createButton("", "");
	const notes = h("ul", { class: "anb-notes" });
	const images = h("ul", { class: "anb-pasted", "aria-label": "Images for the next cell" });
	const options = createOptions(context, field.element);
	const row = h("div", { class: "anb-askrow" }, field.element, only, main);
	const oninput = (): void => storeAsk(run.state?.id ?? "", choices.ask);
	const about = { role: "group", "aria-label": "Next change", [LETTERS]: "Ctrl+Enter", oninput };
	const element = h("div", { class: "anb-compose", ...about }, notes, options.element, images, row);
	const drawNotes = createNotes(context, notes, field.element);
	const drawImages = createPasted(context, images, element, field.element);

	function onInserted(next: string): void {
		choices.ask = isFull(element) && next ? { ...newAsk(), base: next } : newAsk();
		sender = { context, field: field.element, next };
		if (isFull(element)) moveFocus(field.element);
		context.redraw();
	}

	main.classList.add("primary");
	listenForPresses(context, { element, only, main }, onInserted);
	return {
		element,
		update({ run: { lost, meta }, state }: Snapshot) {
			element.hidden = lost !== "" || choices.replay !== null || !isName(meta.name);
			takeOver(context, field.element);
			if (!isFull(element)) delete choices.ask.base;
			labelButtons(context, only, main, momentName(state, choices));
			drawNotes();
			options.update();
			drawImages();
			field.update(choices.ask);
			setAttribute(field.element, "placeholder", hintFor(context, state) || blank);
			element.classList.toggle("older", isOlder(context));
			if (choices.ask.focus === "text") moveFocus(field.element);
			if (choices.ask.focus === "text") choices.ask.focus = undefined;
			oninput();
		},
	};
}

/** Takes the cursor from the field that has run this run's cell, unless the user has moved it since. */
function takeOver(context: Context, field: HTMLElement): void {
	const { state, notebook } = context.run;
	if (!sender || sender.field === field || state?.meta.name !== sender.next) return;
	const { context: before, field: old, next } = sender;
	// A stage shows the new run in place of the old one.
	const isLost = old.offsetParent === null && document.activeElement === document.body;
	if (notebook !== before.run.notebook || (!hasFocus(old) && !isLost)) return;
	moveFocus(field);
	if (!hasFocus(field)) return; // folded, or not in the document yet
	context.choices.ask = before.choices.ask;
	before.choices.ask = newAsk();
	before.redraw();
	sender = { context, field, next };
}

/** What the demo model suggests after it has made a page, for the empty field. */
function suggestionsFor(context: Context, { rows }: VariantState): readonly string[] {
	const created = rows.map((row) =>
		row.kind === "tool" && row.change?.action === "created" ? row.change.path : "",
	);
	const isPage = created.some((path) => path?.endsWith(".html"));
	const { suggestions = [] } = context.run.state?.meta ?? {};
	return (isPage && canRefer(context) && suggestions[context.choices.variant]) || [];
}

function hintFor(context: Context, state: VariantState): string {
	const suggestions = suggestionsFor(context, state);
	return suggestions.length ? `${suggestions.join(", ")} (Tab)` : "";
}

/** Whether the field is shown only while the pointer or the focus is in the run: a newer run has one. */
function isOlder({ run, choices }: Context): boolean {
	return run.newer !== null && choices.stage === null;
}

/** Labels the main button with its effect, or says that the cell can only be copied. */
function labelButtons(
	{ choices, run }: Context,
	only: HTMLElement,
	main: HTMLElement,
	from: string | null,
): void {
	const { base } = choices.ask;
	const inserts = canInsert(run);
	const plain = inserts ? "Run" : "Copy cell";
	setText(main, base ? `Insert after ${base}` : from ? `Continue from ${from}` : plain);
	main.title = inserts ? "Insert the next cell below and run it (Enter)" : "Copy the next cell (Enter)";
	only.hidden = !inserts || base !== undefined;
}

/** The options for the next cell, each with a button that leaves it out or adds it. */
function createOptions(context: Context, field: HTMLElement) {
	const { choices, run } = context;
	const element = h("ul", { class: "anb-options", "aria-label": "Options for the next cell" });
	function createChip({ text, label, ticked }: Repeat): HTMLElement {
		const action = ticked ? `Leave out ${text}` : `Add ${text}`;
		const toggle = iconButton(ticked ? "cross" : "plus", action, () => {
			const { toggled = [] } = choices.ask;
			const others = toggled.filter((option) => option !== text);
			choices.ask.toggled = others.length < toggled.length ? others : [...others, text];
			moveFocus(field);
			context.redraw();
		});
		return h("li", { title: text, class: !ticked && "off" }, label, toggle);
	}
	return {
		element,
		update() {
			const options = run.state?.meta.magic ? optionsOf(run, choices.ask) : [];
			setChildren(element, JSON.stringify(options), () => options.map(createChip));
		},
	};
}

function createButton(label: string, title: string): HTMLButtonElement {
	return h("button", { class: "anb-btn", title }, label);
}

function listenForPresses(
	context: Context,
	{ element, only, main }: Record<"element" | "only" | "main", HTMLElement>,
	onInserted: (next: string) => void,
): void {
	const { choices, run } = context;

	function act(press: UIEvent, runs: boolean): void {
		const { base, images = [], notes, text } = choices.ask;
		const cell = cellText(run, choices);
		const { name = "", magic } = run.state?.meta ?? {};
		const next = magic ? nextName(name, run) : ""; // in marimo, the next cell's run is not known by its name
		const typed = [text, ...notes.map((note) => note.text)].join("");
		// The cell of its base has not been run yet.
		if (images.some(({ path }) => !path)) context.notify("The image is still being saved");
		else if (cell)
			void insert(context, press, cell, { runs: runs && !base, onInserted: () => onInserted(next) });
		else if (typed.trim() && !isReadable(typed))
			context.notify("The text contains invisible characters. Type it again.");
		else moveFocus(element.querySelector<HTMLElement>("textarea:placeholder-shown"));
	}

	only.onclick = (click) => act(click, false);
	main.onclick = (click) => act(click, true);
	element.onkeydown = (event) => {
		const first = suggestionsFor(context, currentState(context))[0];
		const isBlank = !choices.ask.text && (event.target as Element).matches(".anb-askrow textarea");
		if (first && isBlank && event.key === "Tab" && !event.shiftKey) {
			event.preventDefault();
			addToAsk(choices.ask, first);
			context.redraw();
		}
		if (!isSending(event)) return;
		event.preventDefault();
		if (!event.repeat) act(event, !event.altKey);
	};
}

/** Whether a key submits the text. Enter that ends an IME composition does not. */
function isSending(event: KeyboardEvent): boolean {
	// Safari ends the composition before the key event, whose code is then 229.
	if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return false;
	if (event.ctrlKey || event.metaKey) return true;
	return (event.target as Element).matches("textarea") && !event.shiftKey;
}
