// The control of a field: an input, a choice, or an editor that grows with its text and colours it.

import { h } from "../dom.ts";
import { readable } from "../json.ts";
import { printable } from "../printable.ts";
import { coloured } from "../view/transcript/arguments.ts";
import type { Field } from "./kinds.ts";

export interface Control {
	readonly element: HTMLElement;
	/** What has the focus. */
	readonly input: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
	text(): string;
}

export function createControl(field: Field, changed: () => void): Control {
	switch (field.kind) {
		case "line":
			return createInput(field, { type: "text" }, changed);
		case "number":
			return createNumber(field, changed);
		case "switch":
			return createSwitch(field, changed);
		case "choice":
			return createChoice(field, changed);
		case "text":
		case "json":
			return createEditor(field, changed);
	}
}

function createInput(field: Field, more: Record<string, unknown>, changed: () => void): Control {
	const placeholder = field.given ? null : readable(field.schema.default);
	const input = h("input", { class: "anb-input", placeholder, oninput: changed, ...(more as object) });
	input.value = field.initial;
	return { element: input, input, text: () => input.value };
}

/** A number that the browser cannot read has an empty value; `-` stands for it, which is no number either. */
function createNumber(field: Field, changed: () => void): Control {
	const { type, minimum, maximum } = field.schema;
	const limits = { min: minimum, max: maximum, step: type === "integer" ? 1 : "any" };
	const control = createInput(field, { type: "number", ...limits }, changed);
	const { input } = control;
	return { ...control, text: () => (input.validity.badInput ? "-" : input.value) };
}

function createSwitch(field: Field, changed: () => void): Control {
	const input = h("input", { type: "checkbox", oninput: changed });
	input.checked = field.initial === "true";
	return { element: input, input, text: () => String(input.checked) };
}

function createChoice(field: Field, changed: () => void): Control {
	const options = field.choices.map((choice) =>
		h("option", { value: choice, selected: choice === field.initial }, labelOf(choice, field)),
	);
	const input = h("select", { class: "anb-input", oninput: changed }, ...options);
	return { element: input, input, text: () => input.value };
}

function labelOf(choice: string, { schema }: Field): string {
	const usual = readable(schema.default);
	if (choice === "") return usual ? `not given: ${printable(usual)}` : "not given";
	const value: unknown = JSON.parse(choice);
	return printable(typeof value === "string" ? value : choice);
}

/** The text in colours lies over the text that is edited, which is transparent and of the same size. */
function createEditor(field: Field, changed: () => void): Control {
	const code = field.language !== null;
	const plain = code ? { spellcheck: "false", autocapitalize: "off", autocomplete: "off" } : {};
	const input = h("textarea", { rows: 1, oninput, onkeydown: code && indent, ...plain });
	const shown = h("pre", { "aria-hidden": "true" });
	input.value = field.initial;

	function draw(): void {
		// The last line needs a character to take up room.
		shown.replaceChildren(...coloured(field.language ?? "", `${input.value}\n`));
	}
	function oninput(): void {
		draw();
		changed();
	}
	draw();
	return {
		element: h("div", { class: code ? "anb-editor code" : "anb-editor" }, input, shown),
		input,
		text: () => input.value,
	};
}

/** A new line begins where the line before it does, or further in after a colon. */
function indent(event: KeyboardEvent): void {
	const input = event.target as HTMLTextAreaElement;
	const { key, isComposing, shiftKey, ctrlKey, metaKey, altKey } = event;
	if (key !== "Enter" || isComposing || shiftKey || ctrlKey || metaKey || altKey) return;
	const line = input.value.slice(0, input.selectionStart).split("\n").at(-1) ?? "";
	const [space = ""] = /^[ \t]*/.exec(line) ?? [];
	const more = line.trimEnd().endsWith(":") ? "    " : "";
	event.preventDefault();
	// The only way to insert text that Undo takes back.
	document.execCommand("insertText", false, `\n${space}${more}`);
}
