// The list of files beside the code, by folder.

import { createKeyedList, h, icon, setAttribute, setText, type View } from "../../base/dom.ts";
import { bytes, plural } from "../../base/format.ts";
import { type FileState, textOf, type VariantState } from "../../run/state.ts";
import { download, downloadAll } from "../actions.ts";
import { type Context, openCode, type Snapshot } from "../context.ts";
import { iconButton, rove } from "../shared/buttons.ts";
import { NOT_KEPT, presentFiles } from "../shown.ts";

interface Line {
	path: string;
	folder: boolean;
	on: boolean;
}

/** The list, if there are several files, beside a panel that shows one of them. */
export function createBesideTree(context: Context, panel: HTMLElement) {
	const element = h("ul", { class: "anb-tree", role: "listbox", "aria-label": "Files" });
	const updateRows = createKeyedList<Line>(
		element,
		({ path, folder }) => (folder ? `${path}/` : path),
		({ path, folder }) => (folder ? createFolder(path) : createFile(path)),
	);
	let lines: readonly Line[] = [];

	function choose(path: string): void {
		context.choices.file = path;
		context.choices.moment = null;
		context.redraw();
	}
	element.onclick = ({ target }) => {
		const path = (target as Element).closest<HTMLElement>("[data-path]")?.dataset.path;
		if (path) choose(path);
	};
	element.onkeydown = (event) => {
		const files = lines.filter((line) => !line.folder);
		rove(event, files, files.find((line) => line.on) ?? files[0], (line) => {
			if (!line) return;
			choose(line.path);
			requestAnimationFrame(() => element.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
		});
	};

	const beside = h("div", { class: "anb-ide" }, element, panel);

	return {
		element: beside,
		update(state: VariantState, selected = "") {
			const paths = presentFiles(state).map((file) => file.path);
			element.hidden = paths.length < 2;
			lines = element.hidden ? [] : toLines(paths, selected);
			updateRows(lines);
			beside.classList.toggle("many", !element.hidden);
		},
	};
}

/** The lines in display order: files outside folders, then each folder with its files. */
function toLines(paths: readonly string[], selected: string): Line[] {
	const lines: Line[] = [];
	let last = "";
	for (const path of paths.toSorted((a, b) => folderOf(a).localeCompare(folderOf(b)))) {
		const folder = folderOf(path);
		if (folder !== last) lines.push({ path: folder, folder: true, on: false });
		last = folder;
		lines.push({ path, folder: false, on: path === selected });
	}
	return lines;
}

function createFolder(path: string): View<Line> {
	const label = h("span", null, icon("folder"), path);
	return { element: h("li", { class: "dir", role: "presentation" }, label), update() {} };
}

function createFile(path: string): View<Line> {
	const name = path.slice(path.lastIndexOf("/") + 1);
	const props = { role: "option", "data-path": path, class: folderOf(path) ? "deep" : "" };
	const element = h("li", props, h("span", null, icon("file"), name));
	return {
		element,
		update({ on }) {
			setAttribute(element, "aria-selected", String(on));
			setAttribute(element, "tabindex", on ? "0" : "-1");
		},
	};
}

function folderOf(path: string): string {
	return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Every file of the run with its size, its versions, and a button to save it. */
export function createFiles(context: Context) {
	const list = h("ul", { class: "anb-files" });
	const all = h(
		"button",
		{ class: "anb-btn", onclick: () => downloadAll(context) },
		icon("save"),
		"Save all",
	);
	const empty = h("div", { class: "anb-empty" }, h("span", null, "Nothing has been written yet."));
	const footer = h("div", { class: "anb-allfiles" }, all);
	const element = h("div", { class: "anb-stage plain scrolls" }, list, footer, empty);
	const updateRows = createKeyedList<FileState>(
		list,
		(file) => file.path,
		(file) => createRow(context, file),
	);

	return {
		element,
		update({ state }: Snapshot) {
			const files = presentFiles(state);
			updateRows(files);
			all.hidden = files.length < 2;
			empty.hidden = files.length > 0;
		},
	};
}

/** One row per file, reused while the file changes, so that a press or the focus is not lost. */
function createRow(context: Context, first: FileState): View<FileState> {
	const { path } = first;
	let file = first;
	const onclick = (): void => openCode(context, path);
	const name = h("button", { class: "name", onclick }, icon("file"), h("code", null, path));
	const size = h("span", { class: "num" });
	const versions = h("span", { class: "num" });
	const save = iconButton("save", "Save", () => void download(context, file));
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
