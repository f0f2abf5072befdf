// Every file of the run: its size, its versions, and the way to keep it.

import { download, downloadAll } from "../actions.ts";
import { h, icon } from "../dom.ts";
import { bytes, plural } from "../format.ts";
import { presentFiles } from "../shown.ts";
import type { FileState } from "../state.ts";
import type { Context, Moment } from "./context.ts";

export function createFiles(context: Context) {
	const list = h("ul", { class: "anb-files" });
	const all = h("button", { class: "anb-btn", type: "button" }, icon("save"), "Save all");
	const empty = h("div", { class: "anb-empty" }, h("span", null, "Nothing has been written yet."));
	const element = h(
		"div",
		{ class: "anb-stage plain scrolls" },
		list,
		h("div", { class: "anb-allfiles" }, all),
		empty,
	);
	let drawn = "";
	all.addEventListener("click", () => void downloadAll(context), { signal: context.signal });

	function row(file: FileState): HTMLElement {
		const size = file.versions.at(-1)?.size ?? file.draft?.text.length ?? 0;
		const note = file.versions.length ? plural(file.versions.length, "version") : "being written";
		const show = h(
			"button",
			{ class: "name", type: "button", onclick: () => open(file.path) },
			icon("file"),
			h("code", null, file.path),
		);
		const save = h(
			"button",
			{
				class: "anb-ic",
				type: "button",
				"aria-label": `Save ${file.path}`,
				title: "Save",
				onclick: () => void download(context, file),
			},
			icon("save"),
		);
		return h(
			"li",
			null,
			show,
			h("span", { class: "num" }, bytes(size)),
			h("span", { class: "num" }, note),
			save,
		);
	}
	function open(path: string): void {
		Object.assign(context.choices, { file: path, version: null, tab: "code" });
		context.redraw();
	}

	return {
		element,
		update({ state }: Moment) {
			const files = presentFiles(state);
			const now = files
				.map((file) => `${file.path} ${file.versions.length} ${file.draft ? file.draft.text.length : ""}`)
				.join("\n");
			if (drawn === now) return;
			drawn = now;
			list.replaceChildren(...files.map(row));
			all.hidden = files.length < 2;
			empty.hidden = files.length > 0;
		},
	};
}
