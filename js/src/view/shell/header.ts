// The top line: the phase of the run, its figures, and a button to stop it.

import { labExtension } from "../../cells.ts";
import { h, hasFocus, icon, listen, moveFocus, setAttribute, setText } from "../../dom.ts";
import type { VariantState } from "../../state.ts";
import { phaseOfAll, spokenOfAll } from "../../variants.ts";
import { type Context, followInFooter, type Snapshot, STOP_HINT } from "../context.ts";
import { createReplayButton } from "../replay/replay.ts";
import { failedCheck, phaseNow, statusOf, statusOfAll, withoutSeconds } from "../shared/status.ts";
import { createChain } from "./chain.ts";
import { createMeta } from "./figures.ts";
import { createFoldButton } from "./fold-run.ts";
import { createFullScreenButton } from "./full-screen.ts";
import { createMenu } from "./menu.ts";

export function createHeader(context: Context) {
	const status = createStatus(context);
	const meta = createMeta(context);
	const stop = createStop(context);
	const replay = createReplayButton(context);
	const menu = createMenu(context);
	const full = createFullScreenButton(context);
	const parts = [status, createChain(context), meta, stop, replay, menu, full, createFoldButton(context)];
	const element = h("header", { class: "anb-head" }, ...parts.map((part) => part.element), status.spoken);

	/** Where the focus goes when Stop disappears: Actions, Replay, or else the transcript. */
	function afterStop(): HTMLElement | null | undefined {
		const places = [menu.element.querySelector("button"), replay.element];
		return (
			places.find((place) => place && !place.closest("[hidden]")) ??
			element.parentElement?.querySelector<HTMLElement>(".anb-scroll")
		);
	}

	return {
		element,
		update(snapshot: Snapshot) {
			const held = hasFocus(stop.element);
			for (const part of parts) part.update(snapshot);
			if (held && stop.element.hidden) moveFocus(afterStop());
		},
	};
}

/** The name of the run and its phase, visible and for a screen reader. */
function createStatus(context: Context) {
	const dot = h("span", { class: "anb-dot" });
	const name = h("span", { class: "name" });
	const phase = h("span", { class: "phase" });
	const spoken = h("span", { class: "anb-sr", role: "status", "aria-live": "polite" });
	let shown = "";

	return {
		element: h("div", { class: "anb-status" }, dot, name, phase),
		spoken,
		update(snapshot: Snapshot) {
			const { state, run } = snapshot;
			const { tone, glyph, text, announced } = headline(snapshot);
			setText(name, run.meta.name);
			if (shown !== `${tone} ${text}`) {
				dot.className = `anb-dot ${tone}`;
				dot.replaceChildren(glyph ? icon(glyph) : h("i"));
				phase.replaceChildren(phaseElement(text, state, tone === "live"));
				setAttribute(phase, "title", text);
				shown = `${tone} ${text}`;
			}
			if (!context.choices.replay) setText(spoken, `${run.meta.name}: ${announced}`);
		},
	};
}

/** The phase of the run, or of all its variants, and the check that failed. */
function headline(snapshot: Snapshot) {
	const { state, run, variants } = snapshot;
	const many = variants.length > 1;
	const phase = many ? phaseOfAll(variants) : phaseNow(snapshot);
	const check = state.busy ? "" : failedCheck(run);
	if (check) {
		const text = `check failed: ${check}`;
		return { tone: "err", glyph: "error", text, announced: text } as const;
	}
	const [tone, glyph] = many ? statusOfAll(variants) : statusOf(state);
	return { tone, glyph, text: phase, announced: many ? spokenOfAll(variants) : withoutSeconds(phase) };
}

/** The phase, with the file that is being written as code. */
function phaseElement(phase: string, state: VariantState, live: boolean): HTMLElement {
	const path = phase.startsWith("writing ") ? phase.slice("writing ".length) : "";
	const parts = state.files.has(path) ? ["writing ", h("code", null, path)] : [phase];
	return h("span", live ? { class: "anb-live" } : null, ...parts);
}

/** The button that stops the run. A kernel that does not answer is interrupted, or the footer says what to press. */
function createStop(context: Context) {
	const label = h("span", null, "Stop");
	const square = h("span", { class: "stop" });
	const button = h("button", { class: "anb-btn anb-act", type: "button" }, square, label);
	const element = h("span", { class: "anb-stop" }, button);
	let asked = false;

	function press(click: UIEvent): void {
		if (asked) return;
		mark(true);
		const output = { element: button, key: context.run.key };
		followInFooter(context, context.run.command("stop"), STOP_HINT, (result) => {
			const silent = !result.done && result.why === STOP_HINT;
			const interrupted = silent && labExtension()?.interrupt(output, click) === true;
			if (interrupted) context.choices.note = "The kernel was busy, so it was interrupted.";
			mark(result.done || interrupted);
		});
	}
	function mark(on: boolean): void {
		asked = on;
		setText(label, on ? "Stopping" : "Stop");
		setAttribute(button, "aria-disabled", on ? "true" : null);
	}
	listen(button, "click", context.signal, press);

	return {
		element,
		update() {
			element.hidden = !context.run.busy;
		},
	};
}
