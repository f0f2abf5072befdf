// What every arrangement shows of a variant: how it stands, whether the names hold it, and what can be done with it.

import { openInTab } from "../actions.ts";
import { h, hasFocus, icon, listen, moveFocus, setAttribute, setText, withCode } from "../dom.ts";
import { dollars, seconds } from "../format.ts";
import type { Option } from "../options.ts";
import { canShow, presentFiles } from "../shown.ts";
import type { RunState } from "../store.ts";
import { type Context, type Moment, note } from "./context.ts";
import { phaseNow, statusOf } from "./status.ts";

export interface OptionPart {
	readonly element: HTMLElement;
	update(option: Option, moment: Moment): void;
}

/** Shows one variant alone. */
export function openOption(context: Context, number: number): void {
	Object.assign(context.choices, { variant: number, arrangement: "one" });
	context.redraw();
}

/** A mark whose shape tells the end from the work. */
export function createMark(): OptionPart {
	const element = h("span", { class: "anb-mark" });
	let shown = "";
	return {
		element,
		update({ state }) {
			const [tone, glyph] = statusOf(state);
			if (shown === `${tone} ${glyph}`) return;
			shown = `${tone} ${glyph}`;
			element.className = `anb-mark ${tone}`;
			element.replaceChildren(glyph ? icon(glyph) : h("i", { class: "anb-pdot live" }));
		},
	};
}

/** The phase in words beside its mark. */
export function createStanding(): OptionPart {
	const mark = createMark();
	const words = h("span", { class: "label" });
	const element = h("span", { class: "anb-standing" }, mark.element, words);
	return {
		element,
		update(option, moment) {
			const text = phaseNow(option);
			mark.update(option, moment);
			setText(words, text);
			setAttribute(element, "title", text);
			element.classList.toggle("warn", statusOf(option.state)[0] === "warn");
			element.classList.toggle("err", option.state.reason === "failed");
		},
	};
}

export function factsOf({ state, now }: Option): string {
	const cost = state.cost === null || state.model.startsWith("demo:") ? "" : state.cost;
	const about = state.estimated ? "~" : "";
	return `${seconds(now)}${cost === "" ? "" : `  ${about}${dollars(cost)}`}`;
}

/** Says which variant the names hold: quietly at first, plainly once it was picked. */
export function createHeld(): OptionPart {
	const element = h("span", { class: "anb-held", hidden: true });
	let shown = "";
	return {
		element,
		update(option, { run }) {
			const held = run.ready?.variant === option.number;
			const picked = held && run.ready?.picked === true;
			element.hidden = !held;
			if (!held || shown === `${picked} ${run.meta.name}`) return;
			shown = `${picked} ${run.meta.name}`;
			element.classList.toggle("picked", picked);
			element.replaceChildren(...(picked ? [icon("check")] : []), ...withCode(`in \`${run.meta.name}\``));
		},
	};
}

/** Binds the names to the option that is shown. That it is picked is what the kernel says, never what we hope. */
export function createPick(context: Context): OptionPart {
	const label = h("span");
	const check = icon("check");
	const element = h("button", { class: "anb-btn sm anb-pick", type: "button" }, check, label);
	let option: Option | null = null;
	let asked: number | null = null;

	function press(): void {
		if (!option || asked !== null) return;
		const { number, label: name } = option;
		asked = number;
		context.choices.note = "";
		context.redraw();
		const reply = context.run.command("pick", { variant: number });
		note(context, reply, "The kernel did not answer. Pick again when it is idle.", (result) => {
			asked = null;
			context.announce(result.done ? `${name} picked` : result.why);
		});
	}
	listen(element, "click", context.signal, press);

	return {
		element,
		update(next, { run }) {
			option = next;
			const picked = run.ready?.picked === true && run.ready.variant === next.number;
			const action = picked ? "Picked" : asked === next.number ? "Picking" : "Pick";
			element.hidden = !run.owner;
			element.toggleAttribute("disabled", next.state.busy);
			element.classList.toggle("picked", picked);
			check.toggleAttribute("hidden", !picked);
			setText(label, action);
			setAttribute(element, "aria-label", `${action} ${next.label}`);
			setAttribute(element, "title", pickTitle(next, run, context.run.busy));
		},
	};
}

function pickTitle({ state }: Option, { meta, ready }: RunState, others: boolean): string {
	if (state.busy) return "Still at work: wait, or stop it";
	const files = ready?.files_name ?? meta.files_name;
	const names = files ? `\`${meta.name}\` and \`${files}\`` : `\`${meta.name}\``;
	return `Pick: ${others ? "stops the others and " : ""}binds ${names}`;
}

/** Stops that variant alone while it runs; afterwards the same place opens the page that `own` looks at. */
export function createStopOrOpen(context: Context, own: Context): OptionPart {
	const stop = h("button", { class: "anb-ic anb-stop-one", type: "button" }, h("span", { class: "stop" }));
	const open = h("button", { class: "anb-ic", type: "button" }, icon("open"));
	const element = h("span", { class: "anb-swap" }, stop, open);
	let option: Option | null = null;
	let asked: number | null = null;

	function press(): void {
		if (!option || asked === option.number) return;
		const { number } = option;
		asked = number;
		context.redraw();
		const reply = context.run.command("stop", { variant: number });
		note(context, reply, context.run.state?.meta.stop_hint ?? "", ({ done }) => {
			asked = done ? number : null;
		});
	}
	listen(stop, "click", context.signal, press);
	listen(open, "click", context.signal, () => openInTab(own));

	return {
		element,
		update(next, { run }) {
			option = next;
			const held = hasFocus(stop);
			stop.hidden = !next.state.busy || !run.owner;
			open.hidden = next.state.busy;
			const label = `${asked === next.number ? "Stopping" : "Stop"} ${next.label}`;
			setAttribute(stop, "aria-label", label);
			setAttribute(stop, "title", label);
			setAttribute(stop, "aria-disabled", asked === next.number ? "true" : null);
			setAttribute(open, "aria-label", `Open ${next.label} in new tab`);
			setAttribute(open, "title", "Open in new tab");
			open.toggleAttribute("disabled", !presentFiles(next.state).some(canShow));
			if (held && stop.hidden) moveFocus(open);
		},
	};
}
