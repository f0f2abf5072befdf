// All variants at once, small and live: how each stands, what it has cost, and the ways to stop, pick and open it.

import { h, KeyedList, setAttribute, withCode } from "../dom.ts";
import type { Option } from "../options.ts";
import type { VariantState } from "../state.ts";
import type { BodyView, Context, Moment } from "./context.ts";
import { openOption } from "./option.ts";
import { Sight } from "./sight.ts";
import { createQuietPreview, createSummary } from "./summary.ts";

/** Pages are laid out for a desk and drawn as small as the cell. */
const PAGE_WIDTH = 1024;
/** Characters of the last thing a variant wrote: two lines hold fewer. */
const LONGEST_TEXT = 400;

interface Drawn {
	option: Option;
	moment: Moment;
}

export function createGrid(context: Context): BodyView {
	const element = h("div", { class: "anb-grid" });
	const sight = new Sight(context.redraw, context.signal);
	const cells = new KeyedList<Drawn>(
		element,
		({ option }) => String(option.number),
		({ option }) => createCell(context, sight, option.number),
	);
	function update(moment: Moment): void {
		element.dataset.count = String(moment.options.length);
		cells.update(moment.options.map((option) => ({ option, moment })));
	}
	return { element, update, tick: update };
}

function createCell(context: Context, sight: Sight, number: number) {
	const summary = createSummary(context, number);
	const { own, name, held, standing, model, facts, answer, pick, swap } = summary;
	const preview = createQuietPreview(own, PAGE_WIDTH);
	const open = h("button", { class: "open", type: "button", onclick: () => openOption(context, number) });
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
	const element = h("div", { class: "anb-opt", role: "group" }, shot, body);
	model.className = "anb-badge model";
	facts.className = "num";
	sight.watch(shot);

	return {
		element,
		update({ option, moment }: Drawn) {
			const { ready } = moment.run;
			summary.update(option, moment);
			text.update(option.state);
			model.hidden = option.model === "";
			setAttribute(element, "aria-label", option.label);
			setAttribute(open, "aria-label", `Open ${option.label}`);
			element.classList.toggle("picked", ready?.picked === true && ready.variant === number);
			if (sight.has(shot)) preview.update(option.state);
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
			setAttribute(element, "title", state.error);
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
