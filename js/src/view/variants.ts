// One tab per variant of a run, when there is more than one; picking binds that one to the name.

import { h, KeyedList, setAttribute, setText, type View } from "../dom.ts";
import { dollars, seconds } from "../format.ts";
import type { VariantState } from "../state.ts";
import { type Context, type Moment, outcome } from "./context.ts";
import { rove } from "./rove.ts";

interface Option {
	number: number;
	state: VariantState;
	on: boolean;
}

export function createVariants(context: Context) {
	const strip = h("div", { class: "anb-tabs", role: "tablist", "aria-label": "Variants" });
	const facts = h("span", { class: "num mut" });
	const pick = h("button", { class: "anb-btn sm", type: "button" }, "Pick");
	const element = h(
		"div",
		{ class: "anb-bar anb-vars", hidden: true },
		strip,
		h("span", { class: "sp" }),
		facts,
		pick,
	);
	const tabs = new KeyedList<Option>(
		strip,
		(option) => String(option.number),
		() => createTab(choose),
	);
	const { signal } = context;
	let numbers: number[] = [];
	let picked: number | null = null;

	function choose(number: number): void {
		context.choices.variant = number;
		context.redraw();
	}
	strip.addEventListener("keydown", (event) => rove(event, numbers, context.choices.variant, choose), {
		signal,
	});
	pick.addEventListener(
		"click",
		() => {
			const number = context.choices.variant;
			const reply = context.run.command("pick", { variant: number });
			void outcome(reply, "The kernel did not answer. Try again when it is idle.").then((result) => {
				if (result.done) picked = number;
				context.announce(result.done ? `option ${number + 1} picked` : result.why);
				context.redraw();
			});
		},
		{ signal },
	);

	return {
		element,
		update({ run, state }: Moment) {
			element.hidden = run.variants.size < 2;
			if (element.hidden) return;
			numbers = [...run.variants.keys()].sort((one, other) => one - other);
			const shown = context.choices.variant;
			tabs.update(
				numbers.map((number) => ({ number, state: run.variants.get(number)!, on: number === shown })),
			);
			const cost = state.cost === null || run.meta.demo ? "" : `  ${dollars(state.cost)}`;
			setText(facts, state.busy ? state.phase : `${seconds(state.at)}${cost}`);
			pick.hidden = !run.owner;
			pick.toggleAttribute("disabled", state.busy);
			pick.classList.toggle("picked", picked === shown);
			setText(pick, picked === shown ? "Picked" : "Pick");
		},
	};
}

function createTab(choose: (number: number) => void): View<Option> {
	const dot = h("span", { class: "anb-pdot" });
	const label = h("span");
	const status = h("span", { class: "anb-sr" });
	const element = h("button", { class: "anb-tab", role: "tab", type: "button" }, dot, label, status);
	let number = 0;
	element.addEventListener("click", () => choose(number));
	return {
		element,
		update(option) {
			number = option.number;
			const { busy, reason, phase } = option.state;
			setText(label, `Option ${number + 1}`);
			setText(status, phase);
			dot.className = `anb-pdot ${busy ? "live" : reason === "end_turn" ? "ok" : "off"}`;
			setAttribute(element, "aria-selected", String(option.on));
			setAttribute(element, "tabindex", option.on ? "0" : "-1");
		},
	};
}
