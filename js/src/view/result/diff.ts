// The changes of a version.

import { h, setChildren } from "../../base/dom.ts";
import type { Context, Snapshot } from "../context.ts";
import { createDiffTable, type DiffLine, diffOf, linesOfPatch } from "../shared/diff-table.ts";
import { type ShownFile, shownFile } from "../shown.ts";
import { createBesideTree } from "./file-tree.ts";

export function createDiff(context: Context) {
	const text = h("span");
	const empty = h("div", { class: "anb-empty" }, text);
	const holder = h("div", { class: "anb-fill" });
	const tree = createBesideTree(context, h("div", { class: "anb-fill" }, holder, empty));
	const element = h("div", { class: "anb-stage plain" }, tree.element);

	return {
		element,
		update({ state }: Snapshot) {
			const shown = shownFile(state, context.choices);
			tree.update(state, shown?.file.path);
			const now = `${shown?.file.path} ${shown?.version?.number} ${shown?.live} ${shown?.cut}`;
			setChildren(holder, now, () => {
				const [lines, note] = changesOf(shown);
				empty.hidden = lines.length > 0;
				text.textContent = note;
				return lines.length ? [createDiffTable(lines)] : [];
			});
		},
	};
}

/** The changes of the visible text, and a note if there are none. */
function changesOf(shown: ShownFile | null): [DiffLine[], string] {
	const { file, version, text, live, cut } = shown ?? {};
	const versions = file?.versions ?? [];
	if (live && version) return [[], `Version ${version.number + 1} is being written; its changes follow.`];
	if (!shown || live) return [[], "Nothing has been written yet."];
	const before = cut ? version : versions.find(({ number }) => number === (version?.number ?? 0) - 1);
	if (!before) return [[], "This is the first version; there is nothing to compare it with."];
	const old = before.text ?? "";
	if (cut) return [diffOf(old, text ?? ""), "The unfinished text is the same as the last version."];
	const lines = version?.patch ? linesOfPatch(old, version.patch) : [];
	return [lines, "This version is the same as the previous one."];
}
