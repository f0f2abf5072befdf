// The bar under the result: which file, which version, and the way through them.

import { h, icon, setAttribute, setText } from "../dom.ts";
import { shownFile, shownPage } from "../shown.ts";
import type { Context, Moment } from "./context.ts";

export function createVersions(context: Context, preview: { scale(): string }) {
	const file = h("span", { class: "file" });
	const scale = h("span", { class: "num" });
	const back = h(
		"button",
		{ class: "anb-ic", type: "button", "aria-label": "Version before", title: "Version before" },
		icon("left"),
	);
	const on = h(
		"button",
		{ class: "anb-ic", type: "button", "aria-label": "Version after", title: "Version after" },
		icon("right"),
	);
	const range = h("input", { class: "anb-range", type: "range", min: 1, step: 1, "aria-label": "Version" });
	const label = h("span", { class: "num which" });
	const element = h(
		"div",
		{ class: "anb-ver" },
		file,
		h("span", { class: "sp" }),
		scale,
		back,
		range,
		on,
		label,
	);
	let numbers: number[] = [];
	let at = 0;
	let path: string | null = null;

	function choose(index: number): void {
		const last = numbers.length - 1;
		// The version is one of this file: another that is written meanwhile must not take its place.
		context.choices.file = path;
		context.choices.version = index >= last ? null : (numbers[Math.max(0, index)] ?? null);
		context.redraw();
	}
	const { signal } = context;
	back.addEventListener("click", () => choose(at - 1), { signal });
	on.addEventListener("click", () => choose(at + 1), { signal });
	range.addEventListener("input", () => choose(Number(range.value) - 1), { signal });

	return {
		element,
		update({ state }: Moment) {
			const shown =
				context.choices.tab === "preview"
					? shownPage(state, context.choices)
					: shownFile(state, context.choices);
			element.hidden = !shown || context.choices.tab === "files";
			if (!shown) return;
			numbers = shown.file.versions.map((version) => version.number);
			at = shown.live ? numbers.length : numbers.indexOf(shown.version?.number ?? 0);
			const many = numbers.length > 1 && !shown.live;
			path = shown.file.path;
			setText(file, path);
			setText(scale, context.choices.tab === "preview" ? preview.scale() : "");
			back.hidden = on.hidden = range.hidden = !many;
			back.toggleAttribute("disabled", at <= 0);
			on.toggleAttribute("disabled", at >= numbers.length - 1);
			setAttribute(range, "max", String(numbers.length));
			if (range.value !== String(at + 1)) range.value = String(at + 1);
			const words = shown.live
				? `v${numbers.length + 1}, streaming`
				: many
					? `v${at + 1} of ${numbers.length}`
					: `v${numbers[at] ?? 1}`;
			setAttribute(range, "aria-valuetext", `version ${at + 1} of ${numbers.length}`);
			setText(label, words);
		},
	};
}
