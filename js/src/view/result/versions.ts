// The bar under the result: the visible file, and buttons to go through its history. On the preview these are the moments
// of the run, with all files as they were after each change; elsewhere the versions of the file.

import { h, setAttribute, setText } from "../../base/dom.ts";
import { nextName, referenceTo } from "../../run/ask.ts";
import { type CellSource, cellSource, isName } from "../../run/cell-source.ts";
import type { FileState, VariantState } from "../../run/state.ts";
import type { Choices } from "../choices.ts";
import type { Context, Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";
import { createCellButton } from "../shared/cell-button.ts";
import { NOT_KEPT, type ShownFile, shownFile, shownPage, UNFINISHED, versionLabel } from "../shown.ts";

export function createVersions(context: Context, preview: { scale(): string }) {
	const { choices } = context;
	const file = h("span", { class: "file" });
	const scale = h("span", { class: "num" });
	const label = h("span", { class: "num which" });
	const pager = createPager(context);
	const keep = createCellButton(context, "Keep");
	// The buttons are at the edge, so that labels of different lengths do not move them under the pointer.
	const parts = [file, h("span", { class: "sp" }), scale, label, keep.element, ...pager.elements];
	const element = h("div", { class: "anb-ver" }, ...parts);

	return {
		element,
		update(snapshot: Snapshot) {
			const { state } = snapshot;
			const previewed = choices.tab === "preview";
			const shown = previewed ? shownPage(state, choices) : shownFile(state, choices);
			element.hidden = !shown || choices.tab === "files";
			if (!shown) return;
			const stops = previewed ? momentsOf(state, shown) : stopsOf(shown);
			const at = positionIn(stops, shown, choices.moment);
			setText(file, shown.file.path);
			setText(scale, previewed ? preview.scale() : "");
			setText(label, labelOf(shown, stops, at).join(""));
			pager.update({ shown, stops, at });
			const unfinished = shown.cut || choices.moment === UNFINISHED;
			keep.update(unfinished ? keepingCell(context, snapshot) : null);
		},
	};
}

/** The moment after a change of a file. */
interface VersionStop {
	readonly change: number;
	readonly path: string;
}

function stopsOf({ file }: ShownFile): VersionStop[] {
	const alive = file.versions.filter(({ action }) => action !== "deleted");
	const stops = alive.map(({ change }) => ({ change, path: file.path }));
	return withUnfinished(stops, [file]);
}

/** The moments of the run since the visible page was created. */
export function momentsOf({ files }: VariantState, { file }: ShownFile): VersionStop[] {
	const first = file.versions[0]?.change ?? 0;
	const stops = new Map<number, VersionStop>();
	for (const { path, versions } of files.values())
		for (const { change } of versions) if (change >= first) stops.set(change, { change, path });
	const sorted = [...stops.values()].sort((a, b) => a.change - b.change);
	return withUnfinished(sorted, [...files.values()]);
}

/** Adds a stop for text that was cut off by the end of the run. */
function withUnfinished(stops: readonly VersionStop[], files: readonly FileState[]): VersionStop[] {
	const cut = files.find(({ unfinished }) => unfinished !== null);
	return cut && stops.length ? [...stops, { change: UNFINISHED, path: cut.path }] : [...stops];
}

/** The index of the visible stop; a version that is still being written comes after all stops. */
function positionIn(stops: readonly VersionStop[], { live }: ShownFile, moment: number | null): number {
	if (live) return stops.length;
	const last = moment ?? Number.MAX_VALUE;
	return stops.findLastIndex(({ change }) => change <= last);
}

/** The name of the visible version, such as `v1`, and what its label adds, such as ` of 3`. */
function labelOf(
	{ live, cut, file }: ShownFile,
	stops: readonly VersionStop[],
	at: number,
): [string, string] {
	if (live) return [`v${file.versions.length + 1}`, ", streaming"];
	const { change, path } = stops[at] ?? { change: 0, path: "" };
	const isAlone = stops.every((stop) => stop.path === file.path);
	if (cut || change === UNFINISHED) return [NOT_KEPT, isAlone ? "" : `: ${path}`];
	const kept = stops.filter((stop) => stop.change !== UNFINISHED);
	if (kept.length < 2) return [versionLabel(file.versions.at(-1)), ""];
	if (isAlone) return [`v${at + 1}`, ` of ${kept.length}`];
	const what = change === 0 ? "as given" : path;
	return [`change ${change}`, ` of ${kept.at(-1)?.change}: ${what}`];
}

/** The name of the visible moment, if it is an earlier one: `v1`, or `change 3` if several files have changed. */
export function momentName(state: VariantState, choices: Choices): string | null {
	const { moment } = choices;
	const shown = moment === null || moment === UNFINISHED ? null : shownPage(state, choices);
	if (!shown) return null;
	const stops = momentsOf(state, shown);
	return labelOf(shown, stops, positionIn(stops, shown, moment))[0];
}

/** The cell that creates a run from the unfinished text; null while the run has no value. */
function keepingCell({ choices, run: entry }: Context, { run }: Snapshot): CellSource | null {
	const { name } = run.meta;
	if (run.lost || entry.busy || !isName(name)) return null;
	return cellSource("keep", { next: nextName(name, entry), value: referenceTo(entry, choices.variant) });
}

/** Two buttons and a slider, if there are several stops. */
function createPager(context: Context) {
	const back = iconButton("left", "Previous version", () => step(-1));
	const forward = iconButton("right", "Next version", () => step(1));
	const range = h("input", { class: "anb-range", type: "range", min: 1, step: 1, "aria-label": "Version" });
	let position: { shown: ShownFile; stops: readonly VersionStop[]; at: number } | null = null;
	range.oninput = () => choose(Number(range.value) - 1);

	const step = (by: 1 | -1): void => choose((position?.at ?? 0) + by);

	function choose(index: number): void {
		if (!position) return;
		const { shown, stops } = position;
		// Pins the file, so that another one being written does not replace it.
		context.choices.file = shown.file.path;
		const newest = stops.findLastIndex(({ change }) => change !== UNFINISHED);
		context.choices.moment = index === newest ? null : (stops[Math.max(0, index)]?.change ?? null);
		context.redraw();
	}

	return {
		elements: [back, range, forward],
		update(next: NonNullable<typeof position>) {
			position = next;
			const { stops, at, shown } = next;
			const count = stops.length;
			back.hidden = forward.hidden = range.hidden = count < 2 || shown.live;
			back.toggleAttribute("disabled", at <= 0);
			forward.toggleAttribute("disabled", at >= count - 1);
			setAttribute(range, "max", String(count));
			if (range.value !== String(at + 1)) range.value = String(at + 1);
			setAttribute(range, "aria-valuetext", labelOf(shown, stops, at).join(""));
		},
	};
}
