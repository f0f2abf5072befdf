// Every file of the run with its size, its versions, and a button to save it.

import { download, downloadAll } from "../../actions.ts";
import { h, icon, KeyedList, listen, setText, type View } from "../../dom.ts";
import { bytes, plural } from "../../format.ts";
import { NOT_KEPT, presentFiles } from "../../shown.ts";
import { type FileState, textOf } from "../../state.ts";
import type { Context, Snapshot } from "../context.ts";
import { iconButton } from "../shared/buttons.ts";

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
	listen(all, "click", context.signal, () => void downloadAll(context));

	return {
		element,
		update({ state }: Snapshot) {
			const files = presentFiles(state);
			rows.update(files);
			all.hidden = files.length < 2;
			empty.hidden = files.length > 0;
		},
	};
}

/** One row per file, kept while the file changes, so that a press or the focus is not lost. */
function createRow(context: Context, first: FileState): View<FileState> {
	const { path } = first;
	let file = first;
	function open(): void {
		Object.assign(context.choices, { file: path, moment: null, tab: "code" });
		context.redraw();
	}
	const name = h(
		"button",
		{ class: "name", type: "button", onclick: open },
		icon("file"),
		h("code", null, path),
	);
	const size = h("span", { class: "num" });
	const versions = h("span", { class: "num" });
	const save = iconButton(context, "save", "Save", () => void download(context, file));
	save.setAttribute("aria-label", `Save ${path}`);
	return {
		element: h("li", null, name, size, versions, save),
		update(next) {
			file = next;
			const count = file.versions.length;
			setText(size, bytes(file.versions.at(-1)?.size ?? textOf(file)?.length ?? 0));
			setText(versions, count ? plural(count, "version") : file.draft ? "being written" : NOT_KEPT);
		},
	};
}
