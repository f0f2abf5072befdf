// One variant in full: its transcript beside its result.

import { h, icon, listen, setText } from "../dom.ts";
import { plural, seconds } from "../format.ts";
import type { BodyView, Context, Snapshot } from "./context.ts";
import { createResult } from "./result.ts";
import { createSplitter } from "./splitter.ts";
import { createTimeline } from "./timeline.ts";

export function createSingle(context: Context): BodyView {
	const timeline = createTimeline(context);
	const result = createResult(context);
	const fold = createFoldLine(context);
	const element = h("div", { class: "anb-body" });
	const split = createSplitter(context, element);
	element.append(
		h("section", { class: "anb-left", "aria-label": "Transcript" }, fold.element, timeline.element, split),
		result.element,
	);

	return {
		element,
		update(snapshot) {
			const { state } = snapshot;
			const solo = isSolo(context);
			element.classList.toggle("solo", solo);
			element.hidden = solo && state.rows.length === 0 && !state.error && !context.choices.replay;
			const { unfolded, replay } = context.choices;
			element.classList.toggle("folded", !state.busy && !unfolded && !replay && !solo);
			result.element.hidden = solo;
			timeline.update(snapshot);
			if (!solo) result.update(snapshot);
			fold.update(snapshot, solo);
		},
		tick: (snapshot) => timeline.tick(snapshot),
	};
}

/** Whether there is only a transcript to show: the variant has ended without files. */
export function isSolo({ run, choices }: Context): boolean {
	const end = run.state?.variants.get(choices.variant);
	return end !== undefined && !end.busy && end.files.size === 0;
}

/** In a narrow frame, the transcript of a finished run is folded to this line until it is opened. */
function createFoldLine(context: Context) {
	const label = h("span");
	const facts = h("span");
	const element = h(
		"button",
		{ class: "anb-fold", type: "button" },
		icon("right", "chev"),
		label,
		h("span", { class: "sp" }),
		facts,
	);
	listen(element, "click", context.signal, () => {
		context.choices.unfolded = !context.choices.unfolded;
		context.redraw();
	});
	return {
		element,
		update({ state }: Snapshot, solo: boolean) {
			element.hidden = state.busy || solo || context.choices.replay !== null;
			if (element.hidden) return;
			const thought = sumOf(state.rows, (row) =>
				row.kind === "thinking" ? (row.to ?? row.from) - row.from : 0,
			);
			const versions = sumOf([...state.files.values()], (file) => file.versions.length);
			element.setAttribute("aria-expanded", String(context.choices.unfolded));
			const thinking = thought > 0 ? `, thought for ${seconds(thought)}` : "";
			setText(label, plural(state.turn, "turn") + thinking);
			setText(facts, `${plural(state.files.size, "file")}, ${plural(versions, "version")}`);
		},
	};
}

function sumOf<T>(items: readonly T[], measure: (item: T) => number): number {
	return items.reduce((sum, item) => sum + measure(item), 0);
}
