// The user's choices, by how long they last.

import { load, store } from "../base/storage.ts";
import { type Ask, newAsk } from "../run/ask.ts";
import type { Json, MimeBundle } from "../run/events.ts";
import type { Device } from "../run/lab.ts";
import type { Tape } from "../run/tape.ts";

export type Tab = "preview" | "code" | "diff" | "console" | "files" | "notebook";
/** Layout of several variants: one at a time, a grid, or side by side. */
export type Arrangement = "one" | "grid" | "side";

export interface Position {
	/** Number of events so far. */
	count: number;
	/** On the tape's clock; during playback it may lie between two events. */
	time: number;
}

/** The position in the replay of a finished run. */
export interface Replay extends Position {
	tape: Tape;
	playing: boolean;
	speed: number;
}

/** Validation problems of a call's arguments, by path. */
export type Problems = Readonly<Record<string, string>>;

/** The arguments of a call as fields; `transcript/form.ts` makes them. */
export interface Form {
	readonly element: HTMLElement;
	/** Called after each change. */
	onChange: (args: Json | null, problems: Problems) => void;
	/** Shows the kernel's validation problems; returns those that belong to no field. */
	refuse(problems: Problems): string[];
	/** Moves the focus to the first field with a problem, or to the first field. */
	focus(): void;
}

/** A trial of a call in a copy of the kernel: null while it runs, then what came of it. */
export interface Trial {
	result: { readonly outputs: readonly MimeBundle[]; readonly problem: string } | null;
}

/** The user's unsent input in the card of a question. It outlives the card's elements. */
export class AnswerDraft {
	note = "";
	editing = false;
	/** The fields, once Edit has been pressed. */
	form: Form | null = null;
	/** The edited arguments; null if unchanged. */
	args: Json | null = null;
	/** Validation problems, by argument. */
	problems: Problems = {};
	/** Whether the end of the call was in view, or the user has expanded all of it. */
	seen = false;
	/** The last trial of the call as it is now. */
	trial: Trial | null = null;
}

// The choices in one view of a run, by how long they last. They outlive its elements, which are rebuilt as cells scroll.

/** Until another variant is shown. */
class VariantChoices {
	/** Null for the newest page. */
	file: string | null = null;
	/** The change number at which files are shown; null for the newest. */
	moment: number | null = null;
	/** The line that Code scrolls to on the next draw. */
	line: number | null = null;
	/** Rows the user has opened or closed, by key. */
	rows = new Map<string, boolean>();
}

/** Until the cell is run again. */
class RunChoices {
	variant = 0;
	arrangement = loadLayout().arrangement;
	/** In a narrow frame, a finished run's transcript folds to one line unless there is no result. */
	unfolded: boolean | null = null;
	/** Whether the run is folded to its header; null to use the setting. */
	folded: boolean | null = null;
	/** Whether the stage shows what is around the page; null to show it only if the run ended early. */
	details: boolean | null = null;
	/** Whether the result pane is open; null to open it once there is a page or an image. */
	pane: boolean | null = null;
	/** Null while the run is shown as it is now. */
	replay: Replay | null = null;
	/** The turn whose request is open. */
	request: number | null = null;
}

/** Until the cell is run again, and not in a second view of the run. */
class ViewChoices {
	/** Why the last command failed; empty otherwise. */
	note = "";
	/** Unsent answers to open questions, by question. */
	drafts = new Map<string, AnswerDraft>();
	/** The question whose card takes the focus on its next draw, at the user's request. */
	question: string | null = null;
	/** The variant whose card of Apply opens on its next draw, at the user's request. */
	apply: number | null = null;
	/** Whether the user allows the live preview to load from any https address. */
	network = false;
}

/** As long as the notebook is open. */
class NotebookChoices {
	tab: Tab = "preview";
	device: Device = "full";
	/** The page's colour scheme; empty for the browser's default. */
	scheme: "" | "light" | "dark" = "";
	/** Whether the view is on the stage of its notebook, or its run is, or there is a stage with another run. */
	stage: "here" | "shown" | "open" | null = null;
	/** The transcript is folded to one line at any width. */
	alone = loadLayout().alone;
	/** Long lines of code wrap. */
	wrap = loadLayout().wrap;
	/** The change request being composed; a new run clears its notes, and a second view has its own. */
	ask: Ask = newAsk();
}

export type Choices = VariantChoices & RunChoices & ViewChoices & NotebookChoices;

export function newChoices(): Choices {
	return { ...new NotebookChoices(), ...newRunChoices() };
}

function newRunChoices() {
	return { ...new VariantChoices(), ...new RunChoices(), ...new ViewChoices() };
}

export function resetVariant(choices: Choices): void {
	Object.assign(choices, new VariantChoices());
}

export function resetRun(choices: Choices): void {
	Object.assign(choices, newRunChoices());
	choices.ask.notes = [];
}

/** A copy for another view of the same run. */
export function copyChoices(choices: Choices): Choices {
	const { rows, replay } = choices;
	const own = { rows: new Map(rows), replay: replay && { ...replay }, ask: newAsk() };
	return { ...choices, ...new ViewChoices(), ...own };
}

/** Choices for one variant; the others are shared with `choices`. */
export function choicesFor(choices: Choices, variant: number): Choices {
	const variantChoices: Partial<Choices> = { variant, file: null, moment: null, device: "full" };
	return Object.assign(Object.create(choices) as Choices, variantChoices);
}

const KEY = "agent_nb.layout";
export const DEFAULT_SPLIT = 41;

const ARRANGEMENTS: readonly Arrangement[] = ["one", "grid", "side"];

/** What the browser stores for all runs, with the default for whatever is missing or invalid. */
export function loadLayout() {
	const stored = (load("localStorage", KEY) ?? {}) as Record<string, unknown>;
	const { split, height, arrangement, alone, wrap, replayed } = stored;
	return {
		/** The transcript's share of the width, in percent. */
		split: typeof split === "number" && split >= 20 && split <= 80 ? split : DEFAULT_SPLIT,
		height: typeof height === "number" && height >= 240 && height <= 4000 ? height : null,
		arrangement: ARRANGEMENTS.find((candidate) => candidate === arrangement) ?? "grid",
		alone: alone === true,
		wrap: wrap === true,
		/** Whether a replay has been opened before; the explanation is then skipped. */
		replayed: replayed === true,
	};
}

export function saveLayout(part: Partial<ReturnType<typeof loadLayout>>): void {
	store("localStorage", KEY, { ...loadLayout(), ...part });
}
