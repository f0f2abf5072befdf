// What the extension offers to the widget. The widget finds it on the window and checks its version.

import type { Versions } from "../src/history.ts";

export const LAB = Symbol.for("agent_nb.lab");
export const VERSION = 3;
/** Dispatched on the window to stop all runs under way. */
export const STOP_ALL = "agent_nb:stop";
/** Dispatched on the window when a stage shows another run, is opened or is closed. */
export const STAGED = "agent_nb:stage";
/** The class of stages. */
export const STAGE_CLASS = "agent-nb-stage";

export interface CellText {
	readonly kind: "code" | "markdown";
	readonly source: string;
	/** Outputs of a code cell, as a notebook file holds them. Only streams and displays of text and images are kept. */
	readonly outputs?: readonly unknown[];
}

/** A new source for a cell, given by its id. */
export interface Replacement {
	readonly cell_id: string;
	readonly before: string;
	readonly after: string;
}

/** An output of a run: an element in it, and the run's key for an output in a view of its own. */
export interface Place {
	readonly element: Element;
	readonly key: string;
}

/** The panel beside a notebook that shows one of its runs. */
export interface Stage {
	/** The key of the run that it shows. */
	readonly key: string;
	contains(element: Element): boolean;
	setVersions(place: Place, versions: Versions): void;
}

/**
 * What acts takes the press of the user that led to it, and does nothing without a fresh and trusted one. It answers
 * false or null where the notebook is read-only or the output is in none of the open notebooks.
 */
export interface Lab {
	readonly version: number;
	/** The path of the notebook that contains the output. */
	path(place: Place): string | null;
	/** Inserts cells below the output, and below those inserted there before; returns the id of the last one. */
	insert(place: Place, cells: readonly CellText[], press: UIEvent): string | null;
	/** Replaces the source of a cell of the same notebook, as one step of its undo, unless it has been changed. */
	replace(place: Place, replacement: Replacement, press: UIEvent): boolean;
	/** Runs a cell that `insert` made. */
	run(place: Place, cell: string, press: UIEvent): boolean;
	interrupt(place: Place, press: UIEvent): boolean;
	/** Saves the notebook in front, if the output has the focus: a key pressed in a page's frame is no event here. */
	save(place: Place): boolean;
	/** Whether there is room beside a notebook: Notebook 7 has none. */
	readonly hasStages: boolean;
	/** The stage of a notebook, by its context; null while it is not open. */
	stage(notebook: object | null): Stage | null;
	/** Shows a run on the stage. Without a press it opens the stage, unless the user has closed it. */
	show(place: Place, press: UIEvent | null): boolean;
	/** Shows in the status bar how many runs of a kernel are under way. Any object stands for the kernel. */
	setRuns(kernel: object, count: number): void;
}
