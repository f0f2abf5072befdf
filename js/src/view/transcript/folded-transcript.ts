// The transcript folded to one line, which opens it.

import { h, icon, listen, setText } from "../../dom.ts";
import { plural, seconds } from "../../format.ts";
import { saveLayout } from "../../ui.ts";
import type { Context, Snapshot } from "../context.ts";

/** Shows the result alone, with the transcript folded to a line, or both again. */
export function showAlone({ choices, redraw }: Context, alone: boolean): void {
	Object.assign(choices, { alone, unfolded: !alone });
	saveLayout({ alone });
	redraw();
}

/** The folded transcript: in a narrow frame when the run has ended, at any width when the result is shown alone. */
export function createFoldLine(context: Context) {
	const label = h("span");
	const facts = h("span");
	let expanded = false;
	const element = h(
		"button",
		{ class: "anb-fold", type: "button" },
		icon("right", "chev"),
		label,
		h("span", { class: "sp" }),
		facts,
	);
	listen(element, "click", context.signal, () => {
		const { choices } = context;
		if (choices.alone) showAlone(context, false);
		else choices.unfolded = !expanded;
		context.redraw();
	});
	return {
		element,
		update({ state }: Snapshot, solo: boolean, alone: boolean, open: boolean) {
			expanded = !alone && open;
			element.hidden = !alone && (state.busy || solo || context.choices.replay !== null);
			if (element.hidden) return;
			const thought = sumOf(state.rows, (row) =>
				row.kind === "thinking" ? (row.to ?? row.from) - row.from : 0,
			);
			const versions = sumOf([...state.files.values()], (file) => file.versions.length);
			element.setAttribute("aria-expanded", String(expanded));
			const thinking = thought > 0 ? `, thought for ${seconds(thought)}` : "";
			setText(label, plural(state.turn, "turn") + thinking);
			setText(facts, `${plural(state.files.size, "file")}, ${plural(versions, "version")}`);
		},
	};
}

function sumOf<T>(items: readonly T[], measure: (item: T) => number): number {
	return items.reduce((sum, item) => sum + measure(item), 0);
}
