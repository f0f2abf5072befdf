// What a version changed.

import { h } from "../dom.ts";
import { shownFile } from "../shown.ts";
import type { Context, Snapshot } from "./context.ts";
import { createDiffTable, type DiffLine, linesOfPatch } from "./difftable.ts";
import { createTree } from "./tree.ts";

export function createDiff(context: Context) {
	const text = h("span");
	const empty = h("div", { class: "anb-empty" }, text);
	const holder = h("div", { class: "anb-fill" });
	const tree = createTree(context);
	const right = h("div", { class: "anb-fill" }, holder, empty);
	const ide = h("div", { class: "anb-ide" }, tree.element, right);
	const element = h("div", { class: "anb-stage plain" }, ide);
	let drawn = "";

	return {
		element,
		update({ state }: Snapshot) {
			const shown = shownFile(state, context.choices);
			const version = shown?.version ?? null;
			ide.classList.toggle("many", tree.update(state, shown?.file.path ?? ""));
			const before = shown?.file.versions.find((other) => other.number === (version?.number ?? 0) - 1);
			const now = `${shown?.file.path} ${version?.number}`;
			if (drawn === now) return;
			drawn = now;
			const lines: DiffLine[] =
				version?.patch && before ? linesOfPatch(before.text ?? "", version.patch) : [];
			empty.hidden = lines.length > 0;
			holder.replaceChildren(...(lines.length ? [createDiffTable(lines)] : []));
			text.textContent = version
				? "This is the first version; there is nothing to compare it with."
				: "Nothing has been written yet.";
			if (version && before) text.textContent = "This version is the same as the previous one.";
		},
	};
}
