// The top line: where the run stands, what it has used, and the way to stop it.

import { h, hasFocus, icon, moveFocus, setAttribute, setText } from "../dom.ts";
import { count, dollars, seconds } from "../format.ts";
import { type Facts, factsOfAll, phaseOfAll, shortModel, spokenOfAll } from "../options.ts";
import type { VariantState } from "../state.ts";
import { type Context, type Moment, note } from "./context.ts";
import { createMenu } from "./menu.ts";
import { createReplayButton } from "./scrubber.ts";
import { phaseNow, statusOf, statusOfAll } from "./status.ts";

export interface HeaderView {
	readonly element: HTMLElement;
	update(moment: Moment): void;
}

export function createHeader(context: Context): HeaderView {
	const dot = h("span", { class: "anb-dot" });
	const name = h("span", { class: "name" });
	const phase = h("span", { class: "phase" });
	const spoken = h("span", { class: "anb-sr", role: "status", "aria-live": "polite" });
	const meta = createMeta(context);
	const stop = createStop(context);
	const replay = createReplayButton(context);
	const menu = createMenu(context);
	const element = h(
		"header",
		{ class: "anb-head" },
		h("div", { class: "anb-status" }, dot, name, phase),
		meta.element,
		stop.element,
		replay.element,
		menu.element,
		spoken,
	);
	let shown = "";

	/** Actions take the place of Stop; a run that left nothing has its transcript alone. */
	function afterStop(): HTMLElement | null | undefined {
		const places = [menu.element.querySelector("button"), replay.element];
		return (
			places.find((place) => place && !place.closest("[hidden]")) ??
			element.parentElement?.querySelector<HTMLElement>(".anb-scroll")
		);
	}

	return {
		element,
		update(moment) {
			const { state, run, options } = moment;
			const many = options.length > 1;
			const [tone, glyph] = many ? statusOfAll(options) : statusOf(state);
			const words = many ? phaseOfAll(options) : phaseNow(moment);
			setText(name, run.meta.name);
			if (shown !== `${tone} ${words}`) {
				dot.className = `anb-dot ${tone}`;
				dot.replaceChildren(glyph ? icon(glyph) : h("i"));
				phase.replaceChildren(...phaseWords(words, state, tone === "live"));
				shown = `${tone} ${words}`;
			}
			// Seconds are for the eye: a reader hears that it retries, not every tick.
			const heard = many ? spokenOfAll(options) : words.replace(/ in \d+ s$/, "");
			if (!context.choices.replay) setText(spoken, `${run.meta.name}: ${heard}`);
			meta.update(moment);
			const held = hasFocus(stop.element);
			stop.update(moment);
			replay.update(moment);
			menu.update(moment);
			if (held && stop.element.hidden) moveFocus(afterStop());
		},
	};
}

function phaseWords(words: string, state: VariantState, live: boolean): Node[] {
	const holder = h("span", live ? { class: "anb-live" } : null);
	const path = words.startsWith("writing ") ? words.slice(8) : "";
	holder.append(path && state.files.has(path) ? "writing " : words);
	if (path && state.files.has(path)) holder.append(h("code", null, path));
	return [holder];
}

function factsNow({ run, state, now, options }: Moment): Facts {
	if (options.length > 1) return factsOfAll(options);
	const { model, usage, cost, estimated } = state;
	return { model, demo: run.meta.demo, usage, cost, estimated, now };
}

function createMeta(context: Context) {
	const model = h("span", { class: "anb-badge model" });
	const elapsed = h("span", { class: "el", title: "elapsed" });
	const tokensIn = h("span");
	const tokensOut = h("span");
	const tokens = h(
		"span",
		{ class: "toks", title: "tokens in, out" },
		h("span", null, icon("up"), h("span", { class: "anb-sr" }, "in "), tokensIn),
		h("span", null, icon("out"), h("span", { class: "anb-sr" }, "out "), tokensOut),
	);
	const cost = h("span");
	const fill = h("i");
	const meter = h(
		"span",
		{
			class: "anb-meter",
			role: "meter",
			"aria-label": "budget used",
			"aria-valuemin": 0,
			"aria-valuemax": 100,
		},
		fill,
	);
	const spend = h("span", { class: "grow" }, cost, meter);
	const step = h("span", { class: "step", title: "agent step" });
	const element = h("div", { class: "anb-meta num" }, model, elapsed, tokens, spend, step);
	let badge = "";

	return {
		element,
		update(moment: Moment) {
			const { run, state, options } = moment;
			const facts = factsNow(moment);
			const { usage, estimated, demo, now } = facts;
			const full = facts.model || run.meta.model;
			if (badge !== full) {
				badge = full;
				model.title = [...new Set(options.map((option) => option.state.model || full))].join(", ");
				model.replaceChildren(...(demo ? [icon("plug"), "offline demo model"] : [shortModel(full)]));
				model.classList.toggle("model", !demo);
			}
			setText(elapsed, seconds(now));
			elapsed.hidden = !context.run.busy && now < 0.05;
			setText(tokensIn, count(usage.input));
			setText(tokensOut, (estimated ? "~" : "") + count(usage.output));
			tokens.hidden = usage.input + usage.output === 0;
			const { budget } = run.meta;
			spend.hidden = demo || facts.cost === null || tokens.hidden !== false;
			setText(cost, (estimated ? "~" : "") + dollars(facts.cost ?? 0));
			meter.hidden = budget === null;
			if (budget) {
				const share = Math.min(100, Math.round((100 * (facts.cost ?? 0)) / budget));
				setAttribute(meter, "aria-valuenow", String(share));
				setAttribute(spend, "title", `${share} % of the ${dollars(budget)} budget`);
				fill.style.width = `${share}%`;
				meter.classList.toggle("hot", share >= 90);
			}
			const steps = typeof state.settings.steps === "number" ? state.settings.steps : run.meta.steps;
			step.hidden = state.step === 0 || options.length > 1;
			setText(step, steps ? `step ${state.step}/${steps}` : `step ${state.step}`);
		},
	};
}

/** Stop; without an answer it says what to press instead. */
function createStop(context: Context) {
	const label = h("span", null, "Stop");
	const button = h(
		"button",
		{ class: "anb-btn anb-act", type: "button" },
		h("span", { class: "stop" }),
		label,
	);
	const hint = h("span", { class: "anb-hint" });
	const element = h("span", { class: "anb-stop" }, hint, button);
	let asked = false;

	function press(): void {
		const state = context.run.state;
		if (!state || asked) return;
		mark(true);
		note(context, context.run.command("stop"), state.meta.stop_hint, ({ done }) => mark(done));
	}
	function mark(on: boolean): void {
		asked = on;
		setText(label, on ? "Stopping" : "Stop");
		setAttribute(button, "aria-disabled", on ? "true" : null);
	}
	button.addEventListener("click", press, { signal: context.signal });

	return {
		element,
		update({ run }: Moment) {
			const { busy } = context.run;
			element.hidden = !busy;
			button.hidden = !run.owner;
			if (!run.owner) setText(hint, "open in another window");
		},
	};
}
