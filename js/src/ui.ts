// The user's choices: per view of a run, for as long as the page is open, and the layout, which is stored.

import { type Ask, newAsk } from "./ask.ts";
import type { Device } from "./device.ts";
import type { AnswerDraft } from "./questions.ts";
import { load, store } from "./storage.ts";
import type { Tape } from "./tape.ts";

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

/** Choices in one view of a run. They outlive its elements, which are rebuilt as cells scroll. */
export class Choices {
	tab: Tab = "preview";
	/** Null for the newest page. */
	file: string | null = null;
	/** The change number at which files are shown; null for the newest. */
	moment: number | null = null;
	/** The line that Code scrolls to on the next draw. */
	line: number | null = null;
	device: Device = "full";
	/** The page's colour scheme; empty for the browser's default. */
	scheme: "" | "light" | "dark" = "";
	variant = 0;
	arrangement = loadLayout().arrangement;
	/** Rows the user has opened or closed, by key. */
	rows = new Map<string, boolean>();
	/** In a narrow frame, a finished run's transcript folds to one line unless there is no result. */
	unfolded: boolean | null = null;
	/** Whether the run is folded to its header; null to use the setting. */
	folded: boolean | null = null;
	/** Whether the view is on the stage of its notebook, or its run is, or there is a stage with another run. */
	stage: "here" | "shown" | "open" | null = null;
	/** Whether the stage shows what is around the page; null to show it only if the run ended early. */
	details: boolean | null = null;
	/** The transcript is folded to one line at any width. */
	alone = loadLayout().alone;
	/** Whether the result pane is open; null to open it once there is a page or an image. */
	pane: boolean | null = null;
	/** Long lines of code wrap. */
	wrap = loadLayout().wrap;
	/** Why the last command failed; empty otherwise. */
	note = "";
	/** Null while the run is shown as it is now. */
	replay: Replay | null = null;
	/** The turn whose request is open. */
	request: number | null = null;
	/** The change request being composed. */
	ask: Ask = newAsk();
	/** Unsent answers to open questions, by question. */
	drafts = new Map<string, AnswerDraft>();
	/** The question whose card takes the focus on its next draw, at the user's request. */
	question: string | null = null;
	/** The variant whose card of Apply opens on its next draw, at the user's request. */
	apply: number | null = null;
	/** Whether the user allows the live preview to load from any https address. */
	network = false;
}

/** Resets the choices about one variant's rows and files. */
export function resetVariant(choices: Choices): void {
	Object.assign(choices, { file: null, moment: null, line: null, rows: new Map() });
}

/** Resets the choices for a new run, except those about the view and the text of the next request. */
export function resetRun(choices: Choices): void {
	const { tab, device, scheme, stage, alone, wrap, ask } = choices;
	Object.assign(choices, new Choices(), { tab, device, scheme, stage, alone, wrap, ask });
	choices.ask.notes = [];
}

/** A copy for another view of the same run. */
export function copyChoices(choices: Choices): Choices {
	const { rows, replay } = choices;
	return {
		...choices,
		rows: new Map(rows),
		replay: replay && { ...replay },
		note: "",
		ask: newAsk(),
		drafts: new Map(),
		question: null,
		apply: null,
		network: false,
	};
}

export interface Layout {
	/** The transcript's share of the width, in percent. */
	split: number;
	height: number | null;
	arrangement: Arrangement;
	/** Whether the result is shown alone, with the transcript folded to one line. */
	alone: boolean;
	/** Whether long lines of code wrap. */
	wrap: boolean;
	/** Whether a replay has been opened before; the explanation is then skipped. */
	replayed: boolean;
}

const KEY = "agent_nb.layout";
export const DEFAULT_SPLIT = 41;

const ARRANGEMENTS: readonly Arrangement[] = ["one", "grid", "side"];

/** The stored layout, with the default for whatever is missing or invalid. */
export function loadLayout(): Layout {
	const stored = (load("localStorage", KEY) ?? {}) as Partial<Layout>;
	const { split, height, arrangement, alone, wrap, replayed } = stored;
	return {
		split: typeof split === "number" && split >= 20 && split <= 80 ? split : DEFAULT_SPLIT,
		height: typeof height === "number" && height >= 240 && height <= 4000 ? height : null,
		arrangement: ARRANGEMENTS.find((candidate) => candidate === arrangement) ?? "grid",
		alone: alone === true,
		wrap: wrap === true,
		replayed: replayed === true,
	};
}

export function saveLayout(part: Partial<Layout>): void {
	store("localStorage", KEY, { ...loadLayout(), ...part });
}
