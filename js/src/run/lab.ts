// The extension's API for the widget, which finds it on the window and checks its version.

import type { CellSource } from "./cell-source.ts";
import type { CellAction, CellType } from "./events.ts";

export const LAB = Symbol.for("agent_nb.lab");
export const VERSION = 9;
/** Dispatched on the window to stop all active runs. */
export const STOP_ALL = "agent_nb:stop";
/** Dispatched on the window when a stage shows another run, is opened or is closed. */
export const STAGED = "agent_nb:stage";
/** Dispatched on the frame of a run to put the cursor into its field. */
export const COMPOSE = "agent_nb:compose";
/** The attribute of an element that shows a run. */
export const LIVE = "data-anb-live";
/** The class of stages. */
export const STAGE_CLASS = "agent-nb-stage";

export interface CellText {
	readonly kind: "code" | "markdown";
	readonly source: CellSource;
	/** Outputs of a code cell, in the notebook format. Only streams and displays of text and images are kept. */
	readonly outputs?: readonly unknown[];
}

/** A change of a cell that the user has accepted, with its real texts. */
export interface CellWrite {
	readonly id: string;
	readonly action: CellAction;
	readonly cell_id: string;
	/** The number of the cell above an inserted one; 0 at the top. */
	readonly number: number;
	readonly kind: CellType;
	readonly before: string;
	readonly after: CellSource;
	/** For an inserted cell, the ids of the cells above it, the nearest first. */
	readonly above: readonly string[];
	/** The run that offered it. */
	readonly made: { readonly run: string; readonly model: string };
}

/** A change that was written. */
export interface Written {
	readonly id: string;
	/** Whether the notebook, read back, matches the change. */
	readonly isThere: boolean;
	/** Reverses it in a panel of the notebook; false if the cell has been changed since. */
	takeBack(panel: object): boolean;
}

/** An output of a run: an element in it, and the run's key, for an output in a separate view. */
export interface RunOutput {
	readonly element: Element;
	readonly key: string;
}

/** A run that waits for an answer. */
export interface WaitingRun {
	readonly key: string;
	/** The context of its notebook. */
	readonly notebook: object | null;
	/** How many questions are open. */
	readonly questions: number;
	hasFocus(): boolean;
	/** Moves the focus to the card of its first question, once that is on the page. */
	answer(): void;
}

/** The panel beside a notebook that shows one of its runs. */
export interface Stage {
	/** The key of the run that it shows. */
	readonly key: string;
	contains(element: Element): boolean;
	continueBelow(): number;
	setView(place: RunOutput, view: StageView): void;
}

/** The widths in which a page can be laid out, in pixels; null for the width that there is. */
export const WIDTHS = { phone: 390, tablet: 768, desktop: 1280, full: null } as const;
export type Device = keyof typeof WIDTHS;

/** What a view of a run tells the stage, and how the stage changes it. */
export interface StageView {
	/** The change numbers at which its page can be shown, in order. */
	readonly moments: readonly number[];
	/** The visible change; null for the newest. */
	readonly moment: number | null;
	/** The start of a cell that continues from the visible version; null if that is not possible. */
	readonly next: CellSource | null;
	/** Such as "done". */
	readonly phase: string;
	readonly isBusy: boolean;
	/** Null if it shows no page. */
	readonly device: Device | null;
	/** Whether everything around the page is shown. */
	readonly details: boolean;
	/** Whether the user is pointing at an element; null if that is not possible. */
	readonly points: boolean | null;
	set(change: Partial<Pick<StageView, "moment" | "device" | "details">>): void;
	point(): void;
	stop(press: UIEvent): void;
}

export interface CellsRead {
	/** In the notebook format. */
	readonly cells: readonly object[];
	/** How many more cells an outline would have. */
	readonly left_out: number;
}

/** The cells of a notebook, which is named by its context. `press` is as in `Lab`. */
export interface NotebookCells {
	/**
	 * The cells with these numbers or ids, or an outline of all. Null if the notebook is not open here, or has no cell with
	 * the id `own`. `notebook_tools/open_notebook.py` describes the cells.
	 */
	readCells(
		notebook: object | null,
		own: string,
		only: readonly (number | string)[] | null,
	): CellsRead | null;
	/** The source of a cell; null if there is none with that id. */
	sourceNow(notebook: object | null, id: string): string | null;
	/** Writes changes, each as one undo step; null for a cell that is locked or no longer as it was. */
	write(notebook: object | null, changes: readonly CellWrite[], press: UIEvent): readonly (Written | null)[];
	/** Reverses changes; false for a cell that has been changed since. */
	takeBack(notebook: object | null, written: readonly Written[], press: UIEvent): readonly boolean[];
	/** Scrolls to a cell and marks it. */
	showCell(notebook: object | null, id: string): boolean;
	/** Runs all these cells in this order, or none. */
	runCells(notebook: object | null, ids: readonly string[], press: UIEvent): boolean;
}

/**
 * Methods with a `press` need the user's event that caused them, and do nothing unless it is recent and trusted. They
 * return false if the notebook is read-only or no open notebook contains the output.
 */
export interface Lab extends NotebookCells {
	readonly version: number;
	/**
	 * Inserts cells below the output, and below those inserted there before; from a stage, a cell that continues a run goes
	 * below its conversation. With `runs`, the last cell is run, and a field that has the cursor keeps it; otherwise the
	 * cursor moves to the last cell.
	 */
	insert(place: RunOutput, cells: readonly CellText[], press: UIEvent, runs: boolean): boolean;
	interrupt(place: RunOutput, press: UIEvent): boolean;
	/** Saves the current notebook if the output has the focus: a key pressed in a page's frame fires no event here. */
	save(place: RunOutput): boolean;
	/** Whether there is space beside a notebook: Notebook 7 has none. */
	readonly hasStages: boolean;
	/** The stage of a notebook, by its context; null while it is not open. */
	stage(notebook: object | null): Stage | null;
	/** Shows a run on the stage. Without a press it opens the stage, unless the user has closed it. */
	show(place: RunOutput, press: UIEvent | null): boolean;
	/** Shows the active runs of a kernel in the status bar. Any object can represent the kernel. */
	setRuns(kernel: object, count: number, waiting: readonly WaitingRun[]): void;
}
