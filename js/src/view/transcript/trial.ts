// The outcome of trying a call before it is approved: its output, and the names it would change.

import { h, setText } from "../../base/dom.ts";
import { printable } from "../../base/printable.ts";
import type { Trial } from "../choices.ts";
import type { Context } from "../context.ts";
import { createNameChanges, NAMES_TYPE, type Names } from "./notebook-names.ts";
import { createOutputs } from "./outputs.ts";

const OFFER =
	"Try it runs this in a copy of the kernel: your variables stay, files and network are touched for real.";
const DONE = "Tried in a copy: your variables are unchanged, files and network were touched for real.";

export function createTrial(context: Context) {
	const status = h("p", { class: "anb-cap", role: "status" });
	const body = h("div");
	const element = h("div", { class: "anb-trial", hidden: true }, status, body);
	let drawn: Trial | null = null;

	function draw(trial: Trial | null): void {
		const { outputs = [], problem = "" } = trial?.result ?? {};
		const names = outputs.flatMap((bundle) => bundle[NAMES_TYPE] ?? []) as unknown as Names[];
		const others = outputs.filter((bundle) => !bundle[NAMES_TYPE]);
		body.replaceChildren(
			...createOutputs(context, others),
			...(problem ? [h("p", { class: "anb-note warn" }, printable(problem))] : []),
			...names.map((changes) => h("div", { class: "anb-names" }, ...createNameChanges(changes))),
		);
	}

	/** Scrolls to the result; of one that is taller than the pane, to its beginning. */
	function show(): void {
		for (const part of [element, status]) part.scrollIntoView?.({ block: "nearest" });
	}

	return {
		element,
		update(offered: boolean, trial: Trial | null) {
			element.hidden = !offered;
			setText(status, !trial ? OFFER : trial.result ? DONE : "Trying it in a copy …");
			if (trial === drawn) return;
			drawn = trial;
			draw(trial);
			if (trial?.result) requestAnimationFrame(show);
		},
	};
}
