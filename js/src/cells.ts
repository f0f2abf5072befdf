// Puts a cell below the cell of an output, and runs it if asked to, for buttons such as Load, Retry and Continue. The
// prebuilt extension of JupyterLab (`js/lab/`) does both; where it is not loaded, the text is copied instead.
//
// Only a user's own press on what the text is shown with, or typed in, leads here: no message from the kernel or a
// previewed page does, and no saved output that the kernel does not know. `view/shared/cell-button.ts` has the button.

import { type CellText, LAB, type Lab, type Replacement, VERSION } from "../lab/interface.ts";
import { toClipboard } from "./clipboard.ts";

export type { CellText } from "../lab/interface.ts";

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

/** What we use of a notebook's context, as JupyterLab's widget manager holds it. */
export interface NotebookContext {
	readonly model: {
		readonly readOnly?: boolean;
		readonly sharedModel: { readonly cells: readonly NotebookCell[] };
	};
}

/** A run's key, which its outputs carry, and the notebook it was shown in, if the front end gives access to it. */
export interface ShownRun {
	readonly key: string;
	readonly notebook: NotebookContext | null;
	/** Whether a kernel has answered for it. */
	readonly greeted: boolean;
}

/** What became of a cell: inserted, selected and perhaps run, or only copied, or none of these. */
export type Placed = "run" | "inserted" | "copied" | "failed";

/** Whether a name from a run may stand in a cell: a Python identifier. */
export function isName(name: string): boolean {
	return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name);
}

/** Whether what the user reads is what the cell holds: no control or bidi characters, nothing invisible. */
export function isReadable(text: string): boolean {
	return text.trim() !== "" && !/[^\P{C}\n\t]/u.test(text);
}

/** The extension of JupyterLab; null where it is not loaded, or is of another version. */
export function labExtension(): Lab | null {
	const found = (window as unknown as Record<symbol, Lab | undefined>)[LAB];
	return found?.version === VERSION ? found : null;
}

/** The source of the cell whose output shows the run; empty where the notebook cannot be read. */
export function sourceOf({ key, notebook }: Pick<ShownRun, "key" | "notebook">): string {
	const shows = (cell: NotebookCell): boolean =>
		cell.getOutputs?.().some(({ data }) => `${data?.["text/html"]}`.includes(`data-anb-run="${key}"`)) ??
		false;
	return notebook?.model.sharedModel.cells.find(shows)?.getSource?.() ?? "";
}

/** The lines that a fresh kernel needs before the magic: a name given with `%config` is gone with its kernel. */
export function extensionLines(magic: string): string {
	const rename = magic === "agent" ? "" : `\n%config AgentMagics.magic_name = "${magic}"`;
	return `%load_ext agent_nb${rename}`;
}

/** Whether cells can be inserted into the notebook, and not only copied. */
export function canInsert({ notebook }: Pick<ShownRun, "notebook">): boolean {
	return labExtension() !== null && notebook !== null && !notebook.model.readOnly;
}

/**
 * Inserts a code cell with `text` below the output in which a key or button was pressed, selects it, and runs it with
 * `runs`. Where that cannot be done, the text is copied instead.
 */
export function placeCell(run: ShownRun, press: UIEvent, text: string, runs = false): Promise<Placed> {
	return place(run, press, [{ kind: "code", source: text }], { text, runs });
}

/** Replaces the source of a cell that the user has seen beside the new one; false where it cannot be done. */
export function replaceCell(run: ShownRun, press: UIEvent, fix: Replacement): boolean {
	const output = { element: press.currentTarget as Element, key: run.key };
	return canInsert(run) && isReadable(fix.after) && (labExtension()?.replace(output, fix, press) ?? false);
}

/** Inserts several cells below the output that `element` is in, and runs none. Their code is copied instead. */
export function placeCells(
	run: ShownRun,
	press: UIEvent,
	cells: readonly CellText[],
	element: Element,
): Promise<Placed> {
	const codes = cells.filter(({ kind }) => kind === "code").map(({ source }) => source);
	return place(run, press, cells, { text: codes.join("\n\n"), runs: false, element });
}

async function place(
	run: ShownRun,
	press: UIEvent,
	cells: readonly CellText[],
	{ text, runs, element }: { text: string; runs: boolean; element?: Element },
): Promise<Placed> {
	const readable = cells.every(({ kind, source }) => kind === "markdown" || isReadable(source));
	if (!press.isTrusted || cells.length === 0 || !readable) return "failed";
	const lab = canInsert(run) ? labExtension() : null;
	const output = { element: element ?? (press.currentTarget as Element), key: run.key };
	const inserted = lab?.insert(output, cells, press) ?? null;
	if (!lab || inserted === null) return (await toClipboard(text)) ? "copied" : "failed";
	if (!runs || !run.greeted || !lab.run(output, inserted, press)) return "inserted";
	// What is over the whole screen would hide the cell that runs.
	if (document.fullscreenElement) await document.exitFullscreen();
	return "run";
}
