// A cell of the grid: a variant, small and live, with its phase, its cost, and buttons to stop, pick and open it.

import { h, setAttribute, withCode } from "../../dom.ts";
import type { VariantState } from "../../state.ts";
import type { Context } from "../context.ts";
import { openVariant } from "../context.ts";
import { createQuietPreview, createSummary, type Drawn, type Shared } from "./quiet-preview.ts";

/** Pixels: pages are laid out for a desktop and scaled down to the cell. */
const PAGE_WIDTH = 1024;
/** Characters of the newest text in a cell, which has room for two lines. */
const LONGEST_TEXT = 400;

export function createCell(context: Context, { sight }: Shared, number: number) {
	const summary = createSummary(context, number);
	const { own, name, held, standing, model, facts, answer, pick, swap } = summary;
	const preview = createQuietPreview(own, PAGE_WIDTH);
	const open = h("button", { class: "open", type: "button", onclick: () => openVariant(context, number) });
	const shot = h("div", { class: "shot" }, h("div", { class: "page", inert: true }, preview.element), open);
	const text = createLastText();
	const body = h(
		"div",
		{ class: "bd" },
		h("div", { class: "line" }, name, held.element, standing.element),
		h("div", { class: "line facts" }, model, facts),
		text.element,
		h("div", { class: "line acts" }, answer.element, pick.element, swap.element),
	);
	const element = h("div", { class: "anb-variant", role: "group" }, shot, body);
	model.className = "anb-badge model";
	facts.className = "num";
	sight.watch(shot);

	return {
		element,
		update({ variant, snapshot }: Drawn) {
			const { ready } = snapshot.run;
			summary.update(variant, snapshot);
			text.update(variant.state);
			model.hidden = variant.model === "";
			setAttribute(element, "aria-label", variant.label);
			setAttribute(open, "aria-label", `Open ${variant.label}`);
			element.classList.toggle("picked", ready?.picked === true && ready.variant === number);
			if (sight.has(shot)) preview.update(variant.state);
			else preview.rest();
		},
	};
}

/** Why the variant failed, or the beginning of the last thing it wrote. */
function createLastText() {
	const element = h("p", { class: "say" });
	let shown = "";
	return {
		element,
		update(state: VariantState) {
			const text = state.error || lastText(state);
			if (text !== shown) element.replaceChildren(...withCode(text));
			shown = text;
			element.classList.toggle("err", state.error !== null);
			setAttribute(element, "title", text || null);
		},
	};
}

function lastText({ rows }: VariantState): string {
	const row = rows.findLast((one) => one.kind === "text" && beginningOf(one.text) !== "");
	return row?.kind === "text" ? beginningOf(row.text) : "";
}

function beginningOf(text: string): string {
	return text
		.slice(0, LONGEST_TEXT)
		.replace(/\*\*|^[#>\s]+/gm, "")
		.trim();
}
