// Every file of the run: its size, its versions, and the way to keep it.

import { download, downloadAll } from "../actions.ts";
import { h, icon, KeyedList, setText, type View } from "../dom.ts";
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
	const rows = new KeyedList<FileState>(
		list,
		(file) => file.path,
		(file) => createRow(context, file),
	);
	all.addEventListener("click", () => void downloadAll(context), { signal: context.signal });

	return {
		element,
		update({ state }: Moment) {
			const files = presentFiles(state);
			rows.update(files);
			all.hidden = files.length < 2;
			empty.hidden = files.length > 0;
		},
	};
}

/** Lives as long as its file: a press or a focus outlasts what is written meanwhile. */
function createRow(context: Context, first: FileState): View<FileState> {
	const { path } = first;
	let file = first;
	function open(): void {
		Object.assign(context.choices, { file: path, version: null, tab: "code" });
		context.redraw();
	}
	const show = h(
		"button",
		{ class: "name", type: "button", onclick: open },
		icon("file"),
		h("code", null, path),
	);
	const size = h("span", { class: "num" });
	const note = h("span", { class: "num" });
	const save = h(
		"button",
		{
			class: "anb-ic",
			type: "button",
			"aria-label": `Save ${path}`,
			title: "Save",
			onclick: () => void download(context, file),
		},
		icon("save"),
	);
	return {
		element: h("li", null, show, size, note, save),
		update(next) {
			file = next;
			const { versions, draft } = file;
			setText(size, bytes(versions.at(-1)?.size ?? draft?.text.length ?? 0));
			setText(note, versions.length ? plural(versions.length, "version") : "being written");
		},
	};
}
