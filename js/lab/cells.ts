// Inserts, runs and opens cells for the widget, through JupyterLab's actions.

import type { Json } from "../src/run/events.ts";
import {
	type CellText,
	type Lab,
	type NotebookCells,
	type RunOutput,
	type Stage,
	VERSION,
} from "../src/run/lab.ts";
import { baseOf } from "./history.ts";
import type { App, Cell, NotebookModule, NotebookPanel, Tracker } from "./jupyter.ts";

/** Milliseconds for which a press is valid. The cells may have to be requested from the kernel in between. */
const FRESH = 10_000;
const SAVE = "docmanager:save";

export type CellRunner = Pick<NotebookModule["NotebookActions"], "run" | "runCells">;

export interface Stages {
	/** False in Notebook 7, which has no space beside the notebook. */
	readonly isPossible: boolean;
	get(context: object | null): Stage | null;
	/** The notebook whose stage contains the element. */
	notebookOf(element: Element): NotebookPanel | undefined;
	/** Opens the stage. At the user's request it shows that run in front; otherwise it stays closed once closed. */
	show(notebook: NotebookPanel, key: string, isAsked: boolean): boolean;
}

interface CellPosition {
	readonly panel: NotebookPanel;
	readonly index: number;
}

export function createLab(
	app: App,
	tracker: Tracker,
	actions: CellRunner,
	stages: Stages,
): Omit<Lab, "setRuns" | keyof NotebookCells> {
	const locate = createLocate(tracker, stages);
	const insert = createInsert(locate, stages);
	return {
		version: VERSION,
		insert(place, cells, press, runs) {
			const inserted = isPress(press) && cells.length > 0 ? insert(place, cells) : null;
			if (!inserted) return false;
			if (runs) keepingCursor(place, () => runCell(actions, inserted.panel, inserted.id));
			// Rendered Markdown stays rendered: editing shows its source.
			else if (cells.at(-1)?.kind === "markdown") inserted.panel.content.mode = "command";
			// Nothing behind a full-screen element can take the focus.
			else if (!document.fullscreenElement) void edit(inserted.panel);
			return true;
		},

		interrupt(place, press) {
			const kernel = isPress(press) ? locate(place)?.panel.sessionContext.session?.kernel : null;
			void kernel?.interrupt();
			return Boolean(kernel);
		},

		save(place) {
			const panel = locate(place)?.panel;
			const hasFocus =
				outside(place.element).contains(document.activeElement) && panel === tracker.currentWidget;
			const { readOnly = true, dirty = false } = panel?.content.model ?? {};
			if (!hasFocus || readOnly || !app.commands.isEnabled(SAVE)) return false;
			if (dirty) void app.commands.execute(SAVE);
			return true;
		},

		hasStages: stages.isPossible,
		stage: stages.get,
		show(place, press) {
			const panel = press === null || isPress(press) ? locate(place)?.panel : null;
			return panel ? stages.show(panel, place.key, press !== null) : false;
		},
	};
}

/** Inserts cells as `Lab.insert` says; null if the notebook is read-only. */
function createInsert(locate: Locate, stages: Stages) {
	/** The id of the cell inserted last below each output, by the run's key. */
	const inserted = new WeakMap<NotebookPanel, Map<string, string>>();
	return (place: RunOutput, cells: readonly CellText[]): { panel: NotebookPanel; id: string } | null => {
		const { panel, index } = locate(place) ?? {};
		if (!panel || index === undefined || !isWritable(panel)) return null;
		const stage = stages.get(panel.context);
		if (stage?.contains(place.element) && cells.some(({ source }) => baseOf(source))) {
			return { panel, id: insertCells(panel, stage.continueBelow(), cells) ?? "" };
		}
		const below = inserted.get(panel) ?? new Map<string, string>();
		const at = 1 + Math.max(index, indexOf(panel.content.widgets, below.get(place.key)));
		const id = insertCells(panel, at, cells);
		if (id === null) return null;
		inserted.set(panel, below.set(place.key, id));
		return { panel, id };
	};
}

/** Leaves the cursor in a field of the output: JupyterLab moves the focus to a cell that it runs from within. */
function keepingCursor({ element }: RunOutput, run: () => void): void {
	const { activeElement } = element.getRootNode() as Document | ShadowRoot;
	const field = activeElement instanceof HTMLTextAreaElement ? activeElement : null;
	field?.blur();
	run();
	field?.focus({ preventScroll: true });
}

export function isWritable({ content }: NotebookPanel): boolean {
	return content.model?.readOnly === false;
}

/**
 * Inserts cells as one step of the notebook's undo, makes the last one active and returns its id; null if the notebook is
 * read-only.
 */
export function insertCells(panel: NotebookPanel, at: number, cells: readonly CellText[]): string | null {
	const { content } = panel;
	if (!isWritable(panel)) return null;
	content.model?.sharedModel.insertCells(
		at,
		cells.map(({ kind, source, outputs = [] }) => ({
			cell_type: kind,
			source,
			metadata: {},
			...(kind === "code" && outputs.length ? { outputs: outputs.flatMap(knownOutput) } : {}),
		})),
	);
	content.activeCellIndex = at + cells.length - 1;
	void content.scrollToItem(content.activeCellIndex).catch(() => undefined);
	return content.activeCell?.model.sharedModel.getId() ?? "";
}

interface Output {
	readonly output_type?: unknown;
	readonly text?: unknown;
	readonly data?: Readonly<Record<string, unknown>>;
}

const SHOWN = /^(?:text\/(?:plain|html|markdown)|image\/(?:png|jpeg|webp|gif))$/;

/**
 * Keeps only the kinds that `safe_output` in the kernel writes, whose texts load nothing. The cell is not trusted, so
 * JupyterLab runs no script in it.
 */
function knownOutput(value: unknown): object[] {
	const { output_type, text, data } = (value ?? {}) as Output;
	if (output_type === "stream" && typeof text === "string") return [{ output_type, name: "stdout", text }];
	if (output_type !== "display_data" || typeof data !== "object" || data === null) return [];
	const visible = Object.entries(data).filter(([kind, part]) => SHOWN.test(kind) && typeof part === "string");
	return visible.length ? [{ output_type, data: Object.fromEntries(visible), metadata: {} }] : [];
}

export function runCell(actions: CellRunner, panel: NotebookPanel, id: string): void {
	const cell = panel.content.widgets[indexOf(panel.content.widgets, id)];
	if (cell) runCells(actions, panel, [cell]);
}

export function runCells(actions: CellRunner, panel: NotebookPanel, cells: readonly Cell[]): void {
	const { content, sessionContext } = panel;
	content.mode = "command";
	if (actions.runCells) {
		void actions.runCells(content, cells, sessionContext);
		return;
	}
	content.deselectAll();
	for (const cell of cells) {
		content.activeCellIndex = content.widgets.indexOf(cell);
		void actions.run(content, sessionContext);
	}
}

/** Moves the cursor to the start of a line in the active cell. */
export async function edit({ content }: NotebookPanel, line = 0): Promise<void> {
	const cell = content.activeCell;
	await cell?.ready;
	if (cell !== content.activeCell) return;
	content.mode = "edit";
	cell?.editor?.setCursorPosition({ line, column: 0 });
	cell?.editor?.focus();
}

/** The browser's timestamp of an event. It throws for an object that only resembles an event. */
const stamp = Object.getOwnPropertyDescriptor(Event.prototype, "timeStamp")?.get as (this: Event) => number;

/** Whether the user has just pressed a key or a button. Scripts cannot create such an event, only keep an old one. */
export function isPress(event: UIEvent): boolean {
	try {
		return event.isTrusted && performance.now() - stamp.call(event) < FRESH;
	} catch {
		return false;
	}
}

type Locate = (place: RunOutput) => CellPosition | null;

/** Finds the cell of an output: the cell that contains the element, or the cell of the run if the element is in another view. */
function createLocate(tracker: Tracker, stages: Stages): Locate {
	function search(matches: (cell: Cell) => boolean, only?: NotebookPanel): CellPosition | null {
		const has = ({ content }: NotebookPanel): boolean => content.widgets.some(matches);
		const panel = tracker.find((candidate) => (only ?? candidate) === candidate && has(candidate));
		return panel ? { panel, index: panel.content.widgets.findIndex(matches) } : null;
	}
	return ({ element, key }) => {
		const host = outside(element);
		const shows = (cell: Cell): boolean => showsRun(cell, key);
		return search((cell) => cell.node.contains(host)) ?? search(shows, stages.notebookOf(host));
	};
}

/** The outputs of a cell, in the notebook format. */
export function outputsOf({ model }: Cell): Json[] {
	return (model.outputs?.toJSON() ?? []) as Json[];
}

export function showsRun(cell: Cell, key: string): boolean {
	return JSON.stringify(outputsOf(cell)).includes(`data-anb-run=\\"${key}\\"`);
}

/** The element, or the outermost host of the shadow roots that contain it. */
export function outside(element: Element): Element {
	const root = element.getRootNode();
	return root instanceof ShadowRoot ? outside(root.host) : element;
}

export function indexOf(cells: readonly Cell[], id: string | undefined): number {
	return cells.findIndex((cell) => cell.model.sharedModel.getId() === id);
}
