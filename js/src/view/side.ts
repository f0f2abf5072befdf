// Variants beside each other, each as wide as it gets; where there are more than fit, they scroll.

import { h, KeyedList, setAttribute, withCode } from "../dom.ts";
import type { Option } from "../options.ts";
import type { BodyView, Context, Moment } from "./context.ts";
import { Sight } from "./sight.ts";
import { createQuietPreview, createSummary } from "./summary.ts";

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
	const summary = createSummary(context, number);
	const { own, name, model, held, standing, facts, swap, answer, pick } = summary;
	const preview = createQuietPreview(own);
	const who = h(
		"div",
		{ class: "who" },
		h("div", null, name, model, held.element),
		h("div", null, standing.element, facts),
	);
	const head = h("header", null, who, swap.element, answer.element, pick.element);
	const why = h("p", { class: "why", hidden: true });
	const element = h("div", { class: "anb-col", role: "group" }, head, why, preview.element);
	model.className = "mut model";
	facts.className = "num mut";
	sight.watch(preview.element);

	return {
		element,
		update({ option, moment }: Drawn) {
			const { error } = option.state;
			summary.update(option, moment);
			setAttribute(element, "aria-label", option.label);
			why.hidden = error === null;
			if (error !== null && why.textContent === "") why.replaceChildren(...withCode(error));
			if (sight.has(preview.element)) preview.update(option.state);
		},
	};
}
