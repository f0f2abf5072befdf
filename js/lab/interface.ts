// The extension's API for the widget, which finds it on the window and checks its version.

import type { CellSource } from "../src/cell-source.ts";
import type { Versions } from "../src/history.ts";

export const LAB = Symbol.for("agent_nb.lab");
export const VERSION = 4;
/** Dispatched on the window to stop all active runs. */
export const STOP_ALL = "agent_nb:stop";
/** Dispatched on the window when a stage shows another run, is opened or is closed. */
export const STAGED = "agent_nb:stage";
/** Dispatched on the frame of a run to put the cursor into its field. */
export const COMPOSE = "agent_nb:compose";
/** On the element that shows a run. */
export const LIVE = "data-anb-live";
/** The class of stages. */
export const STAGE_CLASS = "agent-nb-stage";

export interface CellText {
	readonly kind: "code" | "markdown";
	readonly source: CellSource;
	/** Outputs of a code cell, in the notebook format. Only streams and displays of text and images are kept. */
	readonly outputs?: readonly unknown[];
}

/** A new source for the cell with this id. */
export interface Replacement {
	readonly cell_id: string;
	readonly before: string;
	readonly after: string;
}

/** An output of a run: an element in it, and the run's key, for an output in a separate view. */
export interface RunOutput {
	readonly element: Element;
	readonly key: string;
}

/** The panel beside a notebook that shows one of its runs. */
export interface Stage {
	/** The key of the run that it shows. */
	readonly key: string;
	contains(element: Element): boolean;
	setVersions(place: RunOutput, versions: Versions): void;
}

/**
 * Methods with a `press` need the user's event that caused them, and do nothing unless it is recent and trusted. They
 * return false if the notebook is read-only or no open notebook contains the output.
 */
export interface Lab {
	readonly version: number;
	/** The path of the notebook that contains the output. */
	path(place: RunOutput): string | null;
	/**
	 * Inserts cells below the output, and below those inserted there before. If `runs` is set, it runs the last one, and
	 * a field that has the cursor keeps it; else the cursor moves to the last one.
	 */
	insert(place: RunOutput, cells: readonly CellText[], press: UIEvent, runs: boolean): boolean;
	/** Replaces the source of a cell in the same notebook, as one undo step, unless it has changed. */
	replace(place: RunOutput, replacement: Replacement, press: UIEvent): boolean;
	interrupt(place: RunOutput, press: UIEvent): boolean;
	/** Saves the current notebook if the output has the focus: a key pressed in a page's frame fires no event here. */
	save(place: RunOutput): boolean;
	/** Whether there is space beside a notebook: Notebook 7 has none. */
	readonly hasStages: boolean;
	/** The stage of a notebook, by its context; null while it is not open. */
	stage(notebook: object | null): Stage | null;
	/** Shows a run on the stage. Without a press it opens the stage, unless the user has closed it. */
	show(place: RunOutput, press: UIEvent | null): boolean;
	/** Shows the number of active runs of a kernel in the status bar. Any object can represent the kernel. */
	setRuns(kernel: object, count: number): void;
}
