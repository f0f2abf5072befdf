// Variants beside each other, each as wide as it gets; where there are more than fit, they scroll.

import { choicesFor } from "../actions.ts";
import { h, KeyedList, setAttribute, setText, withCode } from "../dom.ts";
import type { Option } from "../options.ts";
import type { VariantState } from "../state.ts";
import type { BodyView, Context, Moment } from "./context.ts";
import { createAnswer, SILENT } from "./grid.ts";
import { createHeld, createPick, createStanding, createStopOrOpen, factsOf } from "./option.ts";
import { createPreview } from "./preview.ts";
import { Sight } from "./sight.ts";

interface Drawn {
	option: Option;
	moment: Moment;
}

export function createSide(context: Context): BodyView {
	const element = h("div", { class: "anb-side", tabindex: 0 });
	const sight = new Sight(context.redraw, context.signal);
	const columns = new KeyedList<Drawn>(
		element,
		({ option }) => String(option.number),
		({ option }) => createColumn(context, sight, option.number),
	);
	function update(moment: Moment): void {
		element.classList.toggle("two", moment.options.length === 2);
		element.classList.toggle("three", moment.options.length === 3);
		columns.update(moment.options.map((option) => ({ option, moment })));
	}
	return { element, update, tick: update };
}

function createColumn(context: Context, sight: Sight, number: number) {
	const own: Context = { ...context, choices: choicesFor(context.choices, number) };
	const preview = createPreview(own, SILENT);
	const name = h("b");
	const model = h("span", { class: "mut model" });
	const facts = h("span", { class: "num mut" });
	const why = h("p", { class: "why", hidden: true });
	const [held, standing] = [createHeld(), createStanding()];
	const [pick, swap, answer] = [
		createPick(context),
		createStopOrOpen(context, own),
		createAnswer(context, number),
	];
	const head = h(
		"header",
		null,
		h(
			"div",
			{ class: "who" },
			h("div", null, name, model, held.element),
			h("div", null, standing.element, facts),
		),
		swap.element,
		answer.element,
		pick.element,
	);
	const element = h("div", { class: "anb-col", role: "group" }, head, why, preview.element);
	sight.watch(preview.element);
	let drawn: { state: VariantState; loads: number; file: string | null } | null = null;

	return {
		element,
		update({ option, moment }: Drawn) {
			const { state } = option;
			setAttribute(element, "aria-label", option.label);
			setText(name, `Option ${number + 1}`);
			setText(model, option.model);
			setAttribute(model, "title", state.model);
			setText(facts, factsOf(option));
			for (const part of [held, standing, pick, swap, answer]) part.update(option, moment);
			pick.element.hidden ||= !answer.element.hidden;
			why.hidden = state.error === null;
			if (state.error !== null && why.textContent === "") why.replaceChildren(...withCode(state.error));
			const { loads } = context.run;
			const { file } = own.choices;
			if (!sight.has(preview.element)) return;
			if (drawn?.state === state && drawn.loads === loads && drawn.file === file) return;
			preview.update({ state });
			drawn = { state, loads, file };
		},
	};
}
