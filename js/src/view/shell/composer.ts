// The field below a run that asks for a change. Enter shows the next cell, with a button that inserts it; Ctrl+Enter
// inserts and runs it.

import { askAfter, cellText, newAsk, repeatsOf } from "../../ask.ts";
import { canInsert, isName, isReadable } from "../../cells.ts";
import { h, hasFocus, listen, moveFocus, setText } from "../../dom.ts";
import { createNotes } from "../../inspect/notes.ts";
import { LETTERS } from "../../keys.ts";
import type { Context, Snapshot } from "../context.ts";
import { momentName } from "../result/versions.ts";
import { createField, iconButton } from "../shared/buttons.ts";
import { createCellButton, insert } from "../shared/cell-button.ts";
import { isFull } from "./full-screen.ts";

export function createComposer(context: Context) {
	const { choices, run } = context;
	const field = createField(context, "Ask a question or for a change", "Ask a question or for a change… (/)");
	const show = createButton("Next cell", "Show the next cell (Enter)");
	const runs = createButton("Run", "Insert the next cell below and run it (Ctrl+Enter)");
	const next = createNext(context, field.element, onInserted);
	const notes = h("ul", { class: "anb-notes" });
	const options = createOptions(context, field.element);
	const row = h("div", { class: "anb-askrow" }, field.element, show, runs);
	const about = { role: "group", "aria-label": "Next change", [LETTERS]: "Ctrl+Enter" };
	const element = h("div", { class: "anb-compose", ...about }, next.element, notes, options.element, row);
	const drawNotes = createNotes(context, notes, field.element);

	function onInserted(cell: string): void {
		choices.ask = isFull(element) ? askAfter(cell) : newAsk();
		if (isFull(element)) moveFocus(field.element);
		context.redraw();
	}

	listenForPresses(context, { element, show, runs, next }, onInserted);
	return {
		element,
		update({ run: { lost, meta }, state }: Snapshot) {
			element.hidden = lost !== "" || choices.replay !== null || !isName(meta.name);
			if (!isFull(element)) delete choices.ask.base;
			labelButtons(context, show, runs, momentName(state, choices));
			drawNotes();
			options.update();
			field.update(choices.ask);
			if (choices.ask.focus === "text") moveFocus(field.element);
			if (choices.ask.focus === "text") choices.ask.focus = undefined;
			// What was shown is no longer what the cell would hold.
			if (next.text !== null && next.text !== cellText(run, choices)) next.show(null);
		},
	};
}

/** The button that one presses says what comes next. */
function labelButtons(
	{ choices, run }: Context,
	show: HTMLElement,
	runs: HTMLElement,
	from: string | null,
): void {
	const { base } = choices.ask;
	const [main, plain] = canInsert(run) ? [runs, "Run"] : [show, "Next cell"];
	setText(main, base ? `Insert after ${base}` : from ? `Continue from ${from}` : plain);
	runs.hidden = main !== runs;
}

/** The options that the next cell repeats, each with a button that takes it out. */
function createOptions(context: Context, field: HTMLElement) {
	const { choices, run } = context;
	const element = h("ul", { class: "anb-options", "aria-label": "Options of the next cell" });
	let shown = "";
	return {
		element,
		update() {
			const repeats = run.state?.meta.magic ? repeatsOf(run, choices.ask) : [];
			const next = JSON.stringify(repeats);
			if (shown === next) return;
			shown = next;
			const chips = repeats.map(({ text, label }) => {
				const drop = iconButton(context, "cross", `Leave out ${text}`, () => {
					choices.ask.without = [...(choices.ask.without ?? []), text];
					moveFocus(field);
					context.redraw();
				});
				return h("li", { title: text }, label, drop);
			});
			element.replaceChildren(...chips);
		},
	};
}

function createButton(label: string, title: string): HTMLButtonElement {
	return h("button", { class: "anb-btn", type: "button", title }, label);
}

interface Parts {
	readonly element: HTMLElement;
	readonly show: HTMLElement;
	readonly runs: HTMLElement;
	readonly next: ReturnType<typeof createNext>;
}

function listenForPresses(
	context: Context,
	{ element, show, runs, next }: Parts,
	onInserted: (cell: string) => void,
): void {
	const { choices, run, signal } = context;

	function act(press: UIEvent, what: Press): void {
		const text = what === "back" ? null : cellText(run, choices);
		if (what === "back") next.show(null);
		else if (text === null) moveFocus(element.querySelector<HTMLElement>("textarea:placeholder-shown"));
		else if (!isReadable(text)) context.notify("The text has hidden characters. Type it again.");
		else if (what === "show") next.show(text);
		// The cell that it continues from has not been run yet.
		else void insert(context, press, text, { runs: !choices.ask.base, onInserted });
	}

	listen(show, "click", signal, (click) => act(click, "show"));
	listen(runs, "click", signal, (click) => act(click, "run"));
	listen(element, "input", signal, () => next.show(null));
	listen(element, "keydown", signal, (event) => {
		const what = pressOf(event, !next.element.hidden);
		if (what === null) return;
		event.preventDefault();
		if (!event.repeat) act(event, what);
	});
}

type Press = "show" | "run" | "back";

/** What a key means in the composer; null if it is not one of its own. */
function pressOf(event: KeyboardEvent, shown: boolean): Press | null {
	const { key, target } = event;
	if (key === "Escape") return shown ? "back" : null;
	if (key !== "Enter" || event.isComposing) return null;
	if (event.ctrlKey || event.metaKey) return "run";
	return (target as Element).matches("textarea") && !event.shiftKey ? "show" : null;
}

/** The text of the cell, with the button that inserts it. */
function createNext(context: Context, field: HTMLElement, onInserted: (cell: string) => void) {
	const cell = createCellButton(context, "Insert below", { onInserted });
	const back = iconButton(context, "cross", "Back to the text", () => show(null));
	const element = h("div", { class: "anb-next", hidden: true }, cell.element, back);
	cell.element.querySelector("code")?.setAttribute("id", "anb-next");
	cell.button.setAttribute("aria-describedby", "anb-next");
	cell.button.classList.add("primary");

	const view = { element, text: null as string | null, show };
	function show(text: string | null): void {
		const held = hasFocus(element);
		view.text = text;
		element.hidden = text === null;
		cell.update(text);
		if (text !== null) moveFocus(cell.button);
		else if (held) moveFocus(field);
	}
	return view;
}
