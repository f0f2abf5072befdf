// Inserts a cell below an output's cell, and optionally runs it, for buttons such as Load, Retry and Continue. The
// prebuilt extension of JupyterLab (`js/lab/`) does the work; without it, the text is copied to the clipboard instead.
//
// This is reached only by a user's press on a control, never by a message from the kernel or a previewed page, or from a
// saved output unknown to the kernel. `cell-source.ts` builds the text, and `view/shared/cell-button.ts` has the button.

import { toClipboard } from "../base/clipboard.ts";
import { type CellSource, cellSource } from "./cell-source.ts";
import { type CellText, LAB, type Lab, VERSION } from "./lab.ts";

export type { CellText } from "./lab.ts";

export interface CellOutput {
	readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** A cell of the notebook's document; only code cells have outputs. */
export interface NotebookCell {
	getId?(): string;
	getSource?(): string;
	getOutputs?(): readonly CellOutput[];
	updateOutputs?(start: number, end: number, outputs: readonly CellOutput[]): void;
}

/** The subset we use of the notebook context in JupyterLab's widget manager. */
export interface NotebookContext {
	readonly model: {
		readonly readOnly?: boolean;
		readonly sharedModel: { readonly cells: readonly NotebookCell[] };
	};
}

/** A run's key, as in its outputs, and its notebook, if the front end gives access to it. */
export interface ShownRun {
	readonly key: string;
	readonly notebook: NotebookContext | null;
	/** Whether a kernel has confirmed the run. */
	readonly greeted: boolean;
}

/** The outcome of placing a cell. */
export type Placed = "run" | "inserted" | "copied" | "failed";

/** The JupyterLab extension; null if it is not loaded or has another version. */
export function labExtension(): Lab | null {
	const extension = (window as unknown as Record<symbol, Lab | undefined>)[LAB];
	return extension?.version === VERSION ? extension : null;
}

/** The source of the cell whose output shows the run; empty if the notebook cannot be read. */
export function sourceOf({ key, notebook }: Pick<ShownRun, "key" | "notebook">): string {
	const shows = (cell: NotebookCell): boolean =>
		cell.getOutputs?.().some(({ data }) => `${data?.["text/html"]}`.includes(`data-anb-run="${key}"`)) ??
		false;
	return notebook?.model.sharedModel.cells.find(shows)?.getSource?.() ?? "";
}

/** Whether cells can be inserted into the notebook, and not only copied. */
export function canInsert({ notebook }: Pick<ShownRun, "notebook">): boolean {
	return labExtension() !== null && notebook !== null && !notebook.model.readOnly;
}

/**
 * Inserts a code cell with `text` below the output where a key or button was pressed, selects it, and runs it if `runs`
 * is set. Falls back to copying the text.
 */
export function placeCell(run: ShownRun, press: UIEvent, text: CellSource, runs = false): Promise<Placed> {
	return place(run, press, [{ kind: "code", source: text }], { text, runs });
}

/** Inserts several cells below the output that contains `element`, without running them. Falls back to copying. */
export function placeCells(
	run: ShownRun,
	press: UIEvent,
	cells: readonly CellText[],
	element: Element,
): Promise<Placed> {
	const codes = cells.filter(({ kind }) => kind === "code").map(({ source }) => source);
	if (!codes.every((code) => cellSource("code", { code }))) return Promise.resolve("failed");
	return place(run, press, cells, { text: codes.join("\n\n"), runs: false, element });
}

async function place(
	run: ShownRun,
	press: UIEvent,
	cells: readonly CellText[],
	{ text, runs, element }: { text: string; runs: boolean; element?: Element },
): Promise<Placed> {
	if (!press.isTrusted || cells.length === 0) return "failed";
	const lab = canInsert(run) ? labExtension() : null;
	const output = { element: element ?? (press.currentTarget as Element), key: run.key };
	const isRun = runs && run.greeted;
	if (!lab?.insert(output, cells, press, isRun)) return (await toClipboard(text)) ? "copied" : "failed";
	if (!isRun) return "inserted";
	// A full-screen element would hide the cell that runs.
	if (document.fullscreenElement) await document.exitFullscreen();
	return "run";
}
