// Puts a cell below the cell of an output, and runs it if asked to, for buttons such as Load, Retry and Continue.
//
// Only a user's own press on what the text is shown with, or typed in, leads here: no message from the kernel or a
// previewed page does, and no saved output that the kernel does not know. `view/shared/cell-button.ts` has the button.

import { toClipboard } from "./clipboard.ts";

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

export type CellKind = "code" | "markdown";

export interface CellText {
	readonly kind: CellKind;
	readonly source: string;
}

/** What we use of a notebook's context, as JupyterLab's widget manager holds it. */
export interface NotebookContext {
	readonly model: {
		readonly readOnly?: boolean;
		readonly sharedModel: {
			readonly cells: readonly NotebookCell[];
			insertCell(index: number, cell: { cell_type: CellKind; source: string; metadata: object }): unknown;
		};
	};
}

/** A run's key, which its outputs carry, and the notebook it was shown in, if the front end gives access to it. */
export interface Shown {
	readonly key: string;
	readonly notebook: NotebookContext | null;
	/** Whether a kernel has answered for it. */
	readonly greeted: boolean;
	/** The cell that was inserted last below its output: the next one comes after it. */
	below?: unknown;
}

/** What became of a cell: inserted, selected and perhaps run, or only copied, or none of these. */
export type Placed = "run" | "inserted" | "copied" | "failed";

const INDEX = "data-windowed-list-index";
/** Frames to wait until JupyterLab has drawn a new cell, or the star of one that runs. */
const FRAMES = 60;
/** Runs the selected cell, in JupyterLab and Notebook 7, unless the user has changed it. A widget reaches no command. */
const RUN_KEY = { key: "Enter", code: "Enter", keyCode: 13, ctrlKey: true, bubbles: true, cancelable: true };

/** Whether a name from a run may stand in a cell: a Python identifier. */
export function isName(name: string): boolean {
	return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name);
}

/** Whether what the user reads is what the cell holds: no control or bidi characters, nothing invisible. */
export function isReadable(text: string): boolean {
	return text.trim() !== "" && !/[^\P{C}\n\t]/u.test(text);
}

/** Whether cells can be inserted into the notebook, and not only copied. */
export function canInsert({ notebook }: Pick<Shown, "notebook">): boolean {
	return notebook !== null && !notebook.model.readOnly;
}

/**
 * Inserts a code cell with `text` below the output in which a key or button was pressed, selects it, and runs it with
 * `runs`. Where the front end has no way to do that, or the output is not in a cell of this notebook, the text is
 * copied instead.
 */
export async function placeCell(run: Shown, press: UIEvent, text: string, runs = false): Promise<Placed> {
	if (!press.isTrusted || !isReadable(text)) return "failed";
	const place = placeBelow(run, press);
	if (!place) return (await toClipboard(text)) ? "copied" : "failed";
	const index = place.insert({ kind: "code", source: text });
	const inserted = await drawn(() =>
		place.notebook?.querySelector<HTMLElement>(`.jp-Cell[${INDEX}="${index}"]:has(.cm-content)`),
	);
	if (inserted && runs && run.greeted && (await runCell(inserted))) return "run";
	inserted?.querySelector<HTMLElement>(".cm-content")?.focus();
	return "inserted";
}

/** Inserts several cells there, and runs none. `text` is what the user has read of them, and what is copied instead. */
export async function placeCells(
	run: Shown,
	press: UIEvent,
	cells: readonly CellText[],
	text: string,
): Promise<Placed> {
	const readable = cells.every(({ kind, source }) => kind === "markdown" || isReadable(source));
	if (!press.isTrusted || cells.length === 0 || !readable) return "failed";
	const place = placeBelow(run, press);
	if (!place) return (await toClipboard(text)) ? "copied" : "failed";
	for (const cell of cells) place.insert(cell);
	return "inserted";
}

/** Where cells go: below the output that was pressed in and the cells inserted there before; null if out of reach. */
function placeBelow(run: Shown, press: UIEvent) {
	const cell = cellAround(press.currentTarget as Element) ?? cellOf(run.key);
	const at = Number(cell?.getAttribute(INDEX) ?? -1);
	const { model } = run.notebook ?? {};
	if (!cell || !model || model.readOnly || !holds(model.sharedModel.cells[at], run.key)) return null;
	return {
		notebook: cell.parentElement,
		insert({ kind, source }: CellText): number {
			const index = 1 + Math.max(at, model.sharedModel.cells.indexOf(run.below as NotebookCell));
			run.below = model.sharedModel.insertCell(index, { cell_type: kind, source, metadata: {} });
			return index;
		},
	};
}

/** The notebook's cell around an element, which may be in a shadow root. */
function cellAround(element: Element): Element | null {
	const root = element.getRootNode();
	return element.closest(".jp-Cell") ?? (root instanceof ShadowRoot ? cellAround(root.host) : null);
}

/** The cell of a run that is shown in a view of its own, beside the notebook. */
function cellOf(key: string): Element | null {
	const outputs = [...document.querySelectorAll(".jp-Cell [data-anb-run]")];
	return outputs.find((one) => one.getAttribute("data-anb-run") === key)?.closest(".jp-Cell") ?? null;
}

/** Whether a cell has an output of the run. The page may hold other notebooks, whose cells have the same numbers. */
function holds(cell: NotebookCell | undefined, key: string): boolean {
	return JSON.stringify(cell?.getOutputs?.() ?? "").includes(`data-anb-run=\\"${key}\\"`);
}

/** The notebook makes the cell that has the focus its active one, and runs all that are selected. */
async function runCell(cell: HTMLElement): Promise<boolean> {
	// Nothing behind an element over the whole screen takes the focus.
	if (document.fullscreenElement) await document.exitFullscreen();
	cell.focus();
	if (!(await drawn(() => isAlone(cell)))) return false;
	cell.dispatchEvent(new KeyboardEvent("keydown", RUN_KEY));
	const prompt = cell.querySelector(".jp-InputPrompt");
	return drawn(() => /[*\d]/.test(prompt?.textContent ?? ""));
}

function isAlone(cell: HTMLElement): boolean {
	const selected =
		cell.parentElement?.querySelectorAll(".jp-Cell:is(.jp-mod-active, .jp-mod-selected)") ?? [];
	return selected.length === 1 && selected[0] === cell;
}

/** What `look` finds in one of the next frames. */
async function drawn<T>(look: () => T): Promise<T> {
	for (let frame = 1; frame < FRAMES && !look(); frame++) await new Promise(requestAnimationFrame);
	return look();
}
