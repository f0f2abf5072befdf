// The cells of an open notebook: reads them for the kernel, and writes the changes that the user accepts.
//
// A notebook may come from someone else: its ids, metadata and outputs are only copied as text, and bounded.

import { h } from "../src/base/dom.ts";
import { joined } from "../src/base/json.ts";
import type { Json } from "../src/run/events.ts";
import type { CellsRead, CellWrite, NotebookCells, Written } from "../src/run/lab.ts";
import type { Actions } from "./below.ts";
import { indexOf, isPress, isWritable, outputsOf, runCells } from "./cells.ts";
import type { Cell, NotebookPanel, SharedNotebook, Tracker, Undoable } from "./jupyter.ts";

/** Characters of a source, of a source in the outline, of one text output, and of one figure in base64. */
const [MOST_SOURCE, MOST_LINE, MOST_TEXT, MOST_FIGURE] = [100_000, 300, 20_000, 4_000_000];
/** Bytes of all texts in one answer: Jupyter's server closes a connection on which a message of 10 MiB arrives. */
const MOST_BYTES = 6_000_000;
/** Outputs of a cell, kinds of an output, and cells of an answer. */
const [MOST_PARTS, MOST_KINDS, MOST_CELLS] = [100, 20, 5_000];
const EMPTY = { output_type: "execute_result", text: "", ename: "", evalue: "", traceback: [""], data: {} };
const TEXTS = ["text/plain", "text/markdown"];
const FIGURES = ["image/png", "image/jpeg"];
const TAG = "agent";
const MARKED = "anb-marked";
const OLDER = "anb-older";

export function createNotebookCells(tracker: Tracker, actions: Actions): NotebookCells {
	actions.executionScheduled.connect((_, { cell }) => cell.node.querySelector(`.${OLDER}`)?.remove());
	const find = (notebook: object | null): NotebookPanel | undefined =>
		tracker.find(({ context }) => context === notebook);
	const writable = (notebook: object | null, press: UIEvent): NotebookPanel | null => {
		const panel = isPress(press) ? find(notebook) : undefined;
		return panel && isWritable(panel) ? panel : null;
	};
	return {
		readCells: (notebook, own, only) => read(find(notebook), own, only),
		sourceNow: (notebook, id) => cellOf(find(notebook), id)?.model.sharedModel.getSource() ?? null,

		write(notebook, changes, press) {
			const panel = writable(notebook, press);
			return changes.map((change) => (panel ? write(panel, change) : null));
		},

		takeBack(notebook, written, press) {
			const panel = writable(notebook, press);
			return written.map((change) => panel !== null && change.takeBack(panel));
		},

		showCell(notebook, id) {
			const panel = find(notebook);
			const cell = cellOf(panel, id);
			if (!panel || !cell) return false;
			for (const { node } of panel.content.widgets) node.classList.toggle(MARKED, node === cell.node);
			panel.content.activeCellIndex = panel.content.widgets.indexOf(cell);
			void panel.content.scrollToItem(panel.content.activeCellIndex, "center").catch(() => undefined);
			return true;
		},

		runCells(notebook, ids, press) {
			const panel = writable(notebook, press);
			const cells = ids.flatMap((id) => cellOf(panel, id) ?? []);
			if (!panel || cells.length < ids.length) return false;
			runCells(actions, panel, cells);
			return true;
		},
	};
}

/** The cell with an id; none if two cells have it. */
function cellOf(panel: NotebookPanel | null | undefined, id: string): Cell | undefined {
	const cells = panel?.content.widgets.filter(({ model }) => model.sharedModel.getId() === id) ?? [];
	return cells.length === 1 ? cells[0] : undefined;
}

function read(
	panel: NotebookPanel | undefined,
	own: string,
	only: readonly (number | string)[] | null,
): CellsRead | null {
	const cells = panel?.content.widgets ?? [];
	if (indexOf(cells, own) < 0) return null;
	const room = { left: MOST_BYTES };
	if (!only) {
		const outline = cells.slice(0, MOST_CELLS).map((cell, index) => outlineOf(cell, index + 1, room));
		return { cells: outline, left_out: cells.length - outline.length };
	}
	const read = only.slice(0, MOST_CELLS).flatMap((name) => {
		const cell = typeof name === "string" ? cellOf(panel, name) : cells[name - 1];
		return cell ? [wholeOf(cell, cells.indexOf(cell) + 1, room)] : [];
	});
	return { cells: read, left_out: 0 };
}

/** The room for the texts of an answer, in bytes. */
type Room = { left: number };

function fits(room: Room, value: unknown): boolean {
	const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
	if (bytes > room.left) return false;
	room.left -= bytes;
	return true;
}

function baseOf({ model }: Cell, number: number, most: number, room: Room): Json {
	const whole = model.sharedModel.getSource();
	const source = fits(room, whole.slice(0, most)) ? whole.slice(0, most) : "";
	return {
		number,
		id: model.sharedModel.getId().slice(0, 100),
		cell_type: model.type,
		source,
		cut: source.length < whole.length,
		execution_count: model.executionCount ?? null,
		edited: model.isDirty === true,
	};
}

function outlineOf(cell: Cell, number: number, room: Room): Json {
	const first = outputsOf(cell).slice(0, MOST_PARTS);
	const outputs = first.map(({ output_type, data }) => ({
		output_type,
		...(data ? { data: Object.fromEntries(contentsOf(data).map(([kind]) => [kind, ""])) } : {}),
	}));
	return { ...baseOf(cell, number, MOST_LINE, room), outputs: fits(room, outputs) ? outputs : [] };
}

/** A cell with its outputs, as far as there is room for them, and how many of them are missing or lack a text. */
function wholeOf(cell: Cell, number: number, room: Room): Json {
	const base = baseOf(cell, number, MOST_SOURCE, room);
	let isFull = false;
	const take = (value: unknown, most: number): string => {
		const text = joined(value);
		const cut = text.length > most ? `${text.slice(0, most)}…` : text;
		if (fits(room, cut)) return cut;
		isFull ||= cut !== "";
		return "";
	};
	const content = ([kind, value]: [string, unknown]): [string, string] => {
		if (!FIGURES.includes(kind)) return [kind, TEXTS.includes(kind) ? take(value, MOST_TEXT) : ""];
		return [kind, joined(value).length > MOST_FIGURE ? "" : take(value, MOST_FIGURE)];
	};
	const all = outputsOf(cell);
	const isRead = ({ data }: Json): boolean => fits(room, [EMPTY, ...contentsOf(data).map(([kind]) => kind)]);
	const read = all.slice(0, MOST_PARTS).filter(isRead);
	let omitted = all.length - read.length;
	const outputs = read.map(({ output_type, text, ename, evalue, traceback, data }) => {
		isFull = false;
		const output = {
			output_type,
			text: take(text, MOST_TEXT),
			ename: take(ename, 200),
			evalue: take(evalue, 2000),
			traceback: [take(Array.isArray(traceback) ? traceback.join("\n") : "", MOST_TEXT)],
			data: Object.fromEntries(contentsOf(data).map(content)),
		};
		if (isFull) omitted += 1;
		return output;
	});
	return { ...base, outputs, omitted };
}

function contentsOf(data: unknown): [string, unknown][] {
	const contents = Object.entries((data ?? {}) as Json).slice(0, MOST_KINDS);
	return contents.map(([kind, value]) => [kind.slice(0, 100), value]);
}

/** Writes a change unless the cell is locked or no longer as it was, and reads it back; null if nothing was written. */
function write(panel: NotebookPanel, change: CellWrite): Written | null {
	const { id, action, cell_id, after } = change;
	const shared = panel.content.model?.sharedModel;
	const back =
		shared && (action === "insert" ? insert : action === "delete" ? remove : edit)(panel, shared, change);
	if (!back) return null;
	const isThere = (now: NotebookPanel): boolean =>
		cellOf(now, cell_id)?.model.sharedModel.getSource() === (action === "delete" ? undefined : after);
	return {
		id,
		isThere: isThere(panel),
		takeBack(now: NotebookPanel) {
			const isSame = isThere(now);
			if (isSame) back(now);
			return isSame;
		},
	};
}

/** Writes a change, and returns what reverses it; null if it cannot be written. */
type Edit = (
	panel: NotebookPanel,
	shared: SharedNotebook,
	change: CellWrite,
) => ((panel: NotebookPanel) => void) | null;

const insert: Edit = (panel, shared, { cell_id: id, number, kind, after, above, made }) => {
	const cell = above.map((name) => cellOf(panel, name)).find((one) => one !== undefined);
	if (cellOf(panel, id) || (!cell && number > 0)) return null;
	const metadata = { agent_nb: { ...made, kind: "inserted" }, tags: [TAG] };
	const index = cell ? panel.content.widgets.indexOf(cell) + 1 : 0;
	alone(shared, () => shared.insertCells(index, [{ id, cell_type: kind, source: after, metadata }]));
	return ({ content }) => alone(shared, () => shared.deleteCell(indexOf(content.widgets, id)));
};

const remove: Edit = (panel, shared, { cell_id, before }) => {
	const { widgets } = panel.content;
	const cell = cellOf(panel, cell_id);
	const json = cell?.model.sharedModel.toJSON();
	// A notebook without cells gets a new one, which would not be part of the change.
	const isFixed = json?.metadata?.deletable === false || widgets.length === 1;
	if (!cell || isFixed || cell.model.sharedModel.getSource() !== before) return null;
	const index = widgets.indexOf(cell);
	alone(shared, () => shared.deleteCell(index));
	return ({ content }) =>
		alone(shared, () => shared.insertCells(Math.min(index, content.widgets.length), [json as object]));
};

const edit: Edit = (panel, _, { cell_id, before, after, made }) => {
	const cell = cellOf(panel, cell_id);
	const { editable, agent_nb, tags } = cell?.model.sharedModel.toJSON().metadata ?? {};
	if (!cell || editable === false || cell.model.sharedModel.getSource() !== before) return null;
	setCell(cell, after, { agent_nb: { ...made, kind: "changed" }, tags: tagged(tags) });
	markOlder(cell);
	return (now) => {
		const same = cellOf(now, cell_id);
		if (same) setCell(same, before, { agent_nb, tags });
		same?.node.querySelector(`.${OLDER}`)?.remove();
	};
};

function setCell({ model: { sharedModel } }: Cell, source: string, metadata: Json): void {
	const set = (): void => {
		sharedModel.setSource(source);
		for (const [name, value] of Object.entries(metadata)) {
			if (value === undefined) sharedModel.deleteMetadata(name);
			else sharedModel.setMetadata(name, value);
		}
	};
	alone(sharedModel, () => sharedModel.transact(set));
}

/** Makes a change one undo step: by default, Yjs joins it with others of the same half second. */
function alone(model: Undoable, change: () => void): void {
	model.undoManager?.stopCapturing();
	change();
	model.undoManager?.stopCapturing();
}

function tagged(tags: unknown): string[] {
	const known = Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
	return [...new Set([...known, TAG])];
}

/** Marks the outputs of a changed cell, until it is run. */
function markOlder({ node, model }: Cell): void {
	if (!model.outputs?.length || node.querySelector(`.${OLDER}`)) return;
	const line = h("div", { class: OLDER }, "Older output: the cell has been changed since it ran");
	node.querySelector(".jp-Cell-outputWrapper, .jp-Cell-outputArea")?.before(line);
}
