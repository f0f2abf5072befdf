// Puts a cell below the cell of an output, for buttons such as Load, Retry and Continue.
//
// The user must have read the text and clicked on it, and runs the cell with Shift+Enter: nothing here runs code,
// and no message from the kernel or a previewed page may lead here. `view/shared/cell-button.ts` is the button for it.

import { toClipboard } from "./clipboard.ts";

export interface CellOutput {
	readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** A cell of the notebook's document; only code cells have outputs. */
export interface NotebookCell {
	getSource?(): string;
	getOutputs?(): readonly CellOutput[];
	updateOutputs?(start: number, end: number, outputs: readonly CellOutput[]): void;
}

/** What we use of a notebook's context, as JupyterLab's widget manager holds it. */
export interface NotebookContext {
	readonly model: {
		readonly readOnly?: boolean;
		readonly sharedModel: {
			readonly cells: readonly NotebookCell[];
			insertCell(index: number, cell: { cell_type: "code"; source: string; metadata: object }): unknown;
		};
	};
}

/** A run's key, which its outputs carry, and the notebook it was shown in, if the front end gives access to it. */
export interface Shown {
	readonly key: string;
	readonly notebook: NotebookContext | null;
}

/** What became of a cell: inserted and selected, or only copied, or neither. */
export type Placed = "inserted" | "copied" | "failed";

const INDEX = "data-windowed-list-index";
/** Frames to wait until JupyterLab has drawn a new cell. */
const FRAMES = 20;

/** Whether a name from a run may stand in a cell: a Python identifier. */
export function isName(name: string): boolean {
	return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name);
}

/** Whether what the user reads is what the cell holds: no control or bidi characters, nothing invisible. */
export function isReadable(text: string): boolean {
	return text.trim() !== "" && !/[^\P{C}\n\t]/u.test(text);
}

/**
 * Inserts a code cell with `text` below the output that was clicked in, and selects it. Where the front end has no way
 * to do that, or the output is not in a cell of this notebook, the text is copied instead.
 */
export async function placeCell(run: Shown, click: MouseEvent, text: string): Promise<Placed> {
	if (!click.isTrusted || !isReadable(text)) return "failed";
	const cell = cellAround(click.currentTarget as Element);
	const at = Number(cell?.getAttribute(INDEX) ?? -1);
	const { model } = run.notebook ?? {};
	if (!cell || !model || model.readOnly || !holds(model.sharedModel.cells[at], run.key))
		return (await toClipboard(text)) ? "copied" : "failed";
	const notebook = cell.parentElement;
	model.sharedModel.insertCell(at + 1, { cell_type: "code", source: text, metadata: {} });
	await select(notebook, at + 1);
	return "inserted";
}

/** The notebook's cell around an element, which may be in a shadow root. */
function cellAround(element: Element): Element | null {
	const root = element.getRootNode();
	return element.closest(".jp-Cell") ?? (root instanceof ShadowRoot ? cellAround(root.host) : null);
}

/** Whether a cell has an output of the run. The page may hold other notebooks, whose cells have the same numbers. */
function holds(cell: NotebookCell | undefined, key: string): boolean {
	return JSON.stringify(cell?.getOutputs?.() ?? "").includes(`data-anb-run=\\"${key}\\"`);
}

/** The notebook makes the cell that has the focus its active one. */
async function select(notebook: Element | null, index: number): Promise<void> {
	for (let frame = 0; frame < FRAMES; frame++) {
		await new Promise(requestAnimationFrame);
		const cell = notebook?.querySelector<HTMLElement>(`.jp-Cell[${INDEX}="${index}"]`);
		const editor = cell?.querySelector<HTMLElement>(".cm-content");
		if (editor) {
			editor.focus();
			return;
		}
	}
}
