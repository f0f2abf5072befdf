// The list of files beside the code, by folder.

import { h, icon } from "../dom.ts";
import { presentFiles } from "../shown.ts";
import type { VariantState } from "../state.ts";
import type { Context } from "./context.ts";
import { rove } from "./rove.ts";

export function createTree(context: Context) {
	const element = h("ul", { class: "anb-tree", role: "listbox", "aria-label": "Files" });
	let drawn = "";
	let paths: string[] = [];

	function choose(path: string): void {
		context.choices.file = path;
		context.choices.version = null;
		context.redraw();
	}
	element.addEventListener(
		"click",
		(event) => {
			const path = (event.target as Element).closest<HTMLElement>("[data-path]")?.dataset.path;
			if (path) choose(path);
		},
		{ signal: context.signal },
	);
	element.addEventListener(
		"keydown",
		(event) =>
			rove(event, paths, context.choices.file ?? paths[0] ?? "", (path) => {
				choose(path);
				requestAnimationFrame(() => element.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
			}),
		{ signal: context.signal },
	);

	return {
		element,
		update(state: VariantState, selected: string) {
			paths = presentFiles(state).map((file) => file.path);
			const now = `${paths.join("\n")}\n\n${selected}`;
			if (drawn === now) return;
			drawn = now;
			element.replaceChildren(...rowsOf(paths, selected));
		},
	};
}

function rowsOf(paths: readonly string[], selected: string): HTMLElement[] {
	const rows: HTMLElement[] = [];
	const folders = new Set<string>();
	for (const path of [...paths].sort((one, other) => depth(one) - depth(other) || one.localeCompare(other))) {
		const cut = path.lastIndexOf("/");
		const folder = cut < 0 ? "" : path.slice(0, cut);
		if (folder && !folders.has(folder)) {
			folders.add(folder);
			rows.push(h("li", { class: "dir", role: "presentation" }, h("span", null, icon("folder"), folder)));
		}
		const on = path === selected;
		rows.push(
			h(
				"li",
				{
					role: "option",
					"aria-selected": on ? "true" : "false",
					"data-path": path,
					tabindex: on ? 0 : -1,
					class: folder ? "deep" : "",
				},
				h("span", null, icon("file"), path.slice(cut + 1)),
			),
		);
	}
	return rows;
}

function depth(path: string): number {
	return path.includes("/") ? 1 : 0;
}
