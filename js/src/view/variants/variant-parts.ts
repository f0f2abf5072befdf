// Parts of a variant in every arrangement: its phase, whether the names are set to it, and its buttons.

import {
	h,
	hasFocus,
	icon,
	moveFocus,
	setAttribute,
	setChildren,
	setLabel,
	setText,
} from "../../base/dom.ts";
import { dollars, seconds } from "../../base/format.ts";
import type { CellSource } from "../../run/cell-source.ts";
import type { RunState } from "../../run/run-state.ts";
import type { Variant } from "../../run/variants.ts";
import { openInTab } from "../actions.ts";
import { type Context, followInFooter, STOP_HINT, type VariantPart, viewsIn } from "../context.ts";
import { insert } from "../shared/cell-button.ts";
import { phaseNow, statusOf } from "../shared/status.ts";
import { canShow, presentFiles } from "../shown.ts";
import { continuingCell } from "../transcript/end-card.ts";

/** An icon once the variant has ended or asks, a dot while it works. */
export function createMark(): VariantPart {
	const element = h("span", { class: "anb-mark" });
	return {
		element,
		update({ state }) {
			const [tone, glyph] = statusOf(state);
			setAttribute(element, "class", `anb-mark ${tone}`);
			setChildren(element, glyph, () => [glyph ? icon(glyph) : h("i", { class: "anb-pdot live" })]);
		},
	};
}

/** The phase beside its mark. */
export function createStanding(): VariantPart {
	const mark = createMark();
	const label = h("span", { class: "label" });
	const element = h("span", { class: "anb-standing" }, mark.element, label);
	return {
		element,
		update(variant, snapshot) {
			const { text } = phaseNow(variant);
			mark.update(variant, snapshot);
			setText(label, text);
			setAttribute(element, "title", text);
			element.classList.toggle("warn", statusOf(variant.state)[0] === "warn");
			element.classList.toggle("err", variant.state.reason === "failed");
		},
	};
}

export function factsOf({ state, now }: Variant): string {
	const cost = state.cost === null || state.model.startsWith("demo:") ? "" : state.cost;
	const about = state.estimated ? "~" : "";
	return `${seconds(now)}${cost === "" ? "" : `  ${about}${dollars(cost)}`}`;
}

/** Marks the variant that the names are set to; with a check once the user picked it. */
export function createBoundMark(): VariantPart {
	const element = h("span", { class: "anb-held", hidden: true });
	return {
		element,
		update(variant, { run }) {
			const isBound = run.ready?.variant === variant.number;
			const picked = isBound && run.ready?.picked === true;
			const name = ["in ", h("code", null, run.meta.name)];
			element.hidden = !isBound;
			element.classList.toggle("picked", picked);
			setChildren(element, `${picked} ${run.meta.name}`, () => (picked ? [icon("check"), ...name] : name));
		},
	};
}

/** Sets the names to the visible variant. It counts as picked only once the kernel confirms it. */
export function createPick(context: Context): VariantPart {
	const label = h("span");
	const check = icon("check");
	const element = h("button", { class: "anb-btn sm anb-pick", onclick: press }, check, label);
	let variant: Variant | null = null;
	let pending: number | null = null;

	function press(): void {
		if (!variant || pending !== null) return;
		const { number, label: name } = variant;
		pending = number;
		context.choices.note = "";
		context.redraw();
		const reply = context.run.command("pick", { variant: number });
		followInFooter(context, reply, "The kernel did not answer. Pick again when it is idle.", (result) => {
			pending = null;
			context.announce(result.done ? `${name} picked` : result.why);
		});
	}

	return {
		element,
		update(next, { run }) {
			variant = next;
			const picked = run.ready?.picked === true && run.ready.variant === next.number;
			const action = picked ? "Picked" : pending === next.number ? "Picking" : "Pick";
			element.hidden = run.lost !== "" || !context.run.greeted || isEmpty(context, next);
			element.toggleAttribute("disabled", next.state.busy);
			element.classList.toggle("picked", picked);
			check.toggleAttribute("hidden", !picked);
			setText(label, action);
			setLabel(element, `${action} ${next.label}`, pickTitle(next, run, context.run.busy));
		},
	};
}

/** Whether the user stopped it before there was anything to pick. */
function isEmpty(context: Context, { number, state }: Variant): boolean {
	const isStopped = state.reason === "stopped" || state.reason === "interrupted";
	const hasFile = presentFiles(state).some(({ versions }) => versions.length > 0);
	return isStopped && !hasFile && !viewsIn(context, "hasResult").some((has) => has(context, number));
}

/** Inserts the cell that continues a variant that was stopped or reached a limit, and runs it. */
export function createContinue(context: Context): VariantPart {
	const element = h("button", { class: "anb-btn sm", onclick: press }, "Continue");
	let cell: CellSource | null = null;

	function press(click: MouseEvent): void {
		if (cell) void insert(context, click, cell, { runs: true });
	}

	return {
		element,
		update({ number, label, state }) {
			cell = state.reason === "failed" ? null : continuingCell(context, state, number);
			element.hidden = cell === null;
			setLabel(element, `Continue ${label}`, cell ?? "");
		},
	};
}

function pickTitle({ state }: Variant, { meta }: RunState, others: boolean): string {
	if (state.busy) return "Still running: wait for it, or stop it";
	return `${others ? "Stop the others and use" : "Use"} this one as \`${meta.name}\``;
}

/** A button that stops this variant while it runs, and opens its page afterwards. */
export function createStopOrOpen(context: Context, variantContext: Context): VariantPart {
	const stop = h("button", { class: "anb-ic anb-stop-one", onclick: press }, h("span", { class: "stop" }));
	const open = h("button", { class: "anb-ic", onclick: () => openInTab(variantContext) }, icon("open"));
	const element = h("span", { class: "anb-swap" }, stop, open);
	let variant: Variant | null = null;
	let stopping: number | null = null;

	function press(): void {
		if (!variant || stopping === variant.number) return;
		const { number } = variant;
		stopping = number;
		context.redraw();
		const reply = context.run.command("stop", { variant: number });
		followInFooter(context, reply, STOP_HINT, ({ done }) => {
			stopping = done ? number : null;
		});
	}

	return {
		element,
		update(next) {
			variant = next;
			const hadFocus = hasFocus(stop);
			stop.hidden = !next.state.busy;
			open.hidden = next.state.busy;
			setLabel(stop, `${stopping === next.number ? "Stopping" : "Stop"} ${next.label}`);
			setAttribute(stop, "aria-disabled", stopping === next.number ? "true" : null);
			setLabel(open, `Open ${next.label} in new tab`, "Open in new tab");
			open.toggleAttribute("disabled", !presentFiles(next.state).some(canShow));
			if (hadFocus && stop.hidden) moveFocus(open);
		},
	};
}
