// The bar under the result: the shown file, its version, and buttons to go through the versions.

import { h, listen, setAttribute, setText } from "../dom.ts";
import { type ShownFile, shownFile, shownPage } from "../shown.ts";
import { iconButton } from "./buttons.ts";
import type { Context, Snapshot } from "./context.ts";

export function createVersions(context: Context, preview: { scale(): string }) {
	const { choices } = context;
	const file = h("span", { class: "file" });
	const scale = h("span", { class: "num" });
	const label = h("span", { class: "num which" });
	const pager = createPager(context);
	const element = h(
		"div",
		{ class: "anb-ver" },
		file,
		h("span", { class: "sp" }),
		scale,
		...pager.elements,
		label,
	);

	return {
		element,
		update({ state }: Snapshot) {
			const previewed = choices.tab === "preview";
			const shown = previewed ? shownPage(state, choices) : shownFile(state, choices);
			element.hidden = !shown || choices.tab === "files";
			if (!shown) return;
			setText(file, shown.file.path);
			setText(scale, previewed ? preview.scale() : "");
			setText(label, labelOf(shown));
			pager.update(shown);
		},
	};
}

/** The index of the shown version; one that is still being written comes after all the others. */
function indexOf({ file, version, live }: ShownFile): number {
	if (live) return file.versions.length;
	return file.versions.findIndex(({ number }) => number === version?.number);
}

function labelOf(shown: ShownFile): string {
	const { versions } = shown.file;
	if (shown.live) return `v${versions.length + 1}, streaming`;
	return versions.length > 1
		? `v${indexOf(shown) + 1} of ${versions.length}`
		: `v${shown.version?.number ?? 1}`;
}

/** Two buttons and a slider, for a file with several versions. */
function createPager(context: Context) {
	const back = iconButton(context, "left", "Previous version", () => choose(at - 1));
	const forward = iconButton(context, "right", "Next version", () => choose(at + 1));
	const range = h("input", { class: "anb-range", type: "range", min: 1, step: 1, "aria-label": "Version" });
	let shown: ShownFile | null = null;
	let at = 0;
	listen(range, "input", context.signal, () => choose(Number(range.value) - 1));

	function choose(index: number): void {
		const versions = shown?.file.versions ?? [];
		// Pins the file, so that another one that is being written does not take its place.
		context.choices.file = shown?.file.path ?? null;
		context.choices.version =
			index >= versions.length - 1 ? null : (versions[Math.max(0, index)]?.number ?? null);
		context.redraw();
	}

	return {
		elements: [back, range, forward],
		update(next: ShownFile) {
			shown = next;
			at = indexOf(next);
			const count = next.file.versions.length;
			back.hidden = forward.hidden = range.hidden = count < 2 || next.live;
			back.toggleAttribute("disabled", at <= 0);
			forward.toggleAttribute("disabled", at >= count - 1);
			setAttribute(range, "max", String(count));
			if (range.value !== String(at + 1)) range.value = String(at + 1);
			setAttribute(range, "aria-valuetext", `version ${at + 1} of ${count}`);
		},
	};
}
