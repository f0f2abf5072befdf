// The figures in the header: model, time, tokens, share of the context window, cost and turn.

import { h, icon, setAttribute, setChildren, setText, showText } from "../../base/dom.ts";
import { count, dollars, seconds } from "../../base/format.ts";
import type { Json } from "../../run/events.ts";
import type { VariantState } from "../../run/state.ts";
import { type Facts, factsOfAll, shortModel, type Variant } from "../../run/variants.ts";
import type { Context, Snapshot } from "../context.ts";

export function createMeta(context: Context) {
	const model = createModel();
	const replayed = h("span", { class: "anb-badge" }, "replayed");
	const elapsed = h("span", { class: "el", title: "elapsed" });
	const tokens = createTokens();
	const cost = createCost();
	const share = h("span", { class: "context", title: "of the model's context window" });
	const turn = h("span", { class: "turn", title: "turn" });
	const about = h("span", { class: "about" });
	const parts = [model.element, replayed, about, elapsed, tokens.element, share, cost.element, turn];
	const element = h("div", { class: "anb-meta num" }, ...parts);

	return {
		element,
		update(snapshot: Snapshot) {
			const { state, variants } = snapshot;
			const facts = factsOfAll(variants);
			model.update(facts, snapshot);
			replayed.hidden = !facts.replayed;
			setAttribute(replayed, "title", `Replayed from ${facts.replayed}; no model was called`);
			showText(about, snapshot.run.meta.about.join(", "));
			setText(elapsed, seconds(facts.now));
			elapsed.hidden = !context.run.busy && facts.now < 0.05;
			tokens.update(facts);
			cost.update(facts, budgetOf(variants));
			cost.element.hidden ||= snapshot.run.meta.demo;
			showText(share, shareText(snapshot));
			turn.hidden = state.turn === 0 || variants.length > 1;
			setText(turn, turnText(snapshot));
		},
	};
}

function budgetOf([variant]: readonly Variant[]): number | null {
	const usd = variant?.state.settings.usd;
	return typeof usd === "number" ? usd : null;
}

/** The share of the context window that the last turn filled; empty if unknown. */
function shareText({ state, variants }: Snapshot): string {
	const window = Number(state.settings.window ?? 0);
	const share = window ? Math.round((100 * state.context) / window) : 0;
	return share && variants.length === 1 ? `${share} % of context` : "";
}

function turnText({ state }: Snapshot): string {
	const { steps } = state.settings;
	return steps ? `turn ${state.turn}/${steps}` : `turn ${state.turn}`;
}

function createModel() {
	const element = h("span", { class: "anb-badge model" });
	return {
		element,
		update({ model }: Facts, { run, variants }: Snapshot) {
			const { demo } = run.meta;
			const full = model || run.meta.model;
			const titles = new Set(variants.map(({ state }) => titleOf(state, full)));
			setAttribute(element, "title", [...titles].join(", "));
			setChildren(element, full, () => (demo ? [icon("plug"), "offline demo model"] : [shortModel(full)]));
			element.classList.toggle("model", !demo);
		},
	};
}

/** The model; for an outside agent, its version and what it does without approval. */
function titleOf({ model, settings }: VariantState, full: string): string {
	const agent = settings.agent as Json | undefined;
	const about = agent ? `: ${[agent.title, agent.version].filter(Boolean).join(" ")}. ${agent.unasked}` : "";
	return `${model || full}${about}`;
}

function createTokens() {
	const input = h("span");
	const output = h("span");
	const element = h(
		"span",
		{ class: "toks", title: "tokens in, out" },
		h("span", null, icon("up"), h("span", { class: "anb-sr" }, "in "), input),
		h("span", null, icon("out"), h("span", { class: "anb-sr" }, "out "), output),
	);
	return {
		element,
		update(facts: Facts) {
			setText(input, count(facts.usage.input));
			setText(output, about(facts, count(facts.usage.output)));
			element.hidden = !hasUsage(facts);
		},
	};
}

/** The cost so far, and its share of the budget. */
function createCost() {
	const cost = h("span");
	const fill = h("i");
	const range = { "aria-valuemin": 0, "aria-valuemax": 100 };
	const meter = h("span", { class: "anb-meter", role: "meter", "aria-label": "budget used", ...range }, fill);
	const element = h("span", { class: "grow" }, cost, meter);
	return {
		element,
		update(facts: Facts, budget: number | null) {
			element.hidden = facts.cost === null || !hasUsage(facts);
			const when = facts.replayed ? " when recorded" : "";
			setText(cost, about(facts, dollars(facts.cost ?? 0)) + when);
			meter.hidden = budget === null;
			if (!budget) return;
			const share = Math.min(100, Math.round((100 * (facts.cost ?? 0)) / budget));
			setAttribute(meter, "aria-valuenow", String(share));
			setAttribute(element, "title", `${share} % of the ${dollars(budget)} budget`);
			fill.style.width = `${share}%`;
			meter.classList.toggle("hot", share >= 90);
		},
	};
}

function hasUsage({ usage }: Facts): boolean {
	return usage.input + usage.output > 0;
}

function about({ estimated }: Facts, text: string): string {
	return estimated ? `~${text}` : text;
}
