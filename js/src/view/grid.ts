// All variants at once, small and live: how each stands, what it has cost, and the ways to stop, pick and open it.

import { choicesFor } from "../actions.ts";
import { h, KeyedList, setAttribute, setText, withCode } from "../dom.ts";
import { askingTitle, type Option } from "../options.ts";
import type { VariantState } from "../state.ts";
import type { BodyView, Context, Moment } from "./context.ts";
import { createHeld, createPick, createStanding, createStopOrOpen, factsOf } from "./option.ts";
import { createPreview } from "./preview.ts";
import { Sight } from "./sight.ts";

/** Pages are laid out for a desk and drawn as small as the cell. */
const PAGE_WIDTH = 1024;
/** Characters of what a variant said: two lines hold fewer. */
const MOST_WORDS = 400;
export const SILENT = { add: () => {}, clear: () => {} };

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
	const own: Context = { ...context, choices: choicesFor(context.choices, number) };
	const preview = createPreview(own, SILENT, PAGE_WIDTH);
	const open = h("button", { class: "open", type: "button", onclick: () => openOption(context, number) });
	const shot = h("div", { class: "shot" }, h("div", { class: "page", inert: true }, preview.element), open);
	const name = h("b");
	const [held, standing] = [createHeld(), createStanding()];
	const model = h("span", { class: "anb-badge model" });
	const facts = h("span", { class: "num" });
	const say = h("p", { class: "say" });
	const [pick, swap, answer] = [
		createPick(context),
		createStopOrOpen(context, own),
		createAnswer(context, number),
	];
	const element = h(
		"div",
		{ class: "anb-opt", role: "group" },
		shot,
		h(
			"div",
			{ class: "bd" },
			h("div", { class: "line" }, name, held.element, standing.element),
			h("div", { class: "line facts" }, model, facts),
			say,
			h("div", { class: "line acts" }, answer.element, pick.element, swap.element),
		),
	);
	sight.watch(shot);
	let drawn: { state: VariantState; loads: number } | null = null;
	let said = "";

	return {
		element,
		update({ option, moment }: Drawn) {
			const { state } = option;
			const { run } = moment;
			setAttribute(element, "aria-label", option.label);
			setAttribute(open, "aria-label", `Open ${option.label}`);
			setText(name, `Option ${number + 1}`);
			setText(model, option.model);
			model.hidden = option.model === "";
			setAttribute(model, "title", state.model);
			setText(facts, factsOf(option));
			for (const part of [held, standing, pick, swap, answer]) part.update(option, moment);
			pick.element.hidden ||= !answer.element.hidden;
			element.classList.toggle("picked", run.ready?.picked === true && run.ready.variant === number);
			const words = lastWords(state);
			if (words !== said) say.replaceChildren(...withCode(words));
			said = words;
			say.classList.toggle("err", state.error !== null);
			setAttribute(say, "title", state.error);
			const { loads } = context.run;
			if (!sight.has(shot) || (drawn?.state === state && drawn.loads === loads)) return;
			preview.update({ state });
			drawn = { state, loads };
		},
	};
}

export function openOption(context: Context, number: number): void {
	Object.assign(context.choices, { variant: number, arrangement: "one" });
	context.redraw();
}

/** A question is answered where it can be read whole. */
export function createAnswer(context: Context, number: number) {
	const element = h(
		"button",
		{ class: "anb-btn sm primary anb-answer", type: "button", onclick: () => openOption(context, number) },
		"Answer",
	);
	return {
		element,
		update(option: Option) {
			const title = askingTitle(option.state);
			element.hidden = title === null;
			if (title !== null) setAttribute(element, "aria-label", `Answer ${option.label}: ${title}`);
		},
	};
}

/** Why it failed, or how the last it said begins, as plain words. */
function lastWords(state: VariantState): string {
	if (state.error) return state.error;
	const row = state.rows.findLast((one) => one.kind === "text" && beginningOf(one.text) !== "");
	return row?.kind === "text" ? beginningOf(row.text) : "";
}

function beginningOf(text: string): string {
	return text
		.slice(0, MOST_WORDS)
		.replace(/\*\*|^[#>\s]+/gm, "")
		.trim();
}
